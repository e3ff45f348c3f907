package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"ccbot/bot/conversation"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/process"
	"ccbot/internal/programtest"
	"ccbot/internal/waittest"
	"ccbot/try/botapi"
	"ccbot/try/botapi/botapitest"
)

// operator is a person at a terminal who sets up a bot, with a separate Telegram and home.
type operator struct {
	t          *testing.T
	api        *botapi.Server
	home, file string // file: ccbot.env
	ccbot      string
	in, tty    *os.File // the person's end of the terminal, and the program's
	cmd        *exec.Cmd

	mu   sync.Mutex
	said bytes.Buffer
	more chan struct{} // there is new output
	seen int           // how much of it has been waited for
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	home := t.TempDir()
	d := &operator{t: t, api: botapitest.Start(t, botapi.Options{}), home: home, file: filepath.Join(home, ".ccbot", "ccbot.env"),
		ccbot: filepath.Join(home, "bin", "ccbot"), more: make(chan struct{}, 1)}
	me, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Dir(d.ccbot), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(home, "work"), 0o700))
	require.NoError(t, os.Link(me, d.ccbot))
	require.NoError(t, os.WriteFile(d.ccbot+"-hook", []byte("#!/bin/sh\n"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, "bin", "claude"), []byte("#!/bin/sh\necho '2.1.300 (Claude Code)'\n"), 0o700))
	// this machine's own is left alone
	for _, manager := range []string{"systemctl", "launchctl", "loginctl"} {
		require.NoError(t, os.WriteFile(filepath.Join(home, "bin", manager), []byte("#!/bin/sh\nexit 1\n"), 0o700))
	}
	d.in, d.tty, err = pty.Open()
	require.NoError(t, err)
	done := make(chan struct{})
	go func() { defer close(done); d.listen() }()
	t.Cleanup(func() {
		// a program that still has the terminal would keep it open
		if d.cmd != nil && d.cmd.ProcessState == nil {
			_ = d.cmd.Process.Kill()
			_ = d.cmd.Wait()
		}
		d.tty.Close()
		d.in.Close()
		<-done
	})
	return d
}

// listen keeps what the program says.
func (o *operator) listen() {
	buf := make([]byte, 4096)
	for {
		n, err := o.in.Read(buf)
		if err != nil {
			return
		}
		o.mu.Lock()
		o.said.Write(buf[:n])
		o.mu.Unlock()
		select {
		case o.more <- struct{}{}:
		default:
		}
	}
}

func (o *operator) all() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.said.String()
}

func (o *operator) environ() []string {
	return []string{"PATH=" + filepath.Join(o.home, "bin") + ":" + os.Getenv("PATH"), endsAtOnce, "HOME=" + o.home, "TELEGRAM_API_URL=" + o.api.URL()}
}

// start runs ccbot setup at the terminal.
func (o *operator) start(args ...string) {
	o.t.Helper()
	o.cmd = exec.Command(o.ccbot, append([]string{"setup"}, args...)...)
	o.cmd.Env, o.cmd.Dir = o.environ(), o.home
	o.cmd.Stdin, o.cmd.Stdout, o.cmd.Stderr = o.tty, o.tty, o.tty
	o.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(o.t, o.cmd.Start())
}

// script runs ccbot setup without a terminal.
func (o *operator) script(code int, args ...string) (said string) {
	o.t.Helper()
	cmd := exec.Command(o.ccbot, append([]string{"setup"}, args...)...)
	cmd.Env, cmd.Dir = o.environ(), o.home
	out, _ := cmd.CombinedOutput()
	require.Equal(o.t, code, cmd.ProcessState.ExitCode(), "%s", out)
	assert.NotContains(o.t, string(out), o.api.Token())
	return string(out)
}

// reads waits until the program has said something that matches, after what was read before.
func (o *operator) reads(pattern string) (match []string) {
	o.t.Helper()
	re := regexp.MustCompile(pattern)
	late := waittest.Context(o.t).Done()
	for {
		text := o.all()
		if at := re.FindStringSubmatchIndex(text[o.seen:]); at != nil {
			match = re.FindStringSubmatch(text[o.seen:])
			o.seen += at[1]
			return match
		}
		select {
		case <-o.more:
		case <-late:
			require.FailNow(o.t, "it was not said", "%s in\n%s", pattern, text)
		}
	}
}

func (o *operator) types(text string) {
	o.t.Helper()
	_, err := o.in.WriteString(text)
	require.NoError(o.t, err)
}

// typesAhead types a line before its question, and waits until the terminal has it.
func (o *operator) typesAhead(line string) {
	o.t.Helper()
	o.types(line)
	fd := int(o.tty.Fd())
	var set unix.FdSet // select, because poll knows no terminals on macOS
	set.Set(fd)
	n, err := unix.Select(fd+1, &set, nil, nil, &unix.Timeval{Sec: 60})
	require.NoError(o.t, err)
	require.Equal(o.t, 1, n, "the terminal has no line")
}

// ends waits for the program.
func (o *operator) ends(code int) {
	o.t.Helper()
	err := o.cmd.Wait()
	if failed := (*exec.ExitError)(nil); !errors.As(err, &failed) {
		require.NoError(o.t, err)
	}
	require.Equal(o.t, code, o.cmd.ProcessState.ExitCode(), o.all())
}

// scans is the code of the link that is shown.
func (o *operator) scans() (code string) {
	o.t.Helper()
	return o.reads(`https://t\.me/ccbot_sandbox_bot\?start=([A-Za-z0-9_-]+)\s[^…]*Waiting…`)[1]
}

// settings returns the lines of ccbot.env, which others may not read.
func (o *operator) settings() string {
	o.t.Helper()
	info, err := os.Stat(o.file)
	require.NoError(o.t, err)
	assert.Equal(o.t, os.FileMode(0o600), info.Mode())
	data, err := os.ReadFile(o.file)
	require.NoError(o.t, err)
	return string(data)
}

func (o *operator) writes(settings string) {
	o.t.Helper()
	require.NoError(o.t, os.MkdirAll(filepath.Dir(o.file), 0o700))
	require.NoError(o.t, os.WriteFile(o.file, []byte(settings), 0o600))
}

func (o *operator) tokenFile() string {
	o.t.Helper()
	path := filepath.Join(o.home, "token")
	require.NoError(o.t, os.WriteFile(path, []byte(o.api.Token()+"\n"), 0o600))
	return path
}

// echoes reports whether the terminal shows input.
func (o *operator) echoes() bool {
	o.t.Helper()
	stty := exec.Command("stty", "-a")
	stty.Stdin = o.tty
	out, err := stty.Output()
	require.NoError(o.t, err)
	return slices.Contains(strings.Fields(string(out)), "echo")
}

// folderOf is the folder that a person's new sessions begin in.
func (o *operator) folderOf(id int64) string {
	o.t.Helper()
	dir := filepath.Dir(o.file)
	chats, err := conversation.Open(filepath.Join(dir, "chats"), filepath.Join(dir, "quarantine"), slog.New(slog.DiscardHandler))
	require.NoError(o.t, err)
	return chats.Settings(id).Dir
}

func (o *operator) hello(id int64) {
	o.t.Helper()
	botapitest.Wait(o.t, o.api, id, func(m botapi.Message) bool { return m.FromBot && strings.HasPrefix(m.Text, "Hello.") })
}

// stages are the questions of a first run, in order, each with its answer.
func (o *operator) stages() []func(answer bool) {
	me, code := o.api.Person(5, "Ann"), ""
	return []func(bool){
		func(answer bool) {
			o.reads("Token of the bot.*: ")
			if answer {
				o.types(o.api.Token() + "\n")
				o.reads("Bot: @ccbot_sandbox_bot")
			}
		},
		func(answer bool) {
			code = o.scans()
			if answer {
				me.Send(5, "/start "+code)
			}
		},
		func(answer bool) {
			o.reads("\"Ann\", id 5: yours\\? \\[y/N\\] ")
			if answer {
				o.types("y\n")
			}
		},
		func(answer bool) {
			o.reads("Folder for new sessions \\[~\\]: ")
			if answer {
				o.types("~/work\n")
			}
		},
		func(answer bool) {
			o.reads("Install hooks .*\\[Y/n\\] ")
			if answer {
				o.types("n\n")
			}
		},
		func(answer bool) {
			o.reads("Run ccbot in the background .*\\[Y/n\\] ")
			if answer {
				o.types("n\n")
			}
		},
	}
}

func TestP9_SetupAsksAndSaysHello(t *testing.T) {
	d := newOperator(t)
	d.start()
	for _, wrong := range []string{"123456789:AAwrongwrongwrongwrongwrong", "nonsense-" + d.api.Token()} {
		d.reads("Token of the bot.*: ")
		assert.False(t, d.echoes())
		d.types(wrong + "\n")
		d.reads("That did not work: ")
	}
	d.reads("Token of the bot.*: ")
	d.types(d.api.Token() + "\n")
	d.reads("Bot: @ccbot_sandbox_bot")
	code := d.scans()
	assert.Len(t, code, 22, "128 bits")
	assert.False(t, d.echoes(), "no question shows what is typed")

	stranger, me := d.api.Person(66, "Mallory"), d.api.Person(5, "Ann")
	stranger.Send(66, "/start AAAAAAAAAAAAAAAAAAAAAA")
	stranger.Send(66, "hello, let me in")
	d.api.Group(-1000000000077, "All", false)
	stranger.Send(-1000000000077, "/start "+code)
	me.Send(5, "/start "+code)
	d.reads("\"Ann\", id 5: yours\\? \\[y/N\\] ")
	assert.Contains(t, d.all(), "█")
	require.NoError(t, pty.Setsize(d.in, &pty.Winsize{Rows: 24, Cols: 30}))
	from := len(d.all())
	d.types("\n") // no: the code is used up
	next := d.scans()
	assert.NotContains(t, d.all()[from:], "█", "where its lines would be broken there is only the link")
	assert.NotEqual(t, code, next)
	stranger.Send(66, "/start "+code)
	me.Send(5, "/start "+next)
	d.reads("\"Ann\", id 5: yours\\? \\[y/N\\] ")
	d.types("y\n")
	d.reads("Folder for new sessions \\[~\\]: ")
	d.types("~/nowhere\n")
	d.reads("That did not work: .*/nowhere is not there\\.")
	d.reads("Folder for new sessions \\[~\\]: ")
	d.types("work\n")
	d.reads("Install hooks .*\\[Y/n\\] ")
	d.types("\n")
	d.reads("SessionStart: added")
	d.reads("has said hello to 5")
	d.reads("Run ccbot in the background .*\\[Y/n\\] ")
	d.types("\n")
	d.reads("settings of this shell: TELEGRAM_API_URL")
	d.reads("Write them into .*ccbot.env\\? \\[Y/n\\] ")
	d.types("\n")
	d.reads("systemd does not answer .* this is left to run")
	d.ends(0)
	assert.FileExists(t, filepath.Join(d.home, ".config", "systemd", "user", "ccbot.service"))

	assert.Equal(t, "TELEGRAM_BOT_TOKEN="+d.api.Token()+"\nALLOWED_USERS=5\nTELEGRAM_API_URL="+d.api.URL()+"\n", d.settings())
	assert.Equal(t, filepath.Join(d.home, "work"), d.folderOf(5))
	d.hello(5)
	assert.Empty(t, d.folderOf(66))
	assert.Equal(t, 6, d.api.Pending(), "nothing was taken away from the bot")
	for _, secret := range []string{d.api.Token(), "AAwrong"} {
		assert.NotContains(t, d.all(), secret)
	}
	assert.NotContains(t, d.all(), "Mallory")
}

// TestP9_SetupDropsATokenTypedAhead while the bot waits for a person, and asks its next question
// all the same.
func TestP9_SetupDropsATokenTypedAhead(t *testing.T) {
	d := newOperator(t)
	me := d.api.Person(5, "Ann")
	d.start()
	d.reads("Token of the bot.*: ")
	d.types(d.api.Token() + "\n")
	code := d.scans()
	d.typesAhead(d.api.Token() + "\n")
	me.Send(5, "/start "+code)
	d.reads("\"Ann\", id 5: yours\\? \\[y/N\\] ")
	d.types("n\n")
	d.scans()
	d.types("\x03")
	d.ends(exit.Interrupted)
	assert.True(t, d.echoes())
	assert.NotContains(t, d.all(), d.api.Token())
	assert.Equal(t, 1, strings.Count(d.all(), "yours?"), "a line that was typed ahead answers nothing")
}

// TestP8_SetupIsInterrupted ends it at each question, then runs it again to its end.
func TestP8_SetupIsInterrupted(t *testing.T) {
	for _, how := range []string{"kill -9", "^C", `^\`} {
		for stage := range 6 {
			t.Run(how+" at question "+strconv.Itoa(stage+1), func(t *testing.T) {
				t.Parallel()
				d := newOperator(t)
				d.start()
				for i, ask := range d.stages()[:stage+1] {
					ask(i < stage)
				}
				if key := map[string]string{"^C": "\x03", `^\`: "\x1c"}[how]; key != "" {
					d.types(key)
					d.reads("interrupted; `ccbot setup` begins again")
					d.ends(exit.Interrupted)
					assert.True(t, d.echoes())
				} else {
					require.NoError(t, d.cmd.Process.Kill())
					d.ends(-1)
				}
				d.start()
				if stage < 4 { // nothing is written before all of it is known
					assert.NoFileExists(t, d.file)
					for _, ask := range d.stages() {
						ask(true)
					}
				} else {
					d.reads("Keep this bot\\? \\[Y/n\\] ")
					d.types("\n")
					d.reads("Allowed: 5. Allow another person\\? \\[y/N\\] ")
					d.types("\n")
					d.reads("Folder for new sessions \\[.*/work\\]: ")
					d.types("\n")
					for _, ask := range d.stages()[4:] {
						ask(true)
					}
				}
				d.ends(0)
				assert.Equal(t, "TELEGRAM_BOT_TOKEN="+d.api.Token()+"\nALLOWED_USERS=5\n", d.settings())
				d.hello(5)
				assert.NotContains(t, d.all(), d.api.Token())
			})
		}
	}
}

func TestP9_SetupByFlags(t *testing.T) {
	d := newOperator(t)
	require.NoError(t, os.MkdirAll(filepath.Dir(d.file), 0o700))
	require.NoError(t, os.WriteFile(d.file, []byte("CLAUDE_COMMAND=no-claude\n"), 0o600))
	d.api.Person(5, "Ann").Start()
	said := d.script(0, "--token-file", d.tokenFile(), "--allow", "5,6", "--folder", "~/work", "--yes")
	assert.Contains(t, said, "SessionStart: added\n")
	assert.Contains(t, said, "said hello to 5.\n")
	assert.Contains(t, said, "6 has not opened the bot yet: https://t.me/ccbot_sandbox_bot, then Start.\n")
	first := d.settings()
	assert.Equal(t, "CLAUDE_COMMAND=no-claude\nTELEGRAM_BOT_TOKEN="+d.api.Token()+"\nALLOWED_USERS=5,6\nTELEGRAM_API_URL="+d.api.URL()+"\n", first)
	assert.Equal(t, filepath.Join(d.home, "work"), d.folderOf(6))
	for _, c := range d.api.Calls() {
		assert.NotEqual(t, "getUpdates", c.Method)
	}

	assert.Contains(t, said, "systemd does not answer")
	assert.Contains(t, said, "no-claude was not found on the machine.")
	assert.NotContains(t, said, "others may read")
	require.NoError(t, os.Chmod(d.tokenFile(), 0o644))
	said = d.script(0, "--token-file", filepath.Join(d.home, "token"), "--allow", "5", "--hooks=false", "--service=false", "--yes")
	assert.Contains(t, said, "group or others may read "+filepath.Join(d.home, "token")+", where the token is")
	said = d.script(0, "--allow", "5", "--hooks=false", "--service=false", "--yes")
	assert.NotContains(t, said, "Written")
	assert.NotContains(t, said, "SessionStart")
	assert.Equal(t, first, d.settings())
	assert.Equal(t, filepath.Join(d.home, "work"), d.folderOf(5))
}

func TestP9_SetupRefuses(t *testing.T) {
	d := newOperator(t)
	path := d.tokenFile()
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"nobody to ask", nil, "there is no terminal to ask at: answer with --token-file"},
		{"nobody to ask who", []string{"--token-file", path}, "say with --allow who may speak to the bot"},
		{"nobody to ask where", []string{"--token-file", path, "--allow", "5"}, "answer with --folder"},
		{"nobody named", []string{"--token-file", path, "--yes"}, "--yes needs --allow"},
		{"a group", []string{"--token-file", path, "--yes", "--allow=-100"}, "--allow is the id of a person"},
		{"no token", []string{"--yes", "--allow", "5"}, "--yes needs --token-file"},
		{"a file without a token", []string{"--token-file", d.ccbot + "-hook", "--allow", "5", "--yes"}, "that is not a bot token"},
		{"the token for its file", []string{"--token-file", d.api.Token(), "--allow", "5", "--yes"}, "wants a file with the token in it"},
		{"the token as an argument", []string{d.api.Token()}, "setup takes no arguments"},
		{"a folder that is not there", []string{"--token-file", path, "--allow", "5", "--yes", "--folder", "/nowhere/at/all"}, "ccbot: /nowhere/at/all is not there"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Contains(t, d.script(2, tt.args...), tt.want)
			assert.NoFileExists(t, d.file)
		})
	}
}

// Input from before the question does not answer it.
func TestP9_SetupIgnoresEarlierInput(t *testing.T) {
	d := newOperator(t)
	d.start("--token-file", d.tokenFile())
	code := d.scans()
	d.typesAhead("y\n")
	d.api.Person(66, "Mallory").Send(66, "/start "+code)
	d.reads("id 66: yours\\? \\[y/N\\] ")
	d.types("n\n")
	d.scans()
	d.types("\x03")
	d.ends(exit.Interrupted)
	assert.NoFileExists(t, d.file)
}

// TestP9_SetupWithYesAsksNothing: not even for the token, although it could be typed.
func TestP9_SetupWithYesAsksNothing(t *testing.T) {
	d := newOperator(t)
	d.start("--yes", "--allow", "5")
	d.reads("(--yes needs --token-file|Token of the bot)")
	require.NotContains(t, d.all(), "Token of the bot")
	d.ends(2)
}

// TestP9_SetupKeepsWhatIsConfigured: the other lines of ccbot.env, the people, and what waits at
// Telegram for them.
func TestP9_SetupKeepsWhatIsConfigured(t *testing.T) {
	d := newOperator(t)
	d.writes("# mine\nexport TELEGRAM_BOT_TOKEN='" + d.api.Token() + "'\nALLOWED_USERS=5 # Ann\n\nLOG_LEVEL=warn\n")
	old, friend := d.api.Person(5, "Ann"), d.api.Person(7, "Bea")
	old.Send(5, "do this when you are back")
	d.start("--hooks=false", "--service=false")
	d.reads("Keep this bot\\? \\[Y/n\\] ")
	d.types("\n")
	d.reads("Allowed: 5. Allow another person\\? \\[y/N\\] ")
	d.types("y\n")
	code := d.scans()
	old.Send(5, "and that")
	friend.Send(7, "/start "+code)
	d.reads("\"Bea\", id 7: yours\\? \\[y/N\\] ")
	d.types("y\n")
	d.reads("Folder for new sessions \\[~\\]: ")
	d.types("\n")
	d.ends(0)
	assert.Equal(t, "# mine\nexport TELEGRAM_BOT_TOKEN='"+d.api.Token()+"'\nALLOWED_USERS=5,7 # Ann\n\nLOG_LEVEL=warn\n", d.settings())
	assert.Equal(t, 3, d.api.Pending())
	d.hello(7)
	assert.Empty(t, d.folderOf(7))
}

func TestP9_SetupEndsBesideAnotherPoller(t *testing.T) {
	d := newOperator(t)
	d.start("--token-file", d.tokenFile())
	d.scans()
	waittest.Until(t, d.api.Polling)
	ctx, stop := context.WithCancel(t.Context())
	rival, err := http.NewRequestWithContext(ctx, http.MethodGet, d.api.URL()+"/bot"+d.api.Token()+"/getUpdates?timeout=50", nil)
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if resp, err := http.DefaultClient.Do(rival); err == nil {
			resp.Body.Close()
		}
	}()
	defer func() { stop(); <-done }()
	d.reads("another program asks Telegram for the messages of this bot: end it and begin again")
	d.ends(1)
	assert.NoFileExists(t, d.file)
}

// TestP8_SetupBesideABot: a bot of the same folder holds the lock.
func TestP8_SetupBesideABot(t *testing.T) {
	d := newOperator(t)
	_, held, err := statefolder.Take(context.Background(), filepath.Dir(d.file), "run", 0, slog.New(slog.NewTextHandler(io.Discard, nil)))
	require.NoError(t, err)
	defer held.Close()
	said := d.script(3, "--token-file", d.tokenFile(), "--allow", "5", "--yes")
	assert.Contains(t, said, "stop it first: another one is running (pid "+strconv.Itoa(os.Getpid()))
	assert.NoFileExists(t, d.file)
	assert.Empty(t, d.api.Calls())
}

// TestP9_SetupIsNotForAgents: an agent must not choose who may speak to the bot.
func TestP9_SetupIsNotForAgents(t *testing.T) {
	d := newOperator(t)
	table, err := process.NewTable()
	require.NoError(t, err)
	me := table.Self()
	sessions := filepath.Join(d.home, ".claude", "sessions")
	require.NoError(t, os.MkdirAll(sessions, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(sessions, strconv.Itoa(me.PID)+".json"),
		fmt.Appendf(nil, `{"pid":%d,"sessionId":%q,"procStart":"%d","status":"busy"}`, me.PID, uuid.NewString(), me.Start), 0o600))
	said := d.script(1, "--token-file", d.tokenFile(), "--allow", "5", "--yes")
	assert.Contains(t, said, "an agent may not do this")
	assert.NoFileExists(t, d.file)
	assert.Empty(t, d.api.Calls())
}

// TestSetupRefusesAnEnvironmentThatWins: what would be written would count for nothing.
func TestSetupRefusesAnEnvironmentThatWins(t *testing.T) {
	for _, name := range []string{"TELEGRAM_BOT_TOKEN", "ALLOWED_USERS"} {
		var out bytes.Buffer
		assert.Equal(t, 2, run([]string{"setup"}, []string{"HOME=" + t.TempDir(), name + "="}, io.Discard, &out))
		assert.Contains(t, out.String(), name+" is set in the environment")
	}
}

// TestUnconfiguredNamesSetup: the only line names the remedy. Below it a help would push it off the screen.
func TestUnconfiguredNamesSetup(t *testing.T) {
	d := newOperator(t)
	for _, args := range [][]string{nil, {"run"}} {
		cmd := exec.Command(d.ccbot, args...)
		cmd.Env = d.environ()
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run()
		assert.Equal(t, exit.Misuse, cmd.ProcessState.ExitCode())
		assert.Empty(t, stdout.String())
		line, rest, _ := strings.Cut(stderr.String(), "\n")
		assert.Contains(t, line, "`ccbot setup` asks for the token from @BotFather")
		assert.Contains(t, line, "`ccbot try` needs none")
		assert.Empty(t, rest)
	}
}

func TestSetupReadsTokenFromInput(t *testing.T) {
	d := newOperator(t)
	d.api.Person(5, "Ann").Start()
	cmd := exec.Command(d.ccbot, "setup", "--token-file", "-", "--allow", "5", "--yes", "--service=false")
	cmd.Env, cmd.Dir, cmd.Stdin = d.environ(), d.home, strings.NewReader(d.api.Token()+"\n")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.NotContains(t, string(out), d.api.Token())
	assert.Equal(t, "TELEGRAM_BOT_TOKEN="+d.api.Token()+"\nALLOWED_USERS=5\n", d.settings())
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	assert.Contains(t, lines[len(lines)-1], "Your first task, to send to @ccbot_sandbox_bot: ")
}

// TestSetupEndsWithFaults of doctor, and fails if ccbot could not start.
func TestSetupEndsWithFaults(t *testing.T) {
	d := newOperator(t)
	d.api.Person(5, "Ann").Start()
	args := []string{"setup", "--token-file", d.tokenFile(), "--allow", "5", "--yes", "--service=false"}
	for _, tt := range []struct {
		name, path string
		code       int
		want       []string
	}{
		{"no Claude Code", os.Getenv("PATH"), exit.OK, []string{"FAIL  claude", "[claude_missing]"}},
		{"no tmux", "/none", exit.Failure, []string{"FAIL  tmux", "sudo apt-get install tmux", "ccbot cannot start yet: 1 fault found"}},
	} {
		cmd := exec.Command(d.ccbot, args...)
		cmd.Env, cmd.Dir = append(d.environ(), "PATH="+d.home+"/bin:"+tt.path, "CLAUDE_COMMAND=/no/claude"), d.home
		out, err := cmd.CombinedOutput()
		assert.Equal(t, tt.code, cmd.ProcessState.ExitCode(), "%s: %v", tt.name, err)
		for _, want := range tt.want {
			assert.Contains(t, string(out), want, tt.name)
		}
		assert.Equal(t, tt.code == exit.OK, strings.Contains(string(out), "Your first task"), tt.name)
	}
}

// TestSetupNamesTmuxThatMayCrash before the first task: who can install a newer one should know.
func TestSetupNamesTmuxThatMayCrash(t *testing.T) {
	for version, named := range map[string]bool{"3.3a": true, "3.7": false} {
		d := newOperator(t)
		d.api.Person(5, "Ann").Start()
		fake := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = -V ] && { echo tmux %s; exit; }\nexec %s \"$@\"\n", version, programtest.Require(t, "tmux"))
		require.NoError(t, os.WriteFile(filepath.Join(d.home, "bin", "tmux"), []byte(fake), 0o700))
		cmd := exec.Command(d.ccbot, "setup", "--token-file", d.tokenFile(), "--allow", "5", "--yes", "--service=false")
		cmd.Env, cmd.Dir = append(d.environ(), "PATH="+d.home+"/bin:"+os.Getenv("PATH")), d.home
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Equal(t, named, strings.Contains(string(out), "tmux "+version+" works, but a server older than 3.7 can crash"), version)
	}
}

// TestSetupWithOnlyCodex offers no hooks of Claude Code, unless a flag asks for them.
func TestSetupWithOnlyCodex(t *testing.T) {
	d := newOperator(t)
	d.api.Person(5, "Ann").Start()
	bin := filepath.Join(d.home, "bin")
	require.NoError(t, os.Remove(filepath.Join(bin, "claude")))
	require.NoError(t, os.WriteFile(d.ccbot+"-codex", []byte("#!/bin/sh\n"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "codex"), []byte("#!/bin/sh\necho codex-cli 0.169.0\n"), 0o700))
	require.NoError(t, os.Symlink(programtest.Require(t, "tmux"), filepath.Join(bin, "tmux")))
	call := func(args ...string) string {
		args = append([]string{"setup", "--token-file", d.tokenFile(), "--allow", "5", "--yes", "--service=false"}, args...)
		cmd := exec.Command(d.ccbot, args...)
		cmd.Env, cmd.Dir = append(d.environ(), "PATH="+bin), d.home
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	settings := filepath.Join(d.home, ".claude", "settings.json")
	said := call()
	assert.Contains(t, said, "Claude Code is not installed: each session uses Codex.\n")
	for _, unwanted := range []string{"claude_missing", "CLAUDE_COMMAND", "settings.json"} {
		assert.NotContains(t, said, unwanted)
	}
	assert.NoFileExists(t, settings)
	call("--hooks")
	assert.FileExists(t, settings)
}
