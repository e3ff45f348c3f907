package lifecycle

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/internal/naming"
	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

// look into the windows of some panes.
func (w *world) windowsOf(panes ...tmux.PaneID) []evidence.Window {
	w.t.Helper()
	all, err := w.tmux.Fake.Panes(w.ctx)
	require.NoError(w.t, err)
	var windows []tmux.WindowID
	for _, p := range all {
		if slices.Contains(panes, p.ID) {
			windows = append(windows, p.Window)
		}
	}
	found, err := w.Evidence.Windows(w.ctx, slices.DeleteFunc(all, func(p tmux.Pane) bool { return !slices.Contains(windows, p.Window) }))
	require.NoError(w.t, err)
	return found
}

func pids(all []process.Process) (pids []int) {
	for _, p := range all {
		pids = append(pids, p.PID)
	}
	return pids
}

func TestWindowsAreDescribed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		id := uuid.New()
		h := w.tmux.byHand(resume(id)...)
		w.processes.StartNow(771, []string{"make"}, tabletest.Below(h.id.PID))     // goes with the agent
		w.processes.StartNow(772, []string{"sleep"}, tabletest.Below(h.shell.PID)) // stays
		w.processes.StartNow(773, []string{"vim"}, inTerminal(h.shell.PID, h.shell.PID))
		w.processes.StartNow(774, []string{"cat"}, tabletest.Below(h.shell.PID), func(p *process.Process) { p.State = 'Z' })
		split := w.tmux.Split(h.pane)
		second := w.processes.StartNow(w.tmux.Fake.Process(split).PID, []string{"bash"})
		other := w.tmux.byHand("vim")
		w.tmux.Change(other.pane, tagged("4f0c/"+uuid.NewString()))

		all := w.windowsOf(h.pane, other.pane)
		require.Len(t, all, 2)
		first := all[0]
		assert.Equal(t, h.pane, first.Pane.ID)
		assert.False(t, first.Ours)
		require.NotNil(t, first.Agent)
		assert.Equal(t, h.id, first.Agent.Identity)
		assert.Equal(t, id, first.Agent.AgentSessionID)
		assert.Equal(t, "/src", first.Agent.Cwd)
		assert.True(t, first.Agent.Adoptable())
		assert.ElementsMatch(t, []int{h.shell.PID, 772, 773, second.PID}, pids(first.Others))
		assert.Nil(t, all[1].Agent)
		assert.True(t, all[1].Ours)
		assert.ElementsMatch(t, []int{other.shell.PID, other.id.PID}, pids(all[1].Others))
		assert.Empty(t, w.Store.List())
	})
}

func TestP2_WindowsAgentIsForegroundWriter(t *testing.T) {
	id := uuid.New()
	silent := func(a *agent) { a.silent = true }
	tests := []struct {
		name  string
		argv  []string
		spoil func(w *world, h hand)
		want  bool
	}{
		{"presence", []string{"claude", "--continue"}, func(_ *world, h hand) { h.set(func(a *agent) { a.session = id }) }, true},
		{"hook", []string{"claude"}, func(w *world, h hand) { h.set(silent); w.bindings.claim(h.id, id) }, true},
		{"command line", resume(id), func(_ *world, h hand) { h.set(silent) }, true},
		{"nothing is known of it", []string{"claude"}, func(_ *world, h hand) { h.set(silent) }, false},
		{"evidence that contradicts itself", resume(id), func(w *world, h hand) { w.bindings.claim(h.id, uuid.New()) }, false},
		{"a presence file that cannot be read", resume(id), func(_ *world, h hand) {
			h.set(func(a *agent) { a.unreadable = presence.ErrTorn })
		}, false},
		{"no agent", []string{"vim"}, func(_ *world, h hand) { h.set(silent) }, false},
		{"one that prints an answer", append(resume(id), "-p"), func(*world, hand) {}, false},
		{"one that prints, in one word", []string{"claude", "-pr", id.String()}, func(_ *world, h hand) { h.set(silent) }, false},
		{"in the background", resume(id), func(w *world, h hand) { w.tmux.suspend(h) }, false},
		{"two of them", resume(id), func(w *world, h hand) {
			w.tmux.inShell(w.tmux.Split(h.pane), resume(uuid.New())...)
		}, false},
		{"one in another window", resume(id), func(w *world, _ hand) { w.tmux.byHand(resume(uuid.New())...) }, true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				h := w.tmux.byHand(tc.argv...)
				tc.spoil(w, h)
				all := w.windowsOf(h.pane)
				require.Len(t, all, 1)
				if !tc.want {
					assert.Nil(t, all[0].Agent)
					return
				}
				require.NotNil(t, all[0].Agent)
				assert.Equal(t, h.id, all[0].Agent.Identity)
				assert.Equal(t, id, all[0].Agent.AgentSessionID)
				assert.True(t, all[0].Agent.Proven)
			})
		})
	}
}

// The pid of an ended process may be reused.
func TestP2_DeadPaneHoldsNoProcess(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		h := w.tmux.byHand("true")
		w.tmux.quit(h)
		w.processes.Exit(h.shell.PID)
		w.tmux.Fake.End(h.pane, tmuxtest.Exit{})
		w.processes.StartNow(h.shell.PID, resume(uuid.New()), inTerminal(99, 99))
		all := w.windowsOf(h.pane)
		require.Len(t, all, 1)
		assert.Nil(t, all[0].Agent)
		assert.Empty(t, all[0].Others)
	})
}

func TestP6_UnreadableWindowsAreError(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		h := w.tmux.byHand(resume(uuid.New())...)
		panes, err := w.tmux.Fake.Panes(w.ctx)
		require.NoError(t, err)
		w.presences.fail(errors.New("permission denied"))
		_, err = w.Evidence.Windows(w.ctx, panes)
		require.ErrorIs(t, err, evidence.ErrUnreadable)
		assert.True(t, w.processes.Alive(h.id))
	})
}

// ---- adopting what no session had

func orphanOf(one evidence.Writer) AdoptRequest {
	return AdoptRequest{Agent: one.Identity, AgentSessionID: one.AgentSessionID, Confirmed: true, Owner: 7,
		Conversation: session.Conversation{ChatID: -9, ThreadID: 2}, Rule: "chat.adopt"}
}

func TestP1_OrphanWindowBecomesSession(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		id := uuid.New()
		w.write(session.Record{AgentSessionID: id}, assistantLine)
		h := w.tmux.byHand(resume(id)...)
		taken, err := w.Start(w.ctx, port.Start{Dir: w.request().Dir, Name: "mine"})
		require.NoError(t, err)
		q := orphanOf(*w.windowsOf(h.pane)[0].Agent)
		r, err := w.Adopt(w.ctx, q)
		require.NoError(t, err)
		assert.Equal(t, "mine-2", r.Name, "the window's, and free")
		assert.Equal(t, "/src", r.Dir)
		assert.Equal(t, q.Conversation, r.Conversation)
		assert.Equal(t, int64(7), r.Owner)
		assert.Equal(t, id, r.AgentSessionID)
		assert.Equal(t, session.Rule("chat.adopt"), r.History[0].Rule)
		assert.Contains(t, r.History[0].Why, "presence")
		require.Len(t, r.Cursors, 1)
		assert.NotZero(t, r.Cursors[0].Offset, "what was said before is history")
		assert.Zero(t, toldOf[news.Transferred](w.news))
		again, err := w.Adopt(w.ctx, q)
		require.NoError(t, err)
		assert.Equal(t, r.ID, again.ID)
		require.Len(t, w.Store.List(), 2)
		w.held(r, "k", viewtest.Said)
		w.pass(1e9)
		assert.Equal(t, []string{viewtest.Said}, h.heard())
		assert.NotEqual(t, taken.ID, r.ID)
	})
}

// tmux bounds no name of a window.
func TestOrphanWindowsNameIsShortened(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		id := uuid.New()
		w.write(session.Record{AgentSessionID: id}, assistantLine)
		h := w.tmux.inShell(w.tmux.Fake.AddWindow("work", strings.Repeat("я", 5000)).ID, resume(id)...)
		r, err := w.Adopt(w.ctx, orphanOf(*w.windowsOf(h.pane)[0].Agent))
		require.NoError(t, err)
		assert.Equal(t, strings.Repeat("я", naming.MaxName), r.Name)
	})
}

func TestP1_UnprovenWindowIsNotSession(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(w *world, h hand, q *AdoptRequest)
		want  error
	}{
		{"no conversation", func(_ *world, _ hand, q *AdoptRequest) { q.AgentSessionID = uuid.Nil }, ErrChanged},
		{"another one", func(_ *world, _ hand, q *AdoptRequest) { q.AgentSessionID = uuid.New() }, ErrChanged},
		{"its pid is another's", func(_ *world, _ hand, q *AdoptRequest) { q.Agent.Start++ }, ErrChanged},
		{"of another boot", func(_ *world, _ hand, q *AdoptRequest) { q.Agent.Boot = "another" }, ErrChanged},
		{"nobody", func(_ *world, _ hand, q *AdoptRequest) { q.Agent = process.Identity{} }, ErrChanged},
		{"in the background", func(w *world, h hand, _ *AdoptRequest) { w.tmux.suspend(h) }, ErrNoTerminal},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				h := w.tmux.byHand(resume(uuid.New())...)
				q := orphanOf(*w.windowsOf(h.pane)[0].Agent)
				tc.spoil(w, h, &q)
				_, err := w.Adopt(w.ctx, q)
				require.ErrorIs(t, err, tc.want)
				assert.Empty(t, w.Store.List())
			})
		})
	}
}

// A running session has the conversation: only that session is chosen.
func TestP1_OpenSessionsOrphanIsNotAdopted(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		_, h := w.wentOn()
		_, err := w.Adopt(w.ctx, orphanOf(*w.windowsOf(h.pane)[0].Agent))
		var refused *WriterError
		require.ErrorAs(t, err, &refused)
		assert.Len(t, w.Store.List(), 1)
	})
}

// [Archive] of an orphan: adopt, then archive.
func TestP2_ArchivedOrphanClosesOnlyItsPane(t *testing.T) {
	own, others := "4f0c/"+uuid.NewString(), "other/"+uuid.NewString()
	tests := []struct {
		name   string
		tag    string
		shell  bool
		closes bool
	}{
		{"a window that this ccbot has made", own, false, true},
		{"its shell stays", own, true, false},
		{"nobody's", "", false, false},
		{"one that becomes another ccbot's", others, false, false},
	}
	for _, tc := range tests {
		for _, how := range []process.How{process.HowTerm, process.HowKill} {
			t.Run(tc.name+", "+string(how), func(t *testing.T) {
				inWorld(t, func(t *testing.T, w *world) {
					id := uuid.New()
					var a *agent
					if tc.shell {
						a = w.tmux.byHand(resume(id)...).agent
					} else {
						a = w.tmux.inOwnWindow(resume(id)...)
					}
					beside := w.tmux.Split(a.pane)
					if tc.tag == own {
						w.tmux.Change(a.pane, tagged(tc.tag))
						w.tmux.Change(beside, tagged(tc.tag))
					}
					r, err := w.Adopt(w.ctx, orphanOf(*w.windowsOf(a.pane)[0].Agent))
					require.NoError(t, err)
					w.tmux.Change(a.pane, tagged(tc.tag))
					w.processes.YieldsTo(a.id.PID, how)
					receipt := w.archive(r)
					assert.Equal(t, session.Archived, w.get(r.ID).State, receipt.Failures)
					assert.False(t, w.processes.Alive(a.id))
					assert.Equal(t, []process.Identity{a.id}, w.processes.Signalled())
					assert.Equal(t, !tc.closes, receipt.Adopted, "the receipt says whether the window stays")
					_, err = w.tmux.Fake.Pane(w.ctx, beside)
					require.NoError(t, err, "a person has split it off")
					_, err = w.tmux.Fake.Pane(w.ctx, a.pane)
					if tc.closes {
						require.ErrorIs(t, err, tmux.ErrNoPane)
						return
					}
					assert.NoError(t, err)
				})
			})
		}
	}
}

// The session that had the conversation keeps what waits for it: the agent in the
// window is only to end.
func TestP4_ArchivedOrphanGetsNoText(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		old, h := w.goneOn()
		w.prompts.put(typing.Prompt{Key: "k", Text: viewtest.Said, Class: talk.ClassPlain, State: typing.Held})
		w.edit(old.ID, func(r *session.Record) { r.Prompts = []string{"k"} })
		r, err := w.Adopt(w.ctx, orphanOf(*w.windowsOf(h.pane)[0].Agent))
		require.NoError(t, err)
		w.pass(time.Minute)
		w.archive(r)
		assert.Empty(t, h.heard())
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.False(t, w.processes.Alive(h.id))
		assert.Equal(t, []string{"k"}, w.get(old.ID).Prompts)
		assert.Equal(t, typing.Held, w.prompts.state("k"))
		assert.True(t, w.get(old.ID).State.HasEnded())
		_, err = w.restoreIt(old.ID)
		assert.NoError(t, err)
	})
}
