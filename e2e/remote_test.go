package e2e

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/machine"
	"ccbot/fleet/center"
	"ccbot/fleet/join"
	"ccbot/fleet/wire"
	"ccbot/internal/address"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
)

// remoteChat is a chat whose machine is another one: it has a center, and notes the types of news.
type remoteChat struct {
	*center.Center
	mu   sync.Mutex
	news map[uuid.UUID][]news.News
}

func (c *remoteChat) SessionNews(_ context.Context, s port.Session, n news.News) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.news[s.ID] = append(c.news[s.ID], n)
	return nil
}

func has[N news.News](c *remoteChat, id uuid.UUID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.news[id], func(n news.News) bool { _, is := n.(N); return is })
}

// joinChat makes a hub and a chat, and lets the world's machine join under a name.
func (w *world) joinChat(name string) (*remoteChat, *hubProcess) {
	w.t.Helper()
	hub, pin := w.newHub()
	folder := filepath.Join(w.t.TempDir(), "fleet")
	trust, err := center.SetHub(folder, hub.address, pin)
	require.NoError(w.t, err)
	data, err := json.Marshal(trust)
	require.NoError(w.t, err)
	require.NoError(w.t, os.WriteFile(filepath.Join(hub.dir, "trust.json"), data, 0o600))
	hub.start()
	c := &remoteChat{news: make(map[uuid.UUID][]news.News)}
	c.Center, err = center.Open(center.Settings{Folder: folder, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		News: func(join.Host) wire.Chat { return c }})
	require.NoError(w.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = c.Run(ctx) }()
	w.t.Cleanup(func() { cancel(); <-done })
	code, _, err := c.Offer(w.t.Context(), name)
	require.NoError(w.t, err)
	joining := w.run([]string{"join", code})
	found, err := c.Candidate(w.t.Context(), name)
	require.NoError(w.t, err)
	w.until("the fingerprint is shown", func() bool { return fingerprint.FindString(joining.log.String()) == found.Fingerprint })
	_, err = c.Decide(w.t.Context(), found.Code, found.Fingerprint, true)
	require.NoError(w.t, err)
	w.until("the machine has joined", joining.over)
	require.Zero(w.t, joining.cmd.ProcessState.ExitCode(), joining.log)
	return c, hub
}

// startHost runs the sessions of the world's machine for its chat.
func (w *world) startHost() {
	w.t.Helper()
	b := w.run([]string{"host", "run"})
	w.until("the machine is ready", b.ready)
}

// reaches repeats a call until its machine answers: one that is busy may count as away.
func (w *world) reaches(what string, call func() error) {
	w.t.Helper()
	w.until(what, func() bool {
		err := call()
		if err != nil {
			require.ErrorIs(w.t, err, refusal.ErrUnreachable)
		}
		return err == nil
	})
}

// TestP8_SessionOnAnotherMachine: a chat starts a session on another machine, loses the machine and
// the hub, and ends the session.
func TestP8_SessionOnAnotherMachine(t *testing.T) {
	inShortRun(t, "the hub and a second machine")
	t.Parallel()
	w := newWorld(t)
	w.env = slices.DeleteFunc(w.env, func(v string) bool {
		return strings.HasPrefix(v, "TELEGRAM_") || strings.HasPrefix(v, "ALLOWED_")
	})
	alone := w.run([]string{"host", "run"})
	w.until("a machine without a chat ends", alone.over)
	assert.Equal(t, 2, alone.cmd.ProcessState.ExitCode())
	assert.Contains(t, alone.log.String(), "this machine has not joined a chat: `ccbot join CODE` does that")
	chat, hub := w.joinChat("B")
	var m *machine.Machine
	state := func(id uuid.UUID) port.State {
		s, _ := m.Records.Get(id)
		return s.State
	}
	w.startHost()
	m = chat.Machines()["B"]
	w.until("the machine is reached", func() bool { _, err := m.Records.List(); return err == nil })
	start := func() (s port.Session) {
		w.reaches("a session starts", func() (err error) {
			s, err = m.Sessions.Start(t.Context(), port.Start{Name: "api", Dir: w.dir, Conversation: address.Conversation{ChatID: 1}, Owner: 1, Origin: "u-1"})
			return err
		})
		return s
	}
	s := start()
	w.until("the session runs", func() bool { return state(s.ID) == port.StateRunning })
	w.until("the chat has the news", func() bool { return has[news.Ready](chat, s.ID) })
	assert.Equal(t, []string{"api"}, w.windows())

	w.kill9()
	_, err := m.Records.List()
	require.Error(t, err)
	assert.Equal(t, port.StateUnknown, state(s.ID), "it may have ended")
	w.startHost()
	w.until("the machine is reached", func() bool { _, err := m.Records.List(); return err == nil })
	w.until("the session runs", func() bool { return state(s.ID) == port.StateRunning })
	assert.Equal(t, s.ID, start().ID, "the same request starts one session")

	hub.kill()
	require.NoError(t, os.RemoveAll(filepath.Join(hub.dir, "store")))
	hub.start()
	w.until("the machine is reached", func() bool { _, err := m.Records.List(); return err == nil })
	w.reaches("the session is known", func() error {
		status, err := m.Sessions.Inspect(t.Context(), s.ID)
		if err == nil {
			assert.Contains(t, status, s.ID)
		}
		return err
	})
	w.until("the session is archived", func() bool {
		return state(s.ID) == port.StateArchived || m.Sessions.Archive(t.Context(), s.ID, port.StateArchived, port.Cause{}) == nil && state(s.ID) == port.StateArchived
	})
	w.until("the chat has the receipt", func() bool { return has[news.Stopped](chat, s.ID) })
	w.stop()
}
