package lifecycle

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port"
	"ccbot/port/talk"
	"ccbot/tmux"
)

// attach shows a session's window in a terminal whose last key was pressed before ago; negative:
// never.
func (w *world) attach(a *agent, ago time.Duration, readOnly bool) {
	w.t.Helper()
	p, err := w.tmux.Fake.Pane(w.ctx, a.pane)
	require.NoError(w.t, err)
	tty := w.tmux.Attach(tmux.Viewer{Window: p.Window, ReadOnly: readOnly})
	if ago >= 0 {
		w.tmux.PressAt(tty, time.Now().Add(-ago))
	}
}

func TestLookAtTheDesk(t *testing.T) {
	tests := []struct {
		name string
		desk func(w *world, a *agent)
		want view.Attachment
	}{
		{"nobody", func(*world, *agent) {}, view.Detached},
		{"another window is shown", func(w *world, _ *agent) {
			w.tmux.Attach(tmux.Viewer{Window: w.tmux.AddWindow("work", "mine").Window})
		}, view.Detached},
		{"attached, no key yet", func(w *world, a *agent) { w.attach(a, -1, false) }, view.Attached},
		{"attached, a key long ago", func(w *world, a *agent) { w.attach(a, 5*time.Minute+time.Second, false) }, view.Attached},
		{"a key a moment ago", func(w *world, a *agent) { w.attach(a, time.Second, false) }, view.PersonTyping},
		{"a key in a terminal that may only look on", func(w *world, a *agent) { w.attach(a, time.Second, true) }, view.Attached},
		{"two terminals, one typing", func(w *world, a *agent) {
			w.attach(a, time.Second, false)
			w.attach(a, time.Hour, false)
		}, view.PersonTyping},
		{"a terminal that draws tmux itself", func(w *world, a *agent) {
			p, err := w.tmux.Fake.Pane(w.ctx, a.pane)
			require.NoError(w.t, err)
			w.tmux.AttachControl(p.Window)
		}, view.Attached},
		{"tmux does not say", func(w *world, _ *agent) { w.tmux.Fail("Viewers", tmux.ErrLost) }, view.AttachmentUnknown},
		{"the pane is not known", func(w *world, _ *agent) { w.tmux.Fail("Pane", tmux.ErrLost) }, view.AttachmentUnknown},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.stop()
				tc.desk(w, a)
				assert.Equal(t, tc.want, w.Observer.Inspector(w.ctx)(r).Attachment)
			})
		})
	}
}

func TestLookHasBackgroundWork(t *testing.T) {
	tests := []struct {
		name string
		run  func(w *world, a *agent)
		want bool
		n    int
	}{
		{"nothing", func(*world, *agent) {}, false, 0},
		{"a helper in the agent's own session", func(w *world, a *agent) {
			w.processes.StartNow(901, []string{"caffeinate"}, tabletest.Below(a.id.PID), func(p *process.Process) { p.SID = a.id.PID })
		}, false, 0},
		{"a command", func(w *world, a *agent) { w.processes.StartNow(901, []string{"bash"}, tabletest.Below(a.id.PID)) }, true, 1},
		{"a command with its own", func(w *world, a *agent) {
			w.processes.StartNow(901, []string{"bash"}, tabletest.Below(a.id.PID))
			w.processes.StartNow(902, []string{"make"}, tabletest.Below(901))
			w.processes.StartNow(903, []string{"bash"}, tabletest.Below(a.id.PID))
		}, true, 2},
		{"a command below a helper", func(w *world, a *agent) {
			w.processes.StartNow(901, []string{"helper"}, tabletest.Below(a.id.PID), func(p *process.Process) { p.SID = a.id.PID })
			w.processes.StartNow(902, []string{"make"}, tabletest.Below(901))
		}, true, 1},
		{"a command that has ended", func(w *world, a *agent) {
			w.processes.StartNow(901, []string{"bash"}, tabletest.Below(a.id.PID), func(p *process.Process) { p.State = 'Z' })
		}, false, 0},
		{"nobody knows", func(w *world, _ *agent) {
			w.processes.FailSnapshots(errors.New("/proc is not readable"))
		}, true, 0},
		{"the agent is not seen", func(w *world, a *agent) { w.processes.Exit(a.id.PID) }, true, 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.stop()
				tc.run(w, a)
				look := w.Observer.Inspector(w.ctx)(r)
				assert.Equal(t, []any{tc.want, tc.n}, []any{look.Background, look.Commands})
			})
		})
	}
}

func TestSingleScanServesAllSessions(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var all []session.Record
		for range 3 {
			r, _ := w.started()
			all = append(all, r)
		}
		w.stop()
		before := w.processes.Scanned()
		lookAt := w.Observer.Inspector(w.ctx)
		for _, r := range all {
			l := lookAt(r)
			assert.Equal(t, talk.PhaseIdle, l.Phase)
			assert.Equal(t, []int{r.Binding.Agent.PID}, l.PIDs, "the memory is summed up without another look")
		}
		assert.Equal(t, 1, w.processes.Scanned()-before)
	})
}

// The latest sign of life, from either side.
func TestLookHasLastActivity(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		assert.Equal(t, r.ActiveAt, w.Observer.Inspector(w.ctx)(r).Active)
		w.pass(time.Minute)
		w.write(r, userLine("hello"))
		said := time.Now().Add(time.Hour)
		require.NoError(t, os.Chtimes(w.transcript(r.AgentSessionID), said, said))
		assert.True(t, said.Equal(w.Observer.Inspector(w.ctx)(r).Active), "the transcript")
		w.held(r, "k", "hello")
		assert.True(t, said.Equal(w.Observer.Inspector(w.ctx)(w.get(r.ID)).Active))
	})
}

func TestLookAtWhatIsOver(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		assert.Equal(t, view.Status{Phase: talk.PhaseUnknown}, w.Observer.Inspector(w.ctx)(r))
		assert.False(t, w.Observer.Inspector(w.ctx)(r).Quiet())
	})
}

// ---- ArchiveQuiet

func TestP3_QuietSessionIsArchivedWithReason(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		seen := w.Observer.Inspector(w.ctx)(r).Active
		w.pass(6 * time.Hour)
		require.NoError(t, w.ArchiveQuiet(w.ctx, r.ID, port.Silence{Since: seen, Quiet: 6 * time.Hour, Cause: port.Cause{Why: "nothing has happened"}}))
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.False(t, w.processes.Alive(a.id))
		require.Equal(t, 1, toldOf[ending.Receipt](w.news))
		assert.Equal(t, 6*time.Hour, lastOf[ending.Receipt](w.news).Quiet)
	})
}

func TestP6_UnknownSessionIsNotArchived(t *testing.T) {
	tests := []struct {
		name  string
		life  bool // it is a sign of life; or it fails one call, which a look before would use up
		spoil func(w *world, r session.Record, a *agent)
	}{
		{"a prompt waits", false, func(w *world, r session.Record, a *agent) {
			a.set(func(a *agent) { a.box = "mine" })
			w.held(r, "k", viewtest.Said)
		}},
		{"a person has to decide about a prompt", false, func(w *world, r session.Record, _ *agent) {
			w.prompts.put(typing.Prompt{Key: "k", Text: viewtest.Said, State: typing.Unproven, Mark: &talk.Mark{}})
			w.edit(r.ID, func(r *session.Record) { r.Prompts = []string{"k"} })
		}},
		{"it works", false, func(_ *world, _ session.Record, a *agent) { a.set(works) }},
		{"it waits for an answer", false, func(_ *world, _ session.Record, a *agent) {
			a.set(func(a *agent) { a.dialog, a.status = true, presence.Waiting })
		}},
		{"its phase is unknown", false, func(_ *world, _ session.Record, a *agent) {
			a.set(func(a *agent) { a.silent, a.hidden = true, true })
		}},
		{"its presence file is unreadable", false, func(_ *world, _ session.Record, a *agent) {
			a.set(func(a *agent) { a.unreadable = presence.ErrTorn })
		}},
		{"tmux does not answer", true, func(w *world, _ session.Record, _ *agent) { w.tmux.Fail("Server", tmux.ErrLost) }},
		{"it is not known whether it lives", false, func(w *world, _ session.Record, _ *agent) {
			w.processes.HideLiveness(true)
		}},
		{"a terminal shows it", false, func(w *world, _ session.Record, a *agent) { w.attach(a, -1, false) }},
		{"a person types there", false, func(w *world, _ session.Record, a *agent) { w.attach(a, 0, false) }},
		{"nobody knows who looks on", true, func(w *world, _ session.Record, _ *agent) { w.tmux.Fail("Viewers", tmux.ErrLost) }},
		{"it has a schedule of its own", false, func(w *world, r session.Record, _ *agent) {
			w.edit(r.ID, func(r *session.Record) { r.Binding.Schedules = 1 })
		}},
		{"a command runs in the background", false, func(w *world, _ session.Record, a *agent) {
			w.processes.StartNow(901, []string{"make"}, tabletest.Below(a.id.PID))
		}},
		{"the processes cannot be read", false, func(w *world, _ session.Record, _ *agent) {
			w.processes.FailSnapshots(errors.New("/proc is not readable"))
		}},
		{"the record has changed", true, func(w *world, r session.Record, _ *agent) {
			w.edit(r.ID, func(r *session.Record) { r.Name = "other" })
		}},
		{"the transcript has grown", true, func(w *world, r session.Record, _ *agent) {
			w.write(r, userLine("hello"))
			now := time.Now()
			require.NoError(w.t, os.Chtimes(w.transcript(r.AgentSessionID), now, now))
		}},
		{"it is starting", false, func(w *world, r session.Record, _ *agent) {
			w.edit(r.ID, func(r *session.Record) { r.State = session.Starting })
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				seen := w.Observer.Inspector(w.ctx)(r).Active
				w.pass(6 * time.Hour)
				w.stop()
				tc.spoil(w, r, a)
				if !tc.life { // then it is not for what has happened since
					seen = w.Observer.Inspector(w.ctx)(w.get(r.ID)).Active
				}
				err := w.ArchiveQuiet(w.ctx, r.ID, port.Silence{Since: seen, Quiet: 6 * time.Hour, Cause: port.Cause{Why: "nothing has happened"}})
				require.ErrorIs(t, err, ErrChanged)
				assert.True(t, w.get(r.ID).State.Live())
				assert.Empty(t, w.processes.Signalled())
				assert.Zero(t, toldOf[ending.Receipt](w.news))
			})
		})
	}
}

func TestP3_OnlyRunningSessionIsArchivedQuiet(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		err := w.ArchiveQuiet(w.ctx, r.ID, port.Silence{Since: time.Now(), Quiet: time.Hour, Cause: port.Cause{Why: "nothing has happened"}})
		require.ErrorIs(t, err, ErrChanged)
		assert.Equal(t, r, w.get(r.ID))
		err = w.ArchiveQuiet(w.ctx, uuid.New(), port.Silence{Since: time.Now(), Quiet: time.Hour, Cause: port.Cause{Why: "nothing has happened"}})
		assert.ErrorIs(t, err, session.ErrNotFound)
	})
}

// Its terminal is the person's: an unwatched one proves nothing. A pane that ccbot made, with an
// adopted agent left in it, is ccbot's to close.
func TestP2_PersonsQuietAgentStays(t *testing.T) {
	for name, left := range map[string]bool{"in a person's window": false, "in a window that ccbot has made": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				id := uuid.New()
				w.write(session.Record{AgentSessionID: id}, assistantLine)
				a := w.tmux.inOwnWindow(resume(id)...)
				if left {
					w.tmux.Change(a.pane, tagged("4f0c/"+uuid.NewString()))
				}
				r, err := w.Adopt(w.ctx, orphanOf(*w.windowsOf(a.pane)[0].Agent))
				require.NoError(t, err)
				w.pass(time.Second)
				l := w.Observer.Inspector(w.ctx)(w.get(r.ID))
				require.True(t, l.Quiet())
				w.pass(6 * time.Hour)
				err = w.ArchiveQuiet(w.ctx, r.ID, port.Silence{Since: w.Observer.Inspector(w.ctx)(w.get(r.ID)).Active, Quiet: 6 * time.Hour, Cause: port.Cause{Why: "nothing has happened"}})
				assert.Equal(t, !left, errors.Is(err, ErrChanged))
				assert.Equal(t, !left, w.processes.Alive(a.id))
			})
		})
	}
}

// No terminal was attached to an adopted pane's window when its agent was suspended: an unseen
// agent is not idle.
func TestLookAtSuspendedAdoptedAgent(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.adopted()
		w.tmux.suspend(h)
		assert.True(t, w.Observer.View(w.ctx, w.get(r.ID)).InBackground)
		h.set(func(a *agent) { a.silent = true })
		assert.Equal(t, talk.PhaseUnknown, w.Observer.Inspector(w.ctx)(w.get(r.ID)).Phase)
	})
}

// A program can make its pane as large as tmux allows, and fill it.
func TestP6_EndlessScreenIsUnseen(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		assert.True(t, w.Observer.View(w.ctx, r).Captured)
		a.set(func(a *agent) { a.box = strings.Repeat("x", 1<<20) })
		v := w.Observer.View(w.ctx, r)
		assert.Equal(t, view.PaneOurs, v.Fate)
		assert.False(t, v.Captured)
		assert.Empty(t, v.Styled)
	})
}
