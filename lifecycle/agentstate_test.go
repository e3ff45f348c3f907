package lifecycle

import (
	"context"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	coding "ccbot/agent"
	"ccbot/agent/claude"
	"ccbot/agent/claude/presence"
	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/lifecycle/dialog"
	"ccbot/lifecycle/view"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/tmux/tmuxtest"
)

// A view without a reading of the presence file proves nothing, even if the screen shows a free
// box.
func TestP6_ZeroStateIsUnknown(t *testing.T) {
	v := view.View{Now: viewtest.Noon, Agent: process.Alive, Fate: view.PaneOurs, Captured: true,
		Screen: coding.Screen{Box: coding.Box{Present: true, Empty: true, Whole: true}}}
	assert.Equal(t, talk.PhaseUnknown, v.Phase())
	assert.False(t, v.TypeSafe())
}

// The presence file of another process with the same pid does not date the agent's state.
func TestP6_OtherProcesssFileIsNotAgents(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.settled()
		a.set(func(a *agent) { a.silent = true })
		before := w.Observer.View(w.ctx, r)
		a.set(func(a *agent) { a.silent, a.strange, a.since = false, true, time.Now() })
		after := w.Observer.View(w.ctx, r)
		assert.Equal(t, talk.PhaseIdle, after.Phase())
		assert.False(t, after.IsFresh(5*time.Second))
		after.Now = before.Now
		assert.Equal(t, before, after)
	})
}

// If the presence file cannot be read, the question on the screen may still come to the chat as a
// request.
func TestP6_UnreadableStateMayAskChat(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.settled()
		a.asks(askBash("touch x"))
		a.set(func(a *agent) { a.unreadable = presence.ErrTorn })
		w.Wake(r.ID)
		w.pass(dialog.RelayGrace - time.Second)
		assert.Zero(t, toldOf[news.Dialog](w.news), "its hook may come")
		w.pass(time.Minute)
		assert.Equal(t, 1, toldOf[news.Dialog](w.news))
	})
}

// TestSilentAgentIsNoted: a server that is stopped does not answer in its time. /health counts it until it answers.
func TestSilentAgentIsNoted(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.settled()
		ended, end := context.WithCancel(w.ctx)
		end()
		was := w.Observer.Now
		is := func(ctx context.Context, spent time.Duration, err error) bool {
			a.set(func(a *agent) { a.unreadable = err })
			now := was()
			w.Observer.Now = func() time.Time {
				now = now.Add(spent)
				return now
			}
			defer func() { w.Observer.Now = was }()
			w.Observer.View(ctx, r)
			return w.Observer.IsSilent(r.ID)
		}
		assert.False(t, is(w.ctx, 0, presence.ErrTorn))
		assert.False(t, is(ended, 0, context.Canceled), "the look was too short to know")
		assert.True(t, is(w.ctx, 2*time.Second, context.DeadlineExceeded))
		assert.True(t, is(ended, 0, context.Canceled), "as before")
		assert.False(t, is(w.ctx, 2*time.Second, nil))
		gone := &net.OpError{Op: "dial", Net: "unix", Err: syscall.ENOENT}
		assert.True(t, is(w.ctx, 0, fmt.Errorf("appserver: %w", gone)), "its socket was removed")
		assert.True(t, is(ended, 0, gone), "as before")
		assert.False(t, is(w.ctx, 0, nil))
		assert.False(t, is(ended, 0, gone), "the look was too short to know")
	})
}

// A process with an unreadable presence file may be a launcher: its agents are also bound.
func TestP6_UnreadableFileMayBeOfLauncher(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		line := []string{"claude", "--session-id", r.AgentSessionID.String()}
		w.processes.Change(a.id.PID, func(p *process.Process) { p.Args = append([]string{"sh", "/opt/begin"}, line[1:]...) })
		a.set(func(a *agent) { a.unreadable = presence.ErrTorn })
		child := w.processes.StartNow(777, line, tabletest.Below(a.id.PID))
		w.presences.claim(presence.File{PID: 777, ProcStart: child.Start, SessionID: r.AgentSessionID})
		var bound []process.Identity
		w.order.onPoint(func(name string) {
			if name == "ended" {
				bound = w.get(r.ID).Bound
			}
		})
		w.archive(r)
		w.order.onPoint(nil)
		assert.Contains(t, bound, child)
		assert.False(t, w.processes.Alive(child))
	})
}

// An agent whose last state cannot be read may have waited for a person: its session does not
// continue by itself.
func TestP6_UnreadableLastStateContinuesNotAlone(t *testing.T) {
	for _, unreadable := range []bool{false, true} {
		inWorld(t, func(t *testing.T, w *world) {
			r, a := w.settled()
			w.becomes(a, presence.Busy)
			w.write(r, datedLine(time.Now(), "do it"))
			w.Wake(r.ID)
			w.pass(time.Second)
			if unreadable {
				a.set(func(a *agent) { a.unreadable = presence.ErrTorn })
			}
			w.tmux.die(a, tmuxtest.Exit{Signal: 9})
			w.pass(time.Minute)
			over := w.get(r.ID)
			require.NotNil(t, over.Unfinished())
			assert.Equal(t, !unreadable, ContinuesAlone(over, claude.Starter{}))
		})
	}
}
