package running

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"ccbot/bot/conversation"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/engine"
	"ccbot/cmd/ccbot/exit"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/port"
)

// aside runs fn as a verb that finds no bot does.
func aside(t *testing.T, environ []string, fn func(context.Context, *system) error) error {
	t.Helper()
	c, err := config.Load(environ)
	require.NoError(t, err)
	s, err := begin(t.Context(), c, "cli", "/bin/true", environ, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer s.end()
	return s.alone(t.Context(), fn)
}

// TestP8_RecoveryOutlivesItsCaller: Ctrl-C in the terminal ends the command. The recovery is
// done all the same, the chat gets its report, and the metrics count it.
func TestP8_RecoveryOutlivesItsCaller(t *testing.T) {
	environ := machine(t)
	err := aside(t, environ, func(ctx context.Context, s *system) error {
		assert.False(t, s.Recovery.Since.IsZero(), "it knows which launches are this ccbot's")
		assert.Nil(t, s.Recovery.Notify, "the chat is the bot's to tell")
		s.Lasting = engine.LastingIn(ctx)
		r := one(1, "api", func(r *session.Record) {
			r.State, r.EndedAt, r.Conversation = session.Running, time.Time{}, session.Conversation{ChatID: 1}
		})
		require.NoError(t, s.Store.Create(r))

		asked, gone := context.WithCancel(ctx)
		defer gone()
		s.Recovery.Failpoint = func(point string) {
			if point == "recovery-noted" {
				gone()
			}
		}
		did, err := s.RecoverAgain(asked)
		require.NoError(t, err)
		require.Error(t, asked.Err())
		require.Len(t, did.Actions, 1)
		assert.Empty(t, did.Actions[0].Error)
		now, _ := s.Store.Get(r.ID)
		assert.Equal(t, session.Lost, now.State)
		assert.False(t, now.Unreported, "the chat was told")
		assert.Contains(t, folder(t, filepath.Join(s.Dir, "outbox")), "api")

		before := s.Store.List()
		_, err = s.RecoverAgain(asked)
		require.ErrorIs(t, err, context.Canceled, "what nobody waits for is not begun")
		assert.Equal(t, before, s.Store.List())
		return nil
	})
	require.NoError(t, err)
}

// The recovery ends with the run, even if its caller still waits.
func TestP8_RecoveryEndsWithRun(t *testing.T) {
	run, stop := context.WithCancel(t.Context())
	lasting, done := engine.LastingIn(run)(t.Context())
	defer done()
	require.NoError(t, lasting.Err())
	stop()
	<-lasting.Done()
}

// TestP1_OfTwoResumesOneWins: one from the chat, one from the command line, at once. The other one
// is refused because the session is open, and there is one window.
func TestP1_OfTwoResumesOneWins(t *testing.T) {
	r := one(1, "api", func(r *session.Record) { r.Dir, r.AgentSessionID = t.TempDir(), uuid.New() })
	environ := machine(t, r)
	err := aside(t, environ, func(ctx context.Context, s *system) error {
		var fromChat, fromHere error
		var g errgroup.Group
		g.Go(func() error {
			_, fromChat = s.Lifecycle.Restore(ctx, port.Restore{Session: r.ID})
			return nil
		})
		g.Go(func() error {
			_, fromHere = s.resume(ctx, r.ID)
			return nil
		})
		require.NoError(t, g.Wait())
		assert.NotEqual(t, fromChat == nil, fromHere == nil, "one wins: %v, %v", fromChat, fromHere)
		if fromHere == nil {
			state := (*lifecycle.StateError)(nil)
			assert.ErrorAs(t, fromChat, &state)
		}
		_, again := s.resume(ctx, r.ID)
		require.ErrorContains(t, again, "api is already open. In a terminal: tmux -L ")

		panes, err := s.Tmux.Panes(ctx)
		require.NoError(t, err)
		windows := 0
		for _, p := range panes {
			if strings.HasSuffix(p.Tag, r.ID.String()) {
				windows++
			}
		}
		assert.Equal(t, 1, windows)
		return nil
	})
	require.NoError(t, err)
}

// A session resumed in the terminal becomes the chat's current session unless another one is open.
// Without a running bot its message waits and is not lost.
func TestResumeInTerminalBecomesCurrent(t *testing.T) {
	here := session.Conversation{ChatID: 1}
	in := func(r *session.Record) { r.Dir, r.Conversation = t.TempDir(), here }
	before, api, web := one(1, "before", in), one(2, "api", in), one(3, "web", in)
	environ := machine(t, before, api, web)
	err := aside(t, environ, func(ctx context.Context, s *system) error {
		require.NoError(t, s.bot.SetCurrent(here, before.ID))
		back, err := s.resume(ctx, api.ID)
		require.NoError(t, err)
		assert.Equal(t, "it continues in its chat", back.Chat)
		back, err = s.resume(ctx, web.ID)
		require.NoError(t, err)
		assert.Equal(t, "in its chat api stays the current one, /list there switches", back.Chat)
		chats, err := conversation.Open(filepath.Join(s.Dir, "chats"), filepath.Join(s.Dir, "quarantine"), s.Log)
		require.NoError(t, err)
		current := chats.Current(here)
		assert.Equal(t, api.ID, current)
		assert.Contains(t, folder(t, filepath.Join(s.Dir, "cards")), "Resuming web")
		assert.NotEmpty(t, folder(t, filepath.Join(s.Dir, "outbox")))
		return nil
	})
	require.NoError(t, err)
}

// TestHangingTmuxIsNamed: a start logs the server and the remedy.
func TestHangingTmuxIsNamed(t *testing.T) {
	t.Parallel()
	environ := machine(t)
	c, err := config.Load(environ)
	require.NoError(t, err)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	defer log.Close()
	s, err := begin(t.Context(), c, "cli", "/bin/true", environ, slog.New(slog.NewTextHandler(log, nil)))
	require.NoError(t, err)
	defer s.end()
	pid := serverOf(t, s)
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	defer func() { require.NoError(t, syscall.Kill(pid, syscall.SIGCONT)) }()

	err = s.alone(t.Context(), func(context.Context, *system) error { return nil })
	require.ErrorContains(t, err, "tmux does not answer (server -L "+c.TmuxSocket+"). Look with `tmux -L "+c.TmuxSocket+" ls`")
	assert.Equal(t, exit.Failure, exit.Code(err))
	said, err := os.ReadFile(log.Name())
	require.NoError(t, err)
	assert.Contains(t, string(said), `level=WARN msg=tmux_does_not_answer server="tmux -L `+c.TmuxSocket)
}

// serverOf starts a system's tmux server, and returns its process.
func serverOf(t *testing.T, s *system) (pid int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var g errgroup.Group
	g.Go(func() error { return s.Tmux.Run(ctx) })
	require.NoError(t, s.Tmux.Ensure(ctx))
	server, err := s.Tmux.Server(ctx)
	require.NoError(t, err)
	stop()
	require.NoError(t, g.Wait())
	return server.PID
}

// TestP9_AgentsAreRefusedWithoutBot: this process is one, as far as can be seen.
func TestP9_AgentsAreRefusedWithoutBot(t *testing.T) {
	r := one(1, "api")
	environ := machine(t, r)
	c, err := config.Load(environ)
	require.NoError(t, err)
	s, err := begin(t.Context(), c, "cli", "/bin/true", environ, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer s.end()
	require.NoError(t, s.Store.Do(t.Context(), r.ID, func(r *session.Record, save func() error) error {
		r.State, r.Binding = session.Running, &session.Binding{Agent: s.Table.Self()}
		return save()
	}))
	err = s.alone(t.Context(), func(context.Context, *system) error { return errors.New("it was done") })
	require.EqualError(t, err, "an agent may not do this")
}

// TestP8_ForgettingOutlivesItsCaller, and a second call for a removed record succeeds.
func TestP8_ForgettingOutlivesItsCaller(t *testing.T) {
	r := one(1, "api")
	environ := machine(t, r)
	require.NoError(t, aside(t, environ, func(ctx context.Context, s *system) error {
		s.Lasting = engine.LastingIn(ctx)
		asked, gone := context.WithCancel(ctx)
		clear := s.Keeper.Clear
		s.Keeper.Clear = func(ctx context.Context, r session.Record) error {
			gone()
			return clear(ctx, r)
		}
		require.NoError(t, s.Forget(asked, r.ID))
		require.Error(t, s.Forget(asked, r.ID), "what nobody waits for is not begun")
		_, there := s.Store.Get(r.ID)
		assert.False(t, there)
		require.NoError(t, s.Forget(ctx, r.ID), "once more is nothing")
		return nil
	}))
}
