package servicemanager

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/cmd/ccbot/environment"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/telegram"
	"ccbot/internal/token"
)

// manager is a service manager that records its messages, in order.
type manager struct {
	mu       sync.Mutex
	messages []string
}

func (m *manager) notify(state string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.messages = append(m.messages, strings.ReplaceAll(state, "\n", " "))
	return nil
}

// since returns the messages after the last call.
func (m *manager) since() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	messages := m.messages
	m.messages = nil
	return messages
}

func watched(m *manager, log *strings.Builder) *Service {
	return &Service{notify: m.notify, every: 150 * time.Second, fed: true, Pulse: &inbox.Pulse{},
		log: slog.New(slog.NewTextHandler(log, nil))}
}

// TestWatchdogIsFedDuringPolls: an unreachable Telegram is no reason to be
// killed, a loop that is stuck is one.
func TestWatchdogIsFedDuringPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m manager
		var log strings.Builder
		s := watched(&m, &log)
		ctx, stop := context.WithCancel(t.Context())
		var g sync.WaitGroup
		g.Go(func() { assert.NoError(t, s.Run(ctx)) })
		pass := func(d time.Duration) { time.Sleep(d); synctest.Wait() }

		pass(10 * time.Minute)
		assert.Empty(t, m.since(), "a start is not watched")
		s.Tried(30 * time.Second)
		assert.Equal(t, []string{"READY=1 STATUS=no updates from Telegram, trying again"}, m.since(), "it is up, though nobody answers")
		const fedInVain = "WATCHDOG=1 STATUS=no updates from Telegram, trying again"
		pass(150 * time.Second)
		assert.Equal(t, []string{fedInVain}, m.since())
		s.Tried(0)
		s.Begun("cc_bot")
		assert.Equal(t, []string{"READY=1 STATUS=listening as @cc_bot"}, m.since())
		pass(150 * time.Second)
		assert.Equal(t, []string{"WATCHDOG=1 STATUS=listening as @cc_bot"}, m.since())

		s.Pulse.Rest(time.Now(), time.Hour) // retry after
		pass(10 * time.Minute)
		assert.Equal(t, []string{fedInVain, fedInVain, fedInVain, fedInVain}, m.since())
		pass(50 * time.Minute)
		m.since()
		pass(inbox.Silence + 10*time.Minute)
		assert.Equal(t, "STATUS=the polls are stuck", m.since()[1], "it is fed no more")
		assert.Equal(t, 1, strings.Count(log.String(), "polls_stuck"))
		s.Pulse.Beat(time.Now())
		pass(150 * time.Second)
		assert.Equal(t, []string{"WATCHDOG=1 STATUS=listening as @cc_bot"}, m.since())
		stop()
		g.Wait()
		assert.Equal(t, []string{"STOPPING=1 STATUS=stopping"}, m.since())
	})
}

func TestWithoutAManagerNobodyIsTold(t *testing.T) {
	s := New([]string{"HOME=/", "NOTIFY_SOCKET="}, slog.New(slog.DiscardHandler))
	s.Tried(0)
	s.Begun("cc_bot")
	s.feedWatchdog(time.Now())
	require.NoError(t, s.Run(t.Context()))
}

// listener is the socket that a manager listens on.
func listener(t *testing.T) (path string, next func() string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "sd-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	path = filepath.Join(dir, "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return path, func() string {
		t.Helper()
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(2*time.Minute)))
		buf := make([]byte, 4096)
		n, err := conn.Read(buf)
		require.NoError(t, err)
		return string(buf[:n])
	}
}

// TestNotifyWritesToManagersSocket as systemd has it: datagrams on a Unix socket.
func TestNotifyWritesToManagersSocket(t *testing.T) {
	path, next := listener(t)
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "40000") // fed every 20 ms
	t.Setenv("WATCHDOG_PID", fmt.Sprint(os.Getpid()))
	s := New([]string{"NOTIFY_SOCKET=" + path}, slog.New(slog.DiscardHandler))
	assert.Equal(t, 20*time.Millisecond, s.every)
	ctx, stop := context.WithCancel(t.Context())
	var g sync.WaitGroup
	g.Go(func() { assert.NoError(t, s.Run(ctx)) })
	s.Tried(0)
	s.Begun("cc_bot")
	assert.Equal(t, "READY=1\nSTATUS=listening as @cc_bot", next())
	const fed = "WATCHDOG=1\nSTATUS=listening as @cc_bot"
	assert.Equal(t, fed, next())
	assert.Equal(t, fed, next())
	stop()
	last := next()
	for last == fed { // a full socket would hold Run
		last = next()
	}
	assert.Equal(t, "STOPPING=1\nSTATUS=stopping", last)
	g.Wait()
}

func TestForeignWatchdogIsNotFed(t *testing.T) {
	for _, tt := range []struct {
		name, usec, pid string
		fed             bool
	}{
		{"ours", "60000000", fmt.Sprint(os.Getpid()), true},
		{"anybody's", "60000000", "", true},
		{"our parent's", "60000000", fmt.Sprint(os.Getppid()), false},
		{"none", "", "", false},
		{"no number", "x", "", false},
		{"zero", "0", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("WATCHDOG_USEC", tt.usec)
			t.Setenv("WATCHDOG_PID", tt.pid)
			s := New([]string{"NOTIFY_SOCKET=/x"}, slog.New(slog.DiscardHandler))
			assert.Equal(t, tt.fed, s.fed)
			if !tt.fed {
				assert.Equal(t, statusEvery, s.every)
			} else {
				assert.Equal(t, 30*time.Second, s.every)
			}
		})
	}
}

// A program with its address can report that ccbot is well, or stops.
func TestP9_AgentsLackManagersSocket(t *testing.T) {
	managers := []string{"NOTIFY_SOCKET=/run/user/1/systemd/notify", "WATCHDOG_USEC=1", "WATCHDOG_PID=1", "MAINPID=1", "LISTEN_FDS=1",
		"INVOCATION_ID=x", "JOURNAL_STREAM=8:1", "CREDENTIALS_DIRECTORY=/run/credentials"}
	assert.Empty(t, environment.Server(managers))
	vars := env.ToMap(managers)
	agents, err := environment.OfAgents(vars)
	require.NoError(t, err)
	set, unset := environment.Agent(vars, agents, "")
	assert.Empty(t, set)
	for _, kv := range managers[:3] {
		name, _, _ := strings.Cut(kv, "=")
		assert.Contains(t, unset, name, "another's tmux server may have it")
	}
}

// goodToken has the form of a token, but belongs to no bot.
const (
	goodToken   = "123456789:AAsecretsecretsecretsecret"
	tokenSecret = "AAsecret" // must not be in an error
)

// The manager does not wait for Telegram, a body that is not Telegram's JSON does not count as an
// answer, and a token that Telegram does not know is final.
func TestConnectSaysThatTelegramIsAway(t *testing.T) {
	calls := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls <- r.URL.Path
		if len(calls) == 1 {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, `{"error_code":401,"error":"no route for %s"}`, r.URL.Path)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, `{"ok":false,"error_code":401,"description":"Unauthorized"}`)
	}))
	t.Cleanup(server.Close)
	var secret token.Token
	require.NoError(t, secret.UnmarshalText([]byte(goodToken)))
	var m manager
	var log strings.Builder
	s := watched(&m, &log)
	bare := slog.New(slog.NewTextHandler(&log, nil)) // knows of no token
	_, err := telegram.Connect(t.Context(), telegram.Client(secret, server.URL, nil), server.URL, s.Tried, bare)
	require.ErrorIs(t, err, telegram.ErrRevoked)
	assert.Equal(t, exit.Misuse, exit.Code(err))
	assert.Equal(t, []string{"READY=1 STATUS=no updates from Telegram, trying again"}, m.since())
	assert.Equal(t, "/bot"+goodToken+"/getMe", <-calls)
	assert.Contains(t, log.String(), "telegram_unreachable")
	assert.NotContains(t, log.String(), tokenSecret, "though the page had it")
}

func TestStatus(t *testing.T) {
	said := []string{statusOf("b", false, true, true), statusOf("", true, false, false), statusOf("b", true, true, false),
		statusOf("b", true, true, true), statusOf("b", true, false, false)}
	assert.Equal(t, []string{"the polls are stuck", "no updates from Telegram, trying again", "no updates from Telegram, trying again",
		"Telegram does not know the bot's token, trying again for ten minutes", "listening as @b"}, said)
}
