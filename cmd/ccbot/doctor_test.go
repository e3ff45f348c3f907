package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/claudesettings"
	"ccbot/cmd/ccbot/doctor"
	"ccbot/cmd/ccbot/exit"
	"ccbot/internal/control"
	"ccbot/internal/health"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/programtest"
	"ccbot/internal/waittest"
)

// patient is a machine on which all is well, but for what a test makes worse.
type patient struct {
	t                              *testing.T
	root, state, claude, tools, me string
	env                            map[string]string
	as                             *syscall.Credential // of programs; nil: those of the test
	// held while what the servers answer is read or changed
	mu      sync.Mutex
	figures health.Figures
	answers map[string]string // of the Bot API
	at      time.Time         // there; zero: now
	stop    func()            // ends the bot
}

func newPatient(t *testing.T) *patient {
	t.Helper()
	root, err := os.MkdirTemp("", "dr") // short, because of the path of a socket
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(root)) })
	p := &patient{t: t, root: root, state: root + "/s", claude: root + "/claude", tools: root + "/tools", me: root + "/bin/ccbot",
		figures: health.Figures{Version: versionText(), Up: time.Hour, Tmux: "3.5", Claude: "2.1",
			Disk: health.Disk{Known: true, Free: 40e9, Total: 100e9}},
		answers: map[string]string{"getMe": `{"ok":true,"result":{"username":"my_bot"}}`, "getWebhookInfo": `{"ok":true,"result":{"url":""}}`}}
	for _, dir := range []string{p.state, p.claude, p.tools, root + "/bin", root + "/tmux"} {
		require.NoError(t, os.Mkdir(dir, 0o700))
	}
	me, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Link(me, p.me))
	p.script("../bin/ccbot-hook", "")
	p.script("claude", "echo '2.1.300 (Claude Code)'")
	p.script("tmux", "echo tmux 3.5")
	p.script("git", "")
	p.script("systemctl", "echo ActiveState=active; echo MainPID=7")
	p.script("loginctl", "echo yes")
	p.write("claude/.credentials.json", "{}", 0o600)
	api := httptest.NewServer(http.HandlerFunc(p.telegram))
	t.Cleanup(api.Close)
	p.env = map[string]string{"PATH": p.tools + ":/usr/bin:/bin", "HOME": root, "LANG": "C.UTF-8", "CCBOT_DIR": p.state, "CLAUDE_CONFIG_DIR": p.claude,
		"CCBOT_TMUX_SOCKET": "ccbot-test-dr", "TMUX_TMPDIR": root + "/tmux", "TELEGRAM_BOT_TOKEN": goodToken, "ALLOWED_USERS": "1",
		"TELEGRAM_API_URL": api.URL, "XDG_CONFIG_HOME": root + "/config", "XDG_RUNTIME_DIR": root}
	p.runBot(os.Getpid())
	return p
}

func (p *patient) telegram(w http.ResponseWriter, q *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.at.IsZero() {
		w.Header().Set("Date", p.at.UTC().Format(http.TimeFormat))
	}
	answer := p.answers[filepath.Base(q.URL.Path)]
	if strings.Contains(answer, `"ok":false`) {
		w.WriteHeader(http.StatusUnauthorized)
	}
	_, _ = w.Write([]byte(answer))
}

func (p *patient) write(name, text string, mode os.FileMode) (path string) {
	p.t.Helper()
	path = filepath.Join(p.root, name)
	require.NoError(p.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(p.t, os.WriteFile(path, []byte(text), mode))
	require.NoError(p.t, os.Chmod(path, mode))
	return path
}

func (p *patient) script(name, text string) { p.write("tools/"+name, "#!/bin/sh\n"+text+"\n", 0o700) }

// codex installs a Codex with an answer to the question for its login.
func (p *patient) codex(login string) {
	p.script("../bin/ccbot-codex", "")
	p.script("codex", `if [ "$1" = --version ]; then echo codex-cli 0.169.0; exit; fi; [ "$CODEX_HOME" = $HOME/.codex ] || exit 9; `+login)
	require.NoError(p.t, os.Mkdir(p.root+"/.codex", 0o700))
}

// runBot is a bot in this process; the lock names pid.
func (p *patient) runBot(pid int) {
	p.t.Helper()
	table, err := process.NewTable()
	require.NoError(p.t, err)
	p.holds(pid)
	server := control.NewServer(filepath.Join(p.state, hookwire.SocketName), table, slog.New(slog.DiscardHandler))
	server.Handle("figures", func(context.Context, control.Peer, hookwire.Call) (json.RawMessage, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		return json.Marshal(p.figures)
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	waittest.Until(p.t, func() bool {
		conn, err := net.Dial("unix", filepath.Join(p.state, hookwire.SocketName))
		return err == nil && conn.Close() == nil
	})
	p.stop = func() {
		cancel()
		if done != nil {
			assert.NoError(p.t, <-done)
			done = nil
		}
	}
	p.t.Cleanup(p.stop)
}

func (p *patient) holds(pid int) {
	table, err := process.NewTable()
	require.NoError(p.t, err)
	id, err := table.Identify(pid)
	require.NoError(p.t, err)
	p.write("s/ccbot.lock", fmt.Sprintf("role=run\npid=%d\nstart=%d\nboot=%s\n", id.PID, id.Start, id.Boot), 0o600)
}

// away ends the bot as a stop would.
func (p *patient) away() {
	p.stop()
	require.NoError(p.t, os.Remove(filepath.Join(p.state, "ccbot.lock")))
}

func (p *patient) hooks(change func(string) string) {
	command, err := claudesettings.InstalledCommand(p.root+"/bin/ccbot-hook", p.state)
	require.NoError(p.t, err)
	data, _, err := claudesettings.Install(nil, command)
	require.NoError(p.t, err)
	p.write("claude/settings.json", change(string(data)), 0o600)
}

func (p *patient) unit() {
	// a service has no other settings
	p.write("s/ccbot.env", "TELEGRAM_BOT_TOKEN="+goodToken+"\nALLOWED_USERS=1\n", 0o600)
	p.ccbot(exit.OK, "service", "install")
}

// ccbot runs a verb as a process without a terminal's name.
func (p *patient) ccbot(code int, args ...string) (out, errs string) {
	p.t.Helper()
	cmd := exec.Command(p.me, args...)
	cmd.Env = []string{endsAtOnce}
	for name := range maps.Keys(p.env) {
		cmd.Env = append(cmd.Env, name+"="+p.env[name])
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run()
	assert.Equal(p.t, code, cmd.ProcessState.ExitCode(), "%s%s", stdout.String(), stderr.String())
	assert.NotContains(p.t, stdout.String()+stderr.String(), goodToken)
	return stdout.String(), stderr.String()
}

// report returns the doctor's report, without the limits of the kernel that the test runs on.
func (p *patient) report(code int) (r doctor.Report, faults map[doctor.Code]doctor.Finding) {
	p.t.Helper()
	out, _ := p.ccbot(code, "doctor", "--json")
	require.NoError(p.t, json.Unmarshal([]byte(out), &r), out)
	faults = make(map[doctor.Code]doctor.Finding)
	for _, f := range r.Checks {
		if f.Code != "" && f.Code != "inotify_low" && f.Code != doctor.Code(health.DiskLow) {
			faults[f.Code] = f
		}
	}
	return r, faults
}

// TestDoctorFindsNothing where all is well.
func TestDoctorFindsNothing(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.unit()
	p.hooks(func(s string) string { return s })
	r, faults := p.report(exit.OK)
	assert.Empty(t, faults)
	assert.Equal(t, 1, r.Schema)
	assert.Equal(t, versionText(), r.Version)
	for _, f := range r.Checks {
		assert.NotEqual(t, doctor.Unknown, f.Status, f)
	}
	before, err := os.ReadDir(p.state)
	require.NoError(t, err)
	out, errs := p.ccbot(exit.OK, "doctor")
	assert.Empty(t, errs)
	assert.Contains(t, out, "ok    system")
	assert.NotContains(t, out, "\x1b")
	after, err := os.ReadDir(p.state)
	require.NoError(t, err)
	assert.Len(t, after, len(before), "nothing is made")
	assert.Contains(t, out, "ok    tmux      3.5 is installed")
	assert.Contains(t, out, "ok    disk      40 GB free of 100 GB")
	p.ccbot(exit.Misuse, "doctor", "--none")
	p.ccbot(exit.Misuse, "doctor", "now")
}

// TestDoctorDoesNotGuess what settings that are wrong do not say: the default folder of Claude Code
// may be another one's.
func TestDoctorDoesNotGuess(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.write("s/ccbot.env", "CLAUDE_COMMAND=/none\nIDLE_ARCHIVE_AFTER=soon\n", 0o600)
	p.write(".claude/settings.json", "{", 0o600)
	r, faults := p.report(exit.Failure)
	assert.Equal(t, []doctor.Code{"settings_wrong"}, slices.Collect(maps.Keys(faults)))
	not := make(map[string]string)
	for _, f := range r.Checks {
		if f.Status == doctor.Unknown {
			not[f.ID] = f.Detail
		}
	}
	const why = "the settings are wrong, and it depends on them"
	for _, id := range []string{"claude", "hooks", "telegram", "tmux", "service"} {
		assert.Equal(t, why, not[id], id)
	}
}

// TestBrokenLineIsOneFinding: all others only refer to the settings.
func TestBrokenLineIsOneFinding(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]string{"a value": "IDLE_ARCHIVE_AFTER=soon", "no setting": "what is this", "an open quote": "LANG=\"x"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			p.unit()
			p.write("s/ccbot.env", "LOG_LEVEL=info\n"+broken+"\n", 0o600)
			r, _ := p.report(exit.Failure)
			var naming []string
			for _, f := range r.Checks {
				if text := f.Summary + f.Detail; f.Status == doctor.Fail || strings.Contains(text, "ccbot.env") || strings.Contains(text, "IDLE_ARCHIVE_AFTER") {
					naming = append(naming, f.ID)
				}
			}
			assert.Equal(t, []string{"settings"}, naming)
		})
	}
}

// TestDoctorContradictsNoSentence: a sentence that contains its remedy gets no other one.
func TestDoctorContradictsNoSentence(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	require.NoError(t, os.Chmod(p.state, 0o777))
	_, faults := p.report(exit.Failure)
	assert.Contains(t, faults["folder_refused"].Summary, "`chmod 700 "+p.state+"`")
	assert.Empty(t, faults["folder_refused"].Fix)
	assert.Len(t, faults, 1, "one sentence")
}

func TestP9_DoctorSaysOneSentenceAboutForeignFolder_AsRoot(t *testing.T) {
	programtest.RequireRoot(t)
	p := newPatient(t)
	require.NoError(t, os.Chown(p.state, 4711, 4711))
	r, _ := p.report(exit.Failure)
	require.Len(t, r.Checks, 1)
	assert.Contains(t, r.Checks[0].Summary, "run ccbot as that user")
}

// TestP9_DoctorUsesNoForeignFile: others who may write the settings could have
// named a program to run and a server to send the token to.
func TestP9_DoctorUsesNoForeignFile(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	var asked atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
	t.Cleanup(server.Close)
	p.script("other", "touch "+p.root+"/ran; echo 1.0")
	delete(p.env, "TELEGRAM_API_URL")
	path := p.write("s/ccbot.env", "CLAUDE_COMMAND="+p.tools+"/other\nTELEGRAM_API_URL="+server.URL+"\n", 0o666)
	_, faults := p.report(exit.Failure)
	assert.Contains(t, faults["folder_refused"].Summary, "look at what is in it, then ")
	assert.NoFileExists(t, p.root+"/ran")
	assert.False(t, asked.Load())
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o666), info.Mode().Perm())
}

// An interrupted check is not a fault of the network.
func TestInterruptedDoctorReportsNoFault(t *testing.T) {
	p := newPatient(t)
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var out strings.Builder
	c := &call{stdout: &out, stderr: &out}
	for name, value := range p.env {
		c.environ = append(c.environ, name+"="+value)
	}
	require.EqualError(t, c.examine(ctx), "interrupted")
	assert.Empty(t, out.String())
}

// A pause that Telegram asks for is not a fault.
func TestDoctorWaitsForNoTelegram(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.mu.Lock()
	p.answers["getMe"] = `{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":600}}`
	p.mu.Unlock()
	_, faults := p.report(exit.OK)
	assert.Empty(t, faults)
}

// sickness is one prepared fault.
type sickness struct {
	name   string
	make   func(p *patient)
	code   doctor.Code
	status doctor.Status
}

// TestDoctorFindsFaults, and names what ends each of them.
func TestDoctorFindsFaults(t *testing.T) {
	t.Parallel()
	for _, all := range [][]sickness{ofSettings, ofTheFolder, ofTheBot, ofTools, ofTheNetwork} {
		for _, tt := range all {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				p := newPatient(t)
				p.mu.Lock()
				tt.make(p)
				p.mu.Unlock()
				code := exit.OK
				if tt.status == doctor.Fail {
					code = exit.Failure
				}
				_, faults := p.report(code)
				require.Contains(t, faults, tt.code)
				assert.Equal(t, tt.status, faults[tt.code].Status)
				assert.NotEmpty(t, faults[tt.code].Summary)
				assert.NotEmpty(t, faults[tt.code].Fix+strings.Join(strings.Split(faults[tt.code].Summary, "`")[1:], ""), "a remedy, or a command in the summary")
			})
		}
	}
}

func (p *patient) set(name, value string) { p.env[name] = value }

var ofSettings = []sickness{
	{"letters", func(p *patient) { p.set("LANG", "C") }, "locale_not_utf8", doctor.Warn},
	{"a file that is none", func(p *patient) { p.write("s/ccbot.env", "LANG=\"x\n", 0o600) }, "settings_wrong", doctor.Fail},
	{"no people, no bot", func(p *patient) { p.away(); p.set("ALLOWED_USERS", "") }, "settings_wrong", doctor.Fail},
	{"no token here, and a bot", func(p *patient) { p.set("TELEGRAM_BOT_TOKEN", "") }, "settings_partial", doctor.Unknown},
	{"a wrong name", func(p *patient) { p.write("s/ccbot.env", "LOG_LEVELS=info\n", 0o600) }, "setting_unknown", doctor.Warn},
	{"no voice", func(p *patient) { p.set("VOICE_COMMAND", "/none/at/all") }, "voice_missing", doctor.Warn},
}

var ofTheFolder = []sickness{
	{"an open folder", func(p *patient) { _ = os.Chmod(p.state, 0o777) }, "folder_refused", doctor.Fail},
	{"an open token", func(p *patient) { p.write("s/ccbot.env", "LOG_LEVEL=info\n", 0o644) }, "folder_refused", doctor.Fail},
	{"an open folder above", func(p *patient) { _ = os.Chmod(p.root, 0o777) }, "folder_refused", doctor.Fail},
	{"a readable folder", func(p *patient) { _ = os.Chmod(p.state, 0o755) }, "folder_readable", doctor.Warn},
	{"a damaged id", func(p *patient) { p.write("s/instance", "what is this", 0o600) }, "instance_damaged", doctor.Fail},
	{"a newer folder", func(p *patient) { p.write("s/format", "99\n", 0o600) }, "folder_newer", doctor.Fail},
	{"a folder of records that is a file", func(p *patient) { p.write("s/sessions", "", 0o600) }, "part_unusable", doctor.Fail},
	{"a folder of records that is a link", func(p *patient) { require.NoError(p.t, os.Symlink(p.root, p.state+"/outbox")) }, "part_unusable", doctor.Fail},
	{"another file at the socket", func(p *patient) { p.away(); p.write("s/ccbot.sock", "", 0o600) }, "part_unusable", doctor.Fail},
	{"another file at the socket of a start", func(p *patient) { p.write("s/ccbot.sock~", "", 0o600) }, "part_unusable", doctor.Fail},
	{"quarantine", func(p *patient) { p.write("s/quarantine/inbox-1.json", "", 0o600) }, "quarantined", doctor.Warn},
	{"a damaged record", func(p *patient) {
		p.write("s/format", "3\n", 0o600)
		p.write("s/sessions/"+uuid.NewString()+".json", "{", 0o600)
	}, "records_unreadable", doctor.Warn},
	{"an older folder", func(p *patient) { p.write("s/format", "2\n", 0o600) }, "folder_older", doctor.Warn},
	{"a long path", func(p *patient) { p.set("CCBOT_DIR", "/tmp/"+strings.Repeat("long", 25)) }, "socket_path_long", doctor.Fail},
}

var ofTheBot = []sickness{
	{"no bot", (*patient).away, "bot_down", doctor.Warn},
	{"a silent bot", func(p *patient) { p.stop() }, "bot_silent", doctor.Fail},
	{"another version", func(p *patient) { p.figures.Version = "other" }, "bot_other_version", doctor.Warn},
	{"another program", func(p *patient) {
		cmd := exec.Command("sleep", "600")
		require.NoError(p.t, cmd.Start())
		p.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		p.holds(cmd.Process.Pid)
	}, "bot_other_program", doctor.Warn},
	{"a lock that was deleted", func(p *patient) { _ = os.Remove(p.state + "/ccbot.lock") }, "lock_lost", doctor.Fail},
	{"a program that was replaced", func(p *patient) { p.figures.Program = p.me + " (deleted)" }, "bot_other_program", doctor.Warn},
	{"a disk without room for a start", func(p *patient) {
		p.figures.Disk = health.Disk{Known: true, Free: 100_000, Total: 1 << 30, Low: true}
	}, "disk_full", doctor.Fail},
	{"another poller", func(p *patient) { p.figures.Poll.Rival = true }, "polls_rival", doctor.Fail},
	{"nothing comes", func(p *patient) { p.figures.Poll.Stuck = true }, "polls_stuck", doctor.Fail},
	{"a group that is not allowed", func(p *patient) { p.figures.RefusedGroups = []int64{-100123} }, "group_refused", doctor.Warn},
	{"messages that do not pass the hub", func(p *patient) { p.figures.Machines = []health.Machine{{Name: "B", Held: 1, For: time.Minute}} }, "machine_held", doctor.Warn},
	{"a machine whose record is unreadable", func(p *patient) { p.figures.Machines = []health.Machine{{Name: "B", Path: "/x"}} }, "machine_unread", doctor.Warn},
	{"a machine with the name of another", func(p *patient) { p.figures.Machines = []health.Machine{{Name: "B-2", Own: "B"}} }, "machine_name", doctor.Warn},
	{"a machine whose clock is off", func(p *patient) { p.figures.Machines = []health.Machine{{Name: "B", Skew: time.Hour}} }, "machine_clock", doctor.Warn},
	{"a machine that runs twice", func(p *patient) { p.figures.Machines = []health.Machine{{Name: "B", Copies: true}} }, "machine_copies", doctor.Warn},
	{"a machine that goes on with a copy of this folder", func(p *patient) { p.figures.Machines = []health.Machine{{Name: "B", Elsewhere: true}} }, "machine_elsewhere", doctor.Fail},
	{"a fleet that does not run", func(p *patient) { p.figures.FleetFailed = true }, "fleet_failed", doctor.Fail},
	{"a hub that does not answer", func(p *patient) { p.figures.HubSilent = time.Minute }, "hub_silent", doctor.Warn},
	{"a group that refuses messages", func(p *patient) { p.figures.ShutGroups = []int64{-100123} }, "group_shut", doctor.Warn},
	{"a group whose General is closed", func(p *patient) { p.figures.ClosedGroups = []int64{-100123} }, "group_closed", doctor.Warn},
	{"a chat without the line of questions", func(p *patient) { p.figures.Unpinned = 1 }, "no_pins", doctor.Warn},
	{"an agent that does not answer", func(p *patient) { p.figures.Silent = 1 }, "agent_silent", doctor.Warn},
	{"an end that is not proven", func(p *patient) { p.figures.NotClean = 1 }, "not_clean", doctor.Warn},
}

var ofTools = []sickness{
	{"no tmux", func(p *patient) { _ = os.Remove(p.tools + "/tmux"); p.set("PATH", p.tools) }, "tmux_missing", doctor.Fail},
	{"an old tmux", func(p *patient) { p.script("tmux", "echo tmux 2.9") }, "tmux_too_old", doctor.Fail},
	{"a broken tmux server", func(p *patient) {
		p.script("tmux", `[ "$1" = -V ] && echo tmux 3.5`)
		dir := fmt.Sprintf("%s/tmux/tmux-%d", p.root, os.Getuid())
		require.NoError(p.t, os.Mkdir(dir, 0o700))
		l, err := net.Listen("unix", dir+"/ccbot-test-dr")
		require.NoError(p.t, err)
		p.t.Cleanup(func() { _ = l.Close() })
	}, "tmux_silent", doctor.Fail},
	{"a tmux server in a folder that others may enter", func(p *patient) {
		dir := fmt.Sprintf("%s/tmux/tmux-%d", p.root, os.Getuid())
		require.NoError(p.t, os.Mkdir(dir, 0o700))
		require.NoError(p.t, os.Chmod(dir, 0o777))
		l, err := net.Listen("unix", dir+"/ccbot-test-dr")
		require.NoError(p.t, err)
		p.t.Cleanup(func() { _ = l.Close() })
	}, "tmux_folder", doctor.Fail},
	{"a folder for a tmux server that others may enter", func(p *patient) {
		dir := fmt.Sprintf("%s/tmux/tmux-%d", p.root, os.Getuid())
		require.NoError(p.t, os.Mkdir(dir, 0o700))
		require.NoError(p.t, os.Chmod(dir, 0o777))
	}, "tmux_folder", doctor.Fail},
	{"no agent", func(p *patient) { p.set("CLAUDE_COMMAND", "/none") }, "claude_missing", doctor.Fail},
	{"an old agent", func(p *patient) { p.script("claude", "echo '2.1.77 (Claude Code)'") }, "claude_old", doctor.Fail},
	{"an old agent of the bot", func(p *patient) {
		p.script("claude", "echo '2.1.77 (Claude Code)'")
		p.figures.Claude, p.figures.ClaudeNeeded = "2.1.77 (Claude Code)", claudesettings.Oldest
	}, "claude_old", doctor.Fail},
	{"a broken agent", func(p *patient) { p.script("claude", "exit 1") }, "claude_silent", doctor.Warn},
	{"Bedrock without a region", func(p *patient) {
		p.set("CLAUDE_CODE_USE_BEDROCK", "1")
		p.figures.AgentVariables = []string{"AWS_PROFILE", "CLAUDE_CODE_USE_BEDROCK"}
	}, "claude_provider", doctor.Fail},
	{"a key of this shell only", func(p *patient) {
		_ = os.Remove(p.claude + "/.credentials.json")
		p.set("ANTHROPIC_API_KEY", "sk-sesame")
	}, "claude_no_login", doctor.Warn},
	{"no login", func(p *patient) { _ = os.Remove(p.claude + "/.credentials.json") }, "claude_no_login", doctor.Warn},
	{"no Codex where one is named", func(p *patient) { p.set("CODEX_COMMAND", "/none") }, "codex_missing", doctor.Warn},
	{"half of ccbot", func(p *patient) { p.codex(""); _ = os.Remove(p.root + "/bin/ccbot-codex") }, "codex_part_missing", doctor.Warn},
	{"an old Codex", func(p *patient) { p.codex(""); p.script("codex", "echo codex-cli 0.168.0") }, "codex_unfit", doctor.Warn},
	{"Claude Code in the place of Codex", func(p *patient) { p.codex(""); p.set("CODEX_COMMAND", "claude") }, "codex_unfit", doctor.Warn},
	{"a relative folder of Codex", func(p *patient) { p.codex(""); p.set("CODEX_HOME", "c") }, "codex_unfit", doctor.Warn},
	{"settings that Codex refuses", func(p *patient) {
		p.codex("echo 'Error loading configuration: Model provider `nowhere` not found' >&2; exit 1")
	}, "codex_settings", doctor.Warn},
	{"no login of Codex", func(p *patient) { p.codex("echo Not logged in >&2; exit 1") }, "codex_no_login", doctor.Warn},
	{"no folder of Codex", func(p *patient) { p.codex(""); _ = os.Remove(p.root + "/.codex") }, "codex_no_login", doctor.Warn},
	{"no hook", func(p *patient) { _ = os.Remove(p.root + "/bin/ccbot-hook") }, "hook_missing", doctor.Fail},
	{"settings that are none", func(p *patient) { p.hooks(func(string) string { return "{" }) }, "hooks_unreadable", doctor.Warn},
	{"hooks are off", func(p *patient) {
		p.hooks(func(s string) string { return strings.Replace(s, "{", `{"disableAllHooks":true,`, 1) })
	}, "hooks_off", doctor.Warn},
	{"half of the hooks", func(p *patient) {
		p.hooks(func(s string) string { return strings.Replace(s, `"SessionStart"`, `"Stop"`, 1) })
	}, "hooks_incomplete", doctor.Warn},
	{"hooks of a place that is gone", func(p *patient) {
		p.hooks(func(s string) string { return strings.ReplaceAll(s, p.root+"/bin/", p.root+"/gone/") })
	}, "hooks_elsewhere", doctor.Warn},
	{"hooks of another install", func(p *patient) {
		p.write("other/ccbot-hook", "", 0o700)
		p.hooks(func(s string) string { return strings.ReplaceAll(s, p.root+"/bin/", p.root+"/other/") })
	}, "hooks_elsewhere", doctor.Warn},
	{"a unit of a person", func(p *patient) {
		p.unit()
		p.write("config/systemd/user/ccbot.service", "[Service]\nExecStart=/bin/true\n", 0o600)
	}, "unit_changed", doctor.Warn},
	{"a unit that rests", func(p *patient) { p.unit(); p.script("systemctl", "echo ActiveState=inactive") }, "unit_inactive", doctor.Warn},
	{"a unit that nobody knows of", func(p *patient) { p.unit(); p.script("systemctl", "exit 1") }, "unit_unknown", doctor.Unknown},
	{"a unit that ends", func(p *patient) { p.unit(); p.script("loginctl", "echo no") }, "unit_ends_at_logout", doctor.Warn},
}

var ofTheNetwork = []sickness{
	{"no network", func(p *patient) { p.set("TELEGRAM_API_URL", "http://127.0.0.1:1") }, "telegram_unreachable", doctor.Fail},
	{"no Bot API", func(p *patient) { p.answers["getMe"] = "<html>log in, please" }, "telegram_unreachable", doctor.Fail},
	{"a revoked token", func(p *patient) { p.answers["getMe"] = `{"ok":false,"error_code":401,"description":"Unauthorized"}` }, "token_refused", doctor.Fail},
	{"a webhook", func(p *patient) {
		p.answers["getWebhookInfo"] = `{"ok":true,"result":{"url":"https://else.example/secret"}}`
	}, "webhook_set", doctor.Fail},
	{"a wrong clock", func(p *patient) { p.at = time.Now().Add(time.Hour) }, "clock_skewed", doctor.Warn},
}

// TestDoctorForOrdinaryUser_AsUser who may not write the folder of ccbot.
func TestDoctorForOrdinaryUser_AsUser(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("SKIPPED: root may write everywhere")
	}
	t.Parallel()
	p := newPatient(t)
	p.away()
	_, faults := p.report(exit.OK)
	assert.Equal(t, []doctor.Code{"bot_down"}, slices.Collect(maps.Keys(faults)))
	require.NoError(t, os.Chmod(p.state, 0o500))
	_, faults = p.report(exit.Failure)
	assert.Contains(t, faults, doctor.Code("folder_not_writable"))
	p.set("CCBOT_DIR", p.state+"/none/s")
	_, faults = p.report(exit.Failure)
	assert.Contains(t, faults, doctor.Code("folder_not_writable"), "the first start could not make it")
}

// A damaged id does not hide what else is wrong in the folder.
func TestDoctorNamesFaultsWithDamagedID(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.write("s/instance", "what is this", 0o600)
	p.write("s/format", "3\n", 0o600)
	p.write("s/sessions/"+uuid.NewString()+".json", "{", 0o600)
	_, faults := p.report(exit.Failure)
	assert.Contains(t, faults, doctor.Code("instance_damaged"))
	assert.Contains(t, faults, doctor.Code("records_unreadable"))
}

// TestDoctorWithoutClaude: Codex alone is enough, if sessions of it can start.
func TestDoctorWithoutClaude(t *testing.T) {
	t.Parallel()
	only := func(p *patient) {
		p.codex("")
		require.NoError(p.t, os.Remove(p.tools+"/claude"))
		p.set("PATH", p.tools+":"+p.without("claude"))
	}
	p := newPatient(t)
	only(p)
	p.mu.Lock()
	p.figures.Claude, p.figures.Instead = "", "Codex"
	p.mu.Unlock()
	out, _ := p.ccbot(exit.OK, "doctor")
	assert.Contains(t, out, "-     claude    Claude Code is not installed: each session uses Codex\n")
	assert.Contains(t, out, "they only make sessions of Claude Code known")
	assert.NotContains(t, out, "claude_")
	for _, tt := range []struct {
		name   string
		change func(p *patient)
		code   int
		want   doctor.Status
	}{
		{"a setting names Claude Code", func(p *patient) { p.set("CLAUDE_COMMAND", "/none") }, exit.OK, doctor.Warn},
		{"Codex is too old", func(p *patient) { p.script("codex", "echo codex-cli 0.168.0") }, exit.Failure, doctor.Fail},
		{"no agent", func(p *patient) { p.remove("tools/codex"); p.set("PATH", p.tools) }, exit.Failure, doctor.Fail},
	} {
		p := newPatient(t)
		only(p)
		tt.change(p)
		r, faults := p.report(tt.code)
		assert.Equal(t, tt.want, faults["claude_missing"].Status, tt.name)
		for _, f := range r.Checks {
			assert.NotContains(t, f.Summary, "each session uses", tt.name)
		}
	}
}

// TestUpdatedClaudeIsNoFault: the bot may not have seen the update yet.
func TestUpdatedClaudeIsNoFault(t *testing.T) {
	p := newPatient(t)
	p.mu.Lock()
	p.figures.Claude, p.figures.ClaudeNeeded = "2.1.77 (Claude Code)", claudesettings.Oldest
	p.mu.Unlock()
	out, _ := p.ccbot(exit.OK, "doctor")
	assert.NotContains(t, out, "claude_old")
	assert.Contains(t, out, "2.1.300 (Claude Code)")
}
