package lifecycle

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
	"ccbot/tmux"
)

// onDisk returns the records as they are on disk.
func (w *world) onDisk() map[string]string {
	w.t.Helper()
	all := make(map[string]string)
	paths, err := filepath.Glob(filepath.Join(w.base, "state", "sessions", "*"))
	require.NoError(w.t, err)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(w.t, err)
		all[filepath.Base(path)] = string(data)
	}
	return all
}

// personVerbs are the verbs that a person asks for.
var personVerbs = []struct {
	name string
	over bool // the session is archived
	call func(w *world, r session.Record) error
}{
	{"start", false, func(w *world, _ session.Record) error { _, err := w.Start(w.ctx, w.request()); return err }},
	{"resume", true, func(w *world, r session.Record) error { _, err := w.restoreIt(r.ID); return err }},
	{"kill", false, func(w *world, r session.Record) error {
		return w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked for"})
	}},
	{"done", false, func(w *world, r session.Record) error {
		return w.Archive(w.ctx, r.ID, session.Completed, port.Cause{Why: "asked for"})
	}},
	{"stop", false, func(w *world, r session.Record) error { return interrupted(w, r) }},
	{"dialog", false, func(w *world, r session.Record) error { _, err := w.Dialog(w.ctx, r.ID); return err }},
	{"key", false, func(w *world, r session.Record) error { _, err := w.Press(w.ctx, r.ID, "m", "up"); return err }},
	{"option", false, func(w *world, r session.Record) error { _, err := w.Choose(w.ctx, r.ID, "m", 0); return err }},
	{"screen", false, func(w *world, r session.Record) error { _, err := w.Screen(w.ctx, r.ID, port.KeyOn{}); return err }},
	{"key on a screen", false, func(w *world, r session.Record) error {
		_, err := w.Screen(w.ctx, r.ID, port.KeyOn{Key: "up", Fingerprint: "m"})
		return err
	}},
	{"mode", false, func(w *world, r session.Record) error { _, err := w.Switch(w.ctx, r.ID, port.ModeChange{}); return err }},
	{"another mode", false, func(w *world, r session.Record) error {
		_, err := w.Switch(w.ctx, r.ID, port.ModeChange{Mode: "plan"})
		return err
	}},
	{"connect", false, func(w *world, r session.Record) error {
		_, err := w.Adopt(w.ctx, AdoptRequest{Agent: r.Agent(), AgentSessionID: uuid.New(), Confirmed: true})
		return err
	}},
	{"other writers", false, func(w *world, r session.Record) error { _, err := w.Writers(w.ctx, r.ID); return err }},
	{"send anyway", false, func(w *world, r session.Record) error { return w.SendAnyway(w.ctx, r.ID, "k") }},
	{"send now", false, func(w *world, r session.Record) error { _, err := w.SendNow(w.ctx, r.ID, "k"); return err }},
}

// Each verb of a person reports that tmux does not answer, and changes nothing.
func TestP6_VerbsDoNotConcludeFromSilence(t *testing.T) {
	for _, tc := range personVerbs {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				if tc.over {
					w.archive(r)
				}
				a.set(works)
				w.tmux.Hang()
				w.held(r, "k", viewtest.Said)
				w.pass(time.Hour)
				before, signals, heard := w.onDisk(), len(w.processes.Signalled()), len(w.order.all())
				require.ErrorIs(t, tc.call(w, w.get(r.ID)), view.ErrSilent)
				assert.Equal(t, before, w.onDisk())
				assert.Equal(t, typing.Held, w.prompts.state("k"))
				assert.Len(t, w.processes.Signalled(), signals)
				assert.Len(t, w.order.all(), heard, "nothing was begun, saved or told: %q", w.order.all()[heard:])
				w.pass(time.Hour)
				assert.Equal(t, w.get(r.ID).State, map[bool]session.State{true: session.Archived, false: session.Running}[tc.over])
				assert.Zero(t, toldOf[news.Lost](w.news))
			})
		})
	}
}

// tmux falls silent at any call of a verb: no end is concluded, no prompt is lost or typed twice,
// and the verb either reports the silence or is carried out when tmux answers.
func TestP6_VerbsIgnoreLaterSilence(t *testing.T) {
	for _, tc := range personVerbs {
		t.Run(tc.name, func(t *testing.T) {
			usual := "" // the error while tmux answers
			inWorld(t, func(t *testing.T, w *world) {
				r, _ := w.started()
				if tc.over {
					w.archive(r)
				}
				w.held(r, "k", viewtest.Said)
				if err := tc.call(w, w.get(r.ID)); err != nil {
					usual = err.Error()
				}
			})
			for calls, more := 0, true; more; calls++ {
				inWorld(t, func(t *testing.T, w *world) {
					r, a := w.started()
					if tc.over {
						w.archive(r)
					}
					w.held(r, "k", viewtest.Said)
					alive := w.processes.Liveness(a.id)
					answers, hung := w.tmux.HangAfter(calls)
					err := tc.call(w, w.get(r.ID))
					more = hung()
					waits := w.prompts.state("k") == typing.Held
					typed := !waits && errors.Is(err, typing.ErrNoPrompt) // by a step, before tmux fell silent
					// A step may have met the silence, and not the verb.
					if more && err != nil && err.Error() != usual && !typed {
						require.ErrorIs(t, err, view.ErrSilent, "after %d calls", calls)
					}
					w.pass(time.Minute)
					state := w.get(r.ID).State
					if !tc.over && state.Live() && state != session.Stopping {
						assert.Equal(t, alive, w.processes.Liveness(a.id))
					}
					assert.Zero(t, toldOf[news.Lost](w.news))
					assert.Zero(t, toldOf[news.Ended](w.news))
					answers()
					w.pass(time.Hour)
					assert.NotEqual(t, session.Lost, w.get(r.ID).State)
					assert.LessOrEqual(t, len(a.heard()), 1)
				})
			}
		})
	}
}

// tmux falls silent at the key that takes a paste back: whether the box can be emptied stays
// unknown.
func TestP6_SilentKeyConcludesNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) {
			a.onPaste = func(a *agent) { a.dialog, a.status, a.onPaste = true, presence.Waiting, nil }
		})
		w.held(r, "k", viewtest.Said)
		w.pass(time.Minute)
		w.tmux.Fail("Press", fmt.Errorf("%w: %w", tmux.ErrNotSent, view.ErrSilent))
		a.set(func(a *agent) { a.dialog, a.status = false, presence.Idle })
		w.pass(15 * time.Second) // less than proofWait
		assert.Zero(t, toldOf[news.Unproven](w.news))
		assert.Equal(t, []string{viewtest.Said}, a.heard())
	})
}

// A stop that is on disk ends the proven agent, and another try closes its pane.
func TestP6_StopContinuesByProcesses(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.YieldsTo(a.id.PID, process.HowTerm)
		w.crash("stop-recorded", func() { _ = w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked for"}) })
		answers := w.tmux.Hang()
		require.Equal(t, session.Stopping, w.get(r.ID).State)
		require.NoError(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "an archive was interrupted"}))
		assert.Equal(t, process.Gone, w.processes.Liveness(a.id))
		assert.Equal(t, session.CleanupFailed, w.get(r.ID).State, "the pane is unknown")
		w.run()
		answers()
		w.pass(time.Hour)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.Empty(t, w.tmux.windows())
	})
}

// The socket of the tmux server was removed, or another server has made it again: the agents live,
// and no verb concludes anything else. Each is as it was when the server is found again.
func TestP6_RemovedSocketProvesNoEnd(t *testing.T) {
	for _, other := range []bool{false, true} {
		inWorld(t, func(t *testing.T, w *world) {
			r, a := w.started()
			lost := w.tmux.RemoveSocket
			if other {
				lost = w.tmux.ReplaceServer
			}
			found := lost()
			require.ErrorIs(t, interrupted(w, w.get(r.ID)), view.ErrSilent)
			w.held(r, "k", viewtest.Said)
			w.processes.Exit(a.id.PID) // an end that tmux does not show yet
			w.pass(time.Hour)
			assert.Equal(t, session.Running, w.get(r.ID).State)
			assert.Zero(t, toldOf[news.Lost](w.news)+toldOf[news.Ended](w.news))
			assert.Equal(t, typing.Held, w.prompts.state("k"))
			found()
			w.tmux.StopServer()
			w.pass(time.Hour)
			assert.Equal(t, session.Lost, w.get(r.ID).State)
		})
	}
}

// A prompt that waits while tmux is silent is reported once, and its file keeps no note: whether
// the agent shows something in its way was never seen.
func TestP6_SilenceIsNotNotedOnPrompts(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		answers := w.tmux.Hang()
		w.held(r, "k", viewtest.Said)
		w.pass(time.Hour)
		assert.Equal(t, 1, w.news.held(news.HeldUnknown))
		p, err := w.prompts.Prompt("k")
		require.NoError(t, err)
		assert.Empty(t, p.Reported)
		answers()
		w.pass(time.Minute)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
	})
}

// One late answer is not reported as a change: on a busy machine the next check must come by
// itself.
func TestP4_LateAnswerHoldsPromptShortly(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		answers := w.tmux.Hang()
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		answers()
		w.pass(2 * view.HoldPace)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
	})
}

// A restore whose window was never asked for changes nothing: the session is what it was, and can
// be resumed.
func TestP6_UnsentRestoreChangesNothing(t *testing.T) {
	for _, before := range []session.State{session.Archived, session.Completed} {
		inWorld(t, func(t *testing.T, w *world) {
			r, _ := w.started()
			require.NoError(t, w.Archive(w.ctx, r.ID, before, port.Cause{Why: "asked for"}))
			r = w.get(r.ID)
			w.tmux.Fail("NewWindow", fmt.Errorf("%w: %w", tmux.ErrNotSent, view.ErrSilent))
			_, err := w.restoreIt(r.ID)
			require.ErrorIs(t, err, view.ErrSilent)
			w.pass(time.Hour)
			now := w.get(r.ID)
			now.UpdatedAt, now.ActiveAt = r.UpdatedAt, r.ActiveAt
			assert.Equal(t, r, now)
			assert.Zero(t, toldOf[news.Failed](w.news))
			_, err = w.restoreIt(r.ID)
			require.NoError(t, err)
			w.pass(time.Minute)
			assert.Equal(t, session.Running, w.get(r.ID).State)
		})
	}
}

// The transcript of a session is left unread, because its read has ended ccbot: nothing is known of
// the session, so it is not ended, not called lost, not resumed, and nothing is typed.
func TestP6_UnreadSessionIsUnknown(t *testing.T) {
	for _, tc := range personVerbs {
		if slices.Contains([]string{"start", "connect", "dialog", "screen", "mode", "other writers"}, tc.name) { // they are about something else, or only look
			continue
		}
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.write(r, `{"type":"user"}`)
				if tc.over {
					w.archive(r)
				}
				w.Observer.Unread = func() []string { return []string{w.transcript(r.AgentSessionID)} }
				w.held(r, "k", viewtest.Said)
				before, signals := w.onDisk(), len(w.processes.Signalled())
				err := tc.call(w, w.get(r.ID))
				assert.True(t, refusal.Is(err, refusal.Unread), "%v", err)
				w.pass(time.Hour)
				w.processes.Exit(a.id.PID)
				w.pass(time.Hour)
				assert.Equal(t, before, w.onDisk())
				assert.Len(t, w.processes.Signalled(), signals)
				assert.Empty(t, a.heard())
				assert.Equal(t, typing.Held, w.prompts.state("k"))
			})
		})
	}
}
