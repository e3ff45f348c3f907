package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/programtest"
	"ccbot/try/botapi"
)

// slowAPI is a proxy of the Bot API. While it is shut, no message gets through.
type slowAPI struct {
	*httptest.Server
	polls   atomic.Int32 // under way
	waiting atomic.Int32 // messages
	mu      sync.Mutex
	open    chan struct{} // closed when messages get through
}

func newSlowAPI(w *world) *slowAPI {
	to, err := url.Parse(w.api.URL())
	require.NoError(w.t, err)
	s := &slowAPI{open: make(chan struct{})}
	close(s.open)
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ErrorHandler = func(out http.ResponseWriter, _ *http.Request, _ error) { out.WriteHeader(http.StatusBadGateway) }
	s.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/getUpdates"):
			s.polls.Add(1)
			defer s.polls.Add(-1)
		case strings.HasSuffix(r.URL.Path, "/sendMessage"):
			s.waiting.Add(1)
			defer s.waiting.Add(-1)
			body, _ := io.ReadAll(r.Body) // only then is it seen that the bot has gone
			r.Body = io.NopCloser(bytes.NewReader(body))
			s.mu.Lock()
			open := s.open
			s.mu.Unlock()
			select {
			case <-open:
			case <-r.Context().Done():
				return
			}
		}
		proxy.ServeHTTP(out, r)
	}))
	w.t.Cleanup(s.Close)
	return s
}

func (s *slowAPI) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = make(chan struct{})
}

// slowed returns a world that is stopped while the Bot API does not answer a message.
func slowed(t *testing.T) (*world, *slowAPI) {
	t.Helper()
	w := newWorld(t)
	s := newSlowAPI(w)
	w.env = append(w.env, "TELEGRAM_API_URL="+s.URL)
	w.start()
	s.shut()
	w.say("/list")
	w.until("an answer is under way", func() bool { return s.waiting.Load() > 0 })
	require.NoError(t, w.bot.cmd.Process.Signal(syscall.SIGTERM))
	w.until("the bot polls no more", func() bool { return s.polls.Load() == 0 })
	require.False(t, w.bot.over(), "it waits for what is in hand\n%s", w.bot.log)
	return w, s
}

// noSessions begins the answer to /list.
const noSessions = "No open sessions"

// once waits for the answer, and starts the bot once more: it does not come again.
func (w *world) once() {
	w.t.Helper()
	w.until("the answer is there", func() bool { return w.heard(noSessions) == 1 })
	w.start()
	w.hear(w.say("/help"), "/list")
	assert.Equal(w.t, 1, w.heard(noSessions))
	w.stop()
}

// TestP4_StopFinishesCurrentCall: it waits for a slow Bot API.
func TestP4_StopFinishesCurrentCall(t *testing.T) {
	inShortRun(t, "a clean stop")
	t.Parallel()
	w, s := slowed(t)
	close(s.open)
	w.until("ccbot has stopped", w.bot.over)
	assert.Zero(t, w.bot.cmd.ProcessState.ExitCode(), w.bot.log)
	assert.Contains(t, w.bot.log.String(), "msg=stopped unfinished=0 unsent=0")
	assert.Equal(t, 1, w.heard(noSessions), "before the end")
	w.once()
}

// TestP4_StopHasTimeout: the Bot API does not answer, and the next start has the message.
func TestP4_StopHasTimeout(t *testing.T) {
	t.Parallel()
	w, s := slowed(t)
	w.until("ccbot has stopped", w.bot.over)
	assert.Zero(t, w.bot.cmd.ProcessState.ExitCode(), w.bot.log)
	assert.Regexp(t, `msg=stopped unfinished=(1 unsent=0|0 unsent=1)`, w.bot.log)
	close(s.open)
	w.start()
	w.until("the answer comes", func() bool { return w.heard(noSessions) == 1 })
	w.stop()
	w.once()
}

// TestStopDuringTmuxStartIsClean: tmux hangs at the start, and ccbot is stopped.
func TestStopDuringTmuxStartIsClean(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tmux, dir := programtest.Require(t, "tmux"), t.TempDir()
	script(t, dir, "tmux", "#!/bin/sh\n[ \"$*\" = -V ] && exec "+tmux+" -V\nexec sleep 600")
	w.launch("PATH=" + dir + ":" + os.Getenv("PATH"))
	w.until("ccbot waits for tmux", func() bool { return strings.Contains(w.bot.log.String(), "msg=tmux_does_not_answer") })
	w.stop()
	assert.Contains(t, w.bot.log.String(), "msg=stopped")
}

// TestP8_SecondSignalEndsImmediately signals twice while a stop would hang on a message: the state
// on disk is complete.
func TestP8_SecondSignalEndsImmediately(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	held := filepath.Join(t.TempDir(), "held")
	w.start("CCBOT_FAILPOINT=accepted", "CCBOT_FAILFILE="+held)
	w.say("/list")
	w.until("the message is in hand", func() bool { _, err := os.Stat(held); return err == nil })
	w.until("ccbot has ended", func() bool {
		_ = w.bot.cmd.Process.Signal(syscall.SIGTERM) // two that come at the same moment are one
		return w.bot.over()
	})
	status := w.bot.cmd.ProcessState.Sys().(syscall.WaitStatus)
	assert.True(t, status.Signaled() && status.Signal() == syscall.SIGTERM, "%v\n%s", w.bot.cmd.ProcessState, w.bot.log)
	assert.NotContains(t, w.bot.log.String(), "msg=stopped")
	w.start()
	w.until("the answer comes", func() bool { return w.heard(noSessions) == 1 })
	w.stop()
	w.once()
}

// settings writes ccbot.env.
func (w *world) settings(lines ...string) {
	w.t.Helper()
	require.NoError(w.t, os.MkdirAll(w.state, 0o700))
	require.NoError(w.t, os.WriteFile(filepath.Join(w.state, "ccbot.env"), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
}

// without takes variables out of the world's environment, and gives them.
func (w *world) without(names ...string) (taken []string) {
	w.env = slices.DeleteFunc(w.env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.Contains(names, name) {
			return false
		}
		taken = append(taken, kv)
		return true
	})
	return taken
}

// TestP9_HangUpReloadsPeople sends SIGHUP to a bot without a terminal: a removed person gets no
// answer, an added person gets one. A file with a mistake changes nothing.
func TestP9_HangUpReloadsPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.without("ALLOWED_USERS", "LOG_LEVEL")
	eve := w.api.Person(77, "Eve")
	eve.Start()
	w.settings(fmt.Sprintf("ALLOWED_USERS=%d", w.person.ID()))
	b := w.detached()
	w.until("it is ready", b.ready)
	hangUp := func(says string) {
		t.Helper()
		require.NoError(t, b.cmd.Process.Signal(syscall.SIGHUP))
		w.until(says, func() bool { return strings.Contains(b.log.String(), says) })
	}
	answers := func(person *botapi.Person) (n int) {
		for _, m := range w.api.Messages(person.ID()) {
			if m.FromBot && strings.Contains(m.Text, noSessions) {
				n++
			}
		}
		return n
	}
	eve.Send(eve.ID(), "/list")
	w.say("/list")
	w.until("the one on the list is heard", func() bool { return answers(w.person) == 1 })

	w.settings("ALLOWED_USERS=77", "LOG_LEVEL=warn", "TMUX_SESSION_NAME=other")
	hangUp("msg=settings_reloaded people=1 groups=0 level=warn")
	w.until("what needs a restart is told", func() bool {
		return strings.Contains(b.log.String(), "msg=settings_need_a_restart names=[TMUX_SESSION_NAME]")
	})
	w.say("/list")
	eve.Send(eve.ID(), "/list")
	w.until("the new one is heard", func() bool { return answers(eve) == 1 })

	w.settings("ALLOWED_USERS=me")
	hangUp("msg=settings_not_reloaded")
	eve.Send(eve.ID(), "/list")
	w.until("she is heard still", func() bool { return answers(eve) == 2 })
	assert.Equal(t, 1, answers(w.person), "who was taken off the list gets nothing")
	w.stop()
	assert.NotContains(t, b.log.String(), "msg=stopped", "the log has warnings only")
}

// detached runs ccbot without a terminal, as a service manager does.
func (w *world) detached() *botProcess {
	w.t.Helper()
	b := &botProcess{cmd: exec.Command(filepath.Join(binaries, "ccbot")), log: &lockedBuffer{}, done: make(chan struct{})}
	b.cmd.Env, b.cmd.SysProcAttr = slices.Clone(w.env), &syscall.SysProcAttr{Setsid: true}
	b.cmd.Stdout, b.cmd.Stderr = b.log, b.log
	require.NoError(w.t, b.cmd.Start())
	go func() { _ = b.cmd.Wait(); close(b.done) }()
	w.bot = b
	return b
}

// TestBotOutlivesLogReader: only later log lines are lost.
func TestBotOutlivesLogReader(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := &botProcess{cmd: exec.Command(filepath.Join(binaries, "ccbot")), log: &lockedBuffer{}, done: make(chan struct{})}
	b.cmd.Env = w.env
	log, err := b.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, b.cmd.Start())
	w.bot = b
	lines := bufio.NewScanner(log)
	for lines.Scan() && !strings.Contains(lines.Text(), "msg=ready") {
	}
	require.NoError(t, log.Close())
	go func() { _ = b.cmd.Wait(); close(b.done) }()
	w.hear(w.say("/list"), noSessions)
	w.stop()
}

// TestClosedTerminalEndsBot as it always has: what runs in a window ends with it.
func TestClosedTerminalEndsBot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	log := filepath.Join(w.dir, "log")
	says := func(text string) func() bool {
		return func() bool {
			data, err := os.ReadFile(log)
			return err == nil && strings.Contains(string(data), text)
		}
	}
	shell := append(append([]string{"env", "-i"}, w.env...), "sh", "-c", `exec "$0" run 2>"$1"`, filepath.Join(binaries, "ccbot"), log)
	w.tmux(append([]string{"new-session", "-d", "-s", "hand"}, shell...)...)
	w.until("it is ready", says("msg=ready"))
	w.tmux("kill-session", "-t", "=hand")
	w.until("it has stopped", says("msg=stopped"))
}
