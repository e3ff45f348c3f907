package lifecycle

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// Recovery's changes are reported later in one message: until then the record notes that they were
// not.
func TestP8_RecoveryMarksSessionsUnreported(t *testing.T) {
	tests := []struct {
		name string
		end  func(w *world, id uuid.UUID) error
		want session.State
		why  string
	}{
		{"lost", func(w *world, id uuid.UUID) error {
			w.edit(id, func(r *session.Record) { r.Binding.Agent.Boot = "another" })
			return w.Settle(w.ctx, id, "recovery.mark_lost")
		}, session.Lost, "its pane and its process are gone"},
		{"abandoned", func(w *world, id uuid.UUID) error {
			return w.Abandon(w.ctx, id, "recovery.abandon", "both are gone", session.ClosedReboot)
		}, session.Abandoned, "both are gone"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r := w.crashed()
				w.prompts.put(typing.Prompt{Key: "k", Text: viewtest.Said, Class: talk.ClassPlain, State: typing.Typing, Mark: &talk.Mark{At: time.Now()}})
				w.edit(r.ID, func(r *session.Record) { r.Prompts = []string{"k", "next"} })
				w.prompts.put(typing.Prompt{Key: "next", Text: "next", Class: talk.ClassPlain, State: typing.Held})
				require.NoError(t, tc.end(w, r.ID))
				got := w.get(r.ID)
				assert.Equal(t, tc.want, got.State)
				assert.Equal(t, session.ClosedReboot, got.ClosedReason)
				assert.True(t, got.Unreported)
				assert.Nil(t, got.Binding)
				assert.False(t, got.EndedAt.IsZero())
				last := got.History[len(got.History)-1]
				assert.Equal(t, session.Change{At: last.At, From: session.Running, To: tc.want, Rule: "recovery." + last.Rule[len("recovery."):], Why: tc.why}, last)
				assert.Equal(t, typing.Unproven, w.prompts.state("k"), "prompts are settled as ever")
				assert.Equal(t, []string{"k", "next"}, got.Prompts)
				assert.Zero(t, toldOf[news.Lost](w.news)+toldOf[news.Failed](w.news)+toldOf[news.Ended](w.news))

				w.restart()
				assert.True(t, w.get(r.ID).Unreported)
				require.NoError(t, w.Reported(w.ctx, r.ID))
				reported := w.get(r.ID)
				assert.False(t, reported.Unreported)
				require.NoError(t, w.Reported(w.ctx, r.ID))
				assert.Equal(t, reported, w.get(r.ID), "once more is not even written")
			})
		})
	}
}

// A bot that runs tells at once.
func TestP8_SeenLossIsReportedImmediately(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.tmux.ClosePaneByHand(a.pane)
		w.processes.Exit(a.id.PID)
		w.pass(time.Minute)
		got := w.get(r.ID)
		assert.Equal(t, session.Lost, got.State)
		assert.False(t, got.Unreported)
		assert.Equal(t, 1, toldOf[news.Lost](w.news))
	})
}

func TestP6_UnprovenSessionIsNotLost(t *testing.T) {
	tests := []struct {
		name          string
		spoil         func(w *world, r session.Record)
		lost, abandon error
	}{
		{"its agent lives", func(w *world, r session.Record) {
			w.edit(r.ID, func(r *session.Record) { r.Binding.Agent = w.processes.StartNow(777, []string{"claude"}) })
		}, ErrChanged, ErrChanged},
		{"nobody knows", func(w *world, r session.Record) {
			w.processes.Hide(r.Binding.Agent.PID, errors.New("permission denied"))
		}, ErrChanged, nil},
		{"it was never identified", func(w *world, r session.Record) {
			w.edit(r.ID, func(r *session.Record) { r.Binding.Agent = process.Identity{PID: r.Binding.Agent.PID} })
		}, nil, nil},
		{"it is bound to nothing", func(w *world, r session.Record) {
			w.edit(r.ID, func(r *session.Record) { r.Binding = nil })
		}, nil, nil},
	}
	for _, tc := range tests {
		for name, do := range map[string]func(w *world, id uuid.UUID) error{
			"lost":      func(w *world, id uuid.UUID) error { return w.Settle(w.ctx, id, "test") },
			"abandoned": func(w *world, id uuid.UUID) error { return w.Abandon(w.ctx, id, "test", "stale", "") },
		} {
			t.Run(tc.name+", "+name, func(t *testing.T) {
				inWorld(t, func(t *testing.T, w *world) {
					r := w.crashed()
					tc.spoil(w, r)
					want := tc.lost
					if name == "abandoned" {
						want = tc.abandon
					}
					err := do(w, r.ID)
					if want != nil {
						require.ErrorIs(t, err, want)
						assert.Equal(t, session.Running, w.get(r.ID).State)
						return
					}
					require.NoError(t, err)
					assert.Equal(t, session.State(name), w.get(r.ID).State)
				})
			})
		}
	}
}

// It was unknown whether its agent lives; it does. It is not ended without a decision, and no
// second agent is started.
func TestP6_AbandonedSessionsAgentIsSpared(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.write(r, userLine("hello"))
		w.stop()
		w.processes.Hide(a.id.PID, errors.New("permission denied"))
		require.NoError(t, w.Abandon(w.ctx, r.ID, "recovery.abandon", "no sign of life", ""))
		w.processes.Hide(a.id.PID, nil)
		writers := w.survey().Writers[r.ID]
		require.Len(t, writers, 1)
		assert.Equal(t, a.id, writers[0].Identity)
		assert.Equal(t, evidence.Second, writers[0].Standing)
		assert.True(t, writers[0].Adoptable())
		_, err := w.EndLeftovers(w.ctx, r.ID, testRule)
		require.NoError(t, err)
		_, err = w.restoreIt(r.ID)
		var refused *WriterError
		require.ErrorAs(t, err, &refused)
		assert.Empty(t, w.processes.Signalled())

		w.edit(r.ID, func(r *session.Record) { r.SecondWriters = nil })
		got, err := w.transfer(r, a.id)
		require.NoError(t, err, "it goes on where it is")
		assert.Equal(t, a.id, got.Binding.Agent)
		assert.Zero(t, got.Binding.Shell)
	})
}

func TestAbandonAndClose(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.crashed()
		w.tmux.StopServer()
		require.NoError(t, w.Settle(w.ctx, r.ID, "test"))
		require.NoError(t, w.Reported(w.ctx, r.ID))
		before := w.get(r.ID)
		require.NoError(t, w.Abandon(w.ctx, r.ID, "test", "stale", ""))
		got := w.get(r.ID)
		assert.Equal(t, session.Abandoned, got.State)
		assert.Equal(t, session.ClosedTmux, got.ClosedReason)
		assert.False(t, got.Unreported, "that it was lost was told")
		assert.Equal(t, before.EndedAt, got.EndedAt)
		require.NoError(t, w.Close(w.ctx, r.ID, "test", "too old", session.ClosedStale))
		got = w.get(r.ID)
		assert.Equal(t, session.Abandoned, got.State)
		assert.Equal(t, session.ClosedStale, got.ClosedReason)
		assert.Equal(t, "too old", got.History[len(got.History)-1].Why)
		assert.True(t, got.State.HasEnded(), "a person may mean it all the same")

		require.NoError(t, w.Note(w.ctx, r.ID, "test", "a line"))
		got = w.get(r.ID)
		last := got.History[len(got.History)-1]
		assert.Equal(t, session.Change{At: last.At, From: session.Abandoned, To: session.Abandoned, Rule: "test", Why: "a line"}, last)
	})
}

func TestUnabandonableSessions(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.crashed()
		wrong := (*StateError)(nil)
		for _, state := range session.States() {
			w.edit(r.ID, func(r *session.Record) { r.State = state })
			if !state.Live() {
				require.NoError(t, w.Settle(w.ctx, r.ID, "test"), state)
			}
			if state != session.Running && state != session.Lost {
				require.ErrorAs(t, w.Abandon(w.ctx, r.ID, "test", "stale", ""), &wrong, state)
			}
			if state.Live() {
				require.ErrorAs(t, w.Close(w.ctx, r.ID, "test", "stale", session.ClosedStale), &wrong, state)
			}
			assert.Equal(t, state, w.get(r.ID).State)
		}
		for _, do := range []func(id uuid.UUID) error{
			func(id uuid.UUID) error { return w.Settle(w.ctx, id, "") },
			func(id uuid.UUID) error { return w.Abandon(w.ctx, id, "", "", "") },
			func(id uuid.UUID) error { return w.Close(w.ctx, id, "", "", "") },
			func(id uuid.UUID) error { return w.Note(w.ctx, id, "", "") },
		} {
			assert.ErrorIs(t, do(uuid.New()), session.ErrNotFound)
		}
		assert.NoError(t, w.Reported(w.ctx, uuid.New()), "nothing is left to note")
	})
}

// Pid, start and boot stay when a process executes another program: then the agent's state is
// unknown, and it is abandoned as unknown.
func TestP6_ReplacedAgentIsAbandonedAndSpared(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.stop()
		argv := []string{"claude", "--session-id", r.AgentSessionID.String()}
		w.edit(r.ID, func(r *session.Record) {
			r.Binding.Exe, r.Binding.ArgvDigest = "/opt/claude/bin", process.ArgvHash(argv)
		})
		w.processes.Change(a.id.PID, func(p *process.Process) { p.Exe, p.Args = "/opt/claude/bin", argv })
		require.ErrorIs(t, w.Abandon(w.ctx, r.ID, "test", "no sign of life", ""), ErrChanged)
		w.processes.Change(a.id.PID, func(p *process.Process) { p.Exe, p.Args = "/bin/bash", []string{"bash"} })
		require.NoError(t, w.Abandon(w.ctx, r.ID, "test", "no sign of life", ""))
		assert.Equal(t, session.Abandoned, w.get(r.ID).State)
		assert.True(t, w.get(r.ID).Unreported)
		assert.Empty(t, w.processes.Signalled())
	})
}
