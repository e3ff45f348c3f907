package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/doctor"
	"ccbot/cmd/ccbot/exit"
	"ccbot/internal/programtest"
	"ccbot/internal/session/disktest"
	"ccbot/internal/waittest"
	"ccbot/try/botapi"
	"ccbot/try/botapi/botapitest"
	"ccbot/try/privatetmux"
)

// firstFault is a fault that a new user meets.
type firstFault struct {
	name string // in testdata/first-faults.md
	make func(p *patient)
	// code is the exit code of `ccbot run`, or stays if the bot runs nevertheless.
	code int
	// says has the cause and the remedy as the sentence of `ccbot run` names them, in this order.
	// Of a bot that runs it has the event and a pattern of the line that it logs; empty: it logs
	// nothing.
	says []string
	// finding is the code that `ccbot doctor` finds; empty: doctor ends with the same sentence if
	// code is Misuse, and otherwise finds nothing.
	finding doctor.Code
}

// stays is the code of a bot that runs.
const stays = -1

var firstFaults = []firstFault{
	{"no token", func(p *patient) { delete(p.env, "TELEGRAM_BOT_TOKEN") }, exit.Misuse,
		[]string{"TELEGRAM_BOT_TOKEN is missing", "`ccbot setup` asks for the token"}, "settings_wrong"},
	{"a malformed token", func(p *patient) { p.set("TELEGRAM_BOT_TOKEN", "123:short") }, exit.Misuse,
		[]string{"TELEGRAM_BOT_TOKEN is not a bot token", "it looks like 123456789:AA…", "set it in the environment or in"}, "settings_wrong"},
	{"an unknown token", func(p *patient) { p.lives(); p.set("TELEGRAM_BOT_TOKEN", goodToken) }, exit.Misuse,
		[]string{"telegram does not know TELEGRAM_BOT_TOKEN", "ask @BotFather"}, "token_refused"},
	{"no allowed people", func(p *patient) { delete(p.env, "ALLOWED_USERS") }, exit.Misuse,
		[]string{"ALLOWED_USERS is empty", "@userinfobot shows your id"}, "settings_wrong"},
	{"a malformed line in `ccbot.env`", func(p *patient) { p.write("s/ccbot.env", "LOG_LEVEL=info\nwhat is this\n", 0o600) }, exit.Misuse,
		[]string{"line 2 is not KEY=value", "correct or remove it"}, "settings_wrong"},
	{"a wrong value", func(p *patient) { p.write("s/ccbot.env", "IDLE_ARCHIVE_AFTER=soon\n", 0o600) }, exit.Misuse,
		[]string{"IDLE_ARCHIVE_AFTER", "set it in the environment or in"}, "settings_wrong"},
	{"others can read `ccbot.env`", func(p *patient) { p.write("s/ccbot.env", "LOG_LEVEL=info\n", 0o644) }, exit.Misuse,
		[]string{"group or others may read", "`chmod 600"}, "folder_refused"},
	{"an unknown name in `ccbot.env`", func(p *patient) { p.lives(); p.write("s/ccbot.env", "LOG_LEVELS=info\n", 0o600) }, stays,
		[]string{"setting_unknown", "nearest="}, "setting_unknown"},
	{"others can write the state folder", func(p *patient) { p.chmod(p.state, 0o777) }, exit.Misuse,
		[]string{"others may write", "`chmod 700"}, "folder_refused"},
	{"the state folder is a file", func(p *patient) { p.set("CCBOT_DIR", p.write("file", "", 0o600)) }, exit.Misuse,
		[]string{"is a file or below a file", "set CCBOT_DIR to a folder"}, "folder_refused"},
	{"the state folder's path is too long", func(p *patient) { p.lives(); p.set("CCBOT_DIR", p.root+"/"+strings.Repeat("long", 25)) }, exit.Misuse,
		[]string{"the path is too long for a socket", "choose a shorter CCBOT_DIR"}, "socket_path_long"},
	{"the state folder of a newer ccbot", func(p *patient) { p.write("s/format", "99\n", 0o600) }, exit.Failure,
		[]string{"a newer ccbot wrote the folder", "use that ccbot or a later one"}, "folder_newer"},
	{"another ccbot runs", func(p *patient) { p.lives(); _, _ = p.starts("msg=ready") }, exit.Running,
		[]string{"another one is running (pid", "stop it first"}, ""},
	{"`HOME` is not set", func(p *patient) { delete(p.env, "HOME") }, exit.Misuse,
		[]string{"HOME is not set", "export HOME="}, ""},
	{"`METRICS_ADDR` is in use", func(p *patient) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(p.t, err)
		p.t.Cleanup(func() { _ = l.Close() })
		p.set("METRICS_ADDR", l.Addr().String())
	}, exit.Misuse, []string{"METRICS_ADDR: 127.0.0.1:", "address already in use", "choose another port"}, "metrics_refused"},
	{"`METRICS_ADDR` is of another machine", func(p *patient) { p.set("METRICS_ADDR", "192.0.2.1:9095"); p.set("METRICS_ALLOW_REMOTE", "1") }, exit.Misuse,
		[]string{"METRICS_ADDR", "cannot assign requested address", "choose an address of this machine, as 127.0.0.1:9095"}, "metrics_refused"},
	{"no tmux", func(p *patient) { p.remove("tools/tmux"); p.set("PATH", p.tools) }, exit.Misuse,
		[]string{"tmux is not installed", "sudo apt-get install tmux"}, "tmux_missing"},
	{"tmux is too old", func(p *patient) { p.script("tmux", "echo tmux 2.9") }, exit.Misuse,
		[]string{"tmux is too old: it is 2.9, needed is 3.2", "sudo apt-get install tmux"}, "tmux_too_old"},
	{"no `ccbot-hook`", func(p *patient) { p.remove("bin/ccbot-hook") }, exit.Misuse,
		[]string{"ccbot-hook is not in ccbot's folder", "build or copy both"}, "hook_missing"},
	{"no Claude Code", func(p *patient) { p.lives(); p.set("CLAUDE_COMMAND", "/none") }, stays,
		[]string{"claude_missing", "mend="}, "claude_missing"},
	{"Claude Code is too old", func(p *patient) { p.lives(); p.script("claude", "echo '2.1.77 (Claude Code)'") }, stays,
		[]string{"claude_old", "mend="}, "claude_old"},
	{"Claude Code has no login", func(p *patient) { p.lives(); p.remove("claude/.credentials.json") }, stays, nil, "claude_no_login"},
	{"Bedrock without a region", func(p *patient) {
		p.lives()
		p.set("CLAUDE_CODE_USE_BEDROCK", "1")
		p.set("AWS_PROFILE", "x")
		p.write("s/ccbot.env", "CLAUDE_CODE_USE_BEDROCK=1\nAWS_PROFILE=x\n", 0o600)
	}, stays, nil, "claude_provider"},
	{"Claude Code's settings are not JSON", func(p *patient) { p.lives(); p.write("claude/settings.json", "{", 0o600) }, stays, nil, "hooks_unreadable"},
	{"no git", func(p *patient) {
		p.lives()
		p.remove("tools/git")
		p.set("PATH", p.tools+":"+p.without("git"))
	}, stays, nil, "git_missing"},
	{"an outdated unit", func(p *patient) {
		p.lives()
		p.unit()
		p.write("else/claude", "#!/bin/sh\necho '2.1.300 (Claude Code)'\n", 0o700)
		p.set("PATH", p.root+"/else:"+p.env["PATH"])
	}, stays, nil, "unit_outdated"},
}

func (p *patient) remove(name string) { require.NoError(p.t, os.Remove(filepath.Join(p.root, name))) }

func (p *patient) chmod(path string, mode os.FileMode) {
	require.NoError(p.t, os.Chmod(path, mode))
}

// without returns a folder with links to all programs of the system except one.
func (p *patient) without(program string) (dir string) {
	p.t.Helper()
	dir = p.t.TempDir()
	programs, err := filepath.Glob("/usr/bin/*")
	require.NoError(p.t, err)
	for _, path := range append(programs, programtest.Require(p.t, "tmux")) {
		if name := filepath.Base(path); name != program {
			_ = os.Symlink(path, filepath.Join(dir, name))
		}
	}
	return dir
}

// lives adds the real tmux and the sandbox of the Bot API, so that `ccbot run` stays.
func (p *patient) lives() (api *botapi.Server) {
	p.t.Helper()
	programtest.Require(p.t, "tmux")
	api = botapitest.Start(p.t, botapi.Options{})
	p.remove("tools/tmux")
	p.set("TELEGRAM_API_URL", api.URL())
	p.set("TELEGRAM_BOT_TOKEN", api.Token())
	socket := "ccbot-first-" + filepath.Base(p.root)
	p.set("CCBOT_TMUX_SOCKET", socket)
	delete(p.env, "TMUX_TMPDIR")
	p.t.Cleanup(func() { assert.NoError(p.t, privatetmux.End(context.Background(), socket)) })
	return api
}

// starts runs a bot until its log matches all patterns, and returns the log. The bot ends with the
// test, or by end.
func (p *patient) starts(patterns ...string) (log string, end func()) {
	p.t.Helper()
	var mu sync.Mutex
	var said bytes.Buffer
	cmd := exec.Command(p.me, "run")
	cmd.Env = p.environ()
	cmd.Stderr = writer(func(data []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return said.Write(data)
	})
	text := func() string {
		mu.Lock()
		defer mu.Unlock()
		return said.String()
	}
	require.NoError(p.t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	end = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		assert.NoError(p.t, <-ended, text())
	})
	p.t.Cleanup(end)
	for _, pattern := range patterns {
		awaited := regexp.MustCompile(pattern)
		waittest.Until(p.t, func() bool { return awaited.MatchString(text()) }, "%s", pattern)
	}
	return text(), end
}

func (p *patient) environ() []string {
	all := []string{endsAtOnce}
	for name, value := range p.env {
		all = append(all, name+"="+value)
	}
	return all
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// TestFaultsOfFirstStart makes each fault, and checks that `ccbot run` prints one sentence with the
// cause and the remedy, and that `ccbot doctor` has a finding.
func TestFaultsOfFirstStart(t *testing.T) {
	t.Parallel()
	for _, tt := range slices.Concat(firstFaults, networkFaults) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			p.away()
			tt.make(p)
			p.isFound(tt)
		})
	}
}

func (p *patient) isFound(f firstFault) {
	p.t.Helper()
	if f.code == stays {
		event := "ready|msg=telegram_unreachable"
		if len(f.says) > 0 {
			event = f.says[0]
		}
		log, end := p.starts("msg=ready|msg=telegram_unreachable", "msg="+event)
		if len(f.says) > 0 {
			assert.Regexp(p.t, "msg="+f.says[0]+" .*"+f.says[1], log)
		}
		defer end()
	} else {
		_, errs := p.ccbot(f.code, "run")
		p.isOneSentence(errs, f.says)
	}
	if f.finding != "" {
		p.finds(f.finding)
	} else if f.code == exit.Misuse {
		_, errs := p.ccbot(f.code, "doctor")
		p.isOneSentence(errs, f.says)
	}
}

// isOneSentence requires one line outside of the log, with all parts in their order.
func (p *patient) isOneSentence(errs string, parts []string) {
	p.t.Helper()
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(errs), "\n"), func(line string) bool { return strings.HasPrefix(line, "time=") })
	require.Len(p.t, lines, 1, errs)
	rest := lines[0]
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		assert.True(p.t, found, "%q has no %q", lines[0], part)
		rest = after
	}
}

// finds wants a finding of the doctor with a remedy.
func (p *patient) finds(code doctor.Code) {
	p.t.Helper()
	screen, tty, err := pty.Open()
	require.NoError(p.t, err)
	defer screen.Close()
	defer tty.Close()
	var r doctor.Report
	i := -1
	waittest.Until(p.t, func() bool { // the bot finds some faults only after its first calls
		cmd := exec.Command(p.me, "doctor", "--json")
		cmd.Env, cmd.Stdin = p.environ(), tty
		// a bot answers programs in a terminal
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		out, _ := cmd.Output()
		r = doctor.Report{}
		err := json.Unmarshal(out, &r)
		i = slices.IndexFunc(r.Checks, func(f doctor.Finding) bool { return f.Code == code })
		return err == nil && i >= 0
	}, "%s", code)
	assert.NotEmpty(p.t, r.Checks[i].Fix+strings.Join(strings.Split(r.Checks[i].Summary, "`")[1:], ""), "a remedy: %s", r.Checks[i].Summary)
}

// TestStartWithoutRoom has a separate disk for the state folder.
func TestStartWithoutRoom(t *testing.T) {
	disktest.Run(t, 1<<20, func(dir string) {
		p := newPatient(t)
		p.away()
		p.set("CCBOT_DIR", dir)
		disktest.Fill(t, dir)
		p.isFound(withoutRoom)
	})
}

var withoutRoom = firstFault{name: "no room on the disk", code: exit.Failure,
	says: []string{"cannot be used: there is no room left", "make some and try again"}, finding: "disk_full"}

// TestFirstFaultsAreDocumented compares the table in testdata with the faults that are tried.
func TestFirstFaultsAreDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("| Fault | `ccbot run` | `ccbot doctor` |\n|---|---|---|\n")
	for _, f := range slices.Concat(firstFaults, networkFaults, []firstFault{withoutRoom}) {
		run, found := "runs", "no finding"
		switch {
		case f.code != stays:
			run = fmt.Sprintf("exit %d", f.code)
		case len(f.says) > 0:
			run += "; logs `" + f.says[0] + "`"
		}
		if f.finding != "" {
			found = "`" + string(f.finding) + "`"
		} else if f.code == exit.Misuse {
			found = "the same sentence"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", f.name, run, found)
	}
	data, err := os.ReadFile("testdata/first-faults.md")
	require.NoError(t, err)
	assert.Contains(t, string(data), "\n"+b.String(), "write this table there:\n%s", b.String())
}
