package lifecycle

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/port"
)

// archived is a session that lived and was archived, with a transcript.
func (w *world) archived() session.Record {
	w.t.Helper()
	r, _ := w.started()
	w.write(r, userLine("earlier"))
	require.NoError(w.t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}))
	w.pass(time.Second)
	r = w.get(r.ID)
	require.Equal(w.t, session.Archived, r.State)
	return r
}

// Without a transcript there is nothing to resume: Claude Code would refuse.
func TestRestoreBeforeFirstPromptStartsNew(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		require.NoError(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}))
		r, err := w.restoreIt(r.ID)
		require.NoError(t, err)
		argv := w.tmux.Process(w.tmux.agentOf(r).pane).Spec.Argv
		assert.Equal(t, []string{"--session-id", r.AgentSessionID.String()}, argv[len(argv)-2:])
	})
}

func TestP1_RestoreRefusesPossibleWriter(t *testing.T) {
	byHand := func(argv ...string) func(w *world, r session.Record) {
		return func(w *world, r session.Record) {
			w.processes.StartNow(777, append(argv, r.AgentSessionID.String()))
		}
	}
	tests := []struct {
		name   string
		writer func(w *world, r session.Record)
		answer process.Answer
	}{
		{"resumed by hand", byHand("claude", "--resume"), process.Yes},
		{"by its presence file, whatever its command line says", func(w *world, r session.Record) {
			id := w.processes.Start(777, []string{"claude", "--continue"})
			w.presences.claim(presence.File{PID: 777, ProcStart: id.Start, SessionID: r.AgentSessionID})
		}, process.Yes},
		{"by a hook", func(w *world, r session.Record) {
			id := w.processes.Start(777, []string{"claude"})
			w.bindings.claim(id, r.AgentSessionID)
		}, process.Yes},
		{"presence and hook contradict each other", func(w *world, r session.Record) {
			id := w.processes.Start(777, []string{"claude"})
			w.presences.claim(presence.File{PID: 777, ProcStart: id.Start, SessionID: uuid.New()})
			w.bindings.claim(id, r.AgentSessionID)
		}, process.Maybe},
		{"a presence file that does not say its start", func(w *world, r session.Record) {
			w.processes.Start(777, []string{"claude"})
			w.presences.claim(presence.File{PID: 777, SessionID: r.AgentSessionID})
		}, process.Maybe},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r := w.archived()
				tc.writer(w, r)
				before := len(w.order.all())
				_, err := w.restoreIt(r.ID)
				var refused *WriterError
				require.ErrorAs(t, err, &refused)
				require.Len(t, refused.Writers, 1)
				assert.Equal(t, 777, refused.Writers[0].PID)
				assert.Equal(t, tc.answer == process.Yes, refused.Writers[0].Proven)
				assert.NotContains(t, w.order.all()[before:], "new-window")
				assert.Equal(t, session.Archived, w.get(r.ID).State, "a refusal changes nothing")
				assert.Empty(t, w.processes.Signalled()[1:], "nobody else is ended")
			})
		})
	}
}

func TestP1_RestoreRefusesUnreadableProcesses(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		w.processes.FailSnapshots(errors.New("/proc is not readable"))
		_, err := w.restoreIt(r.ID)
		assert.Error(t, err)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.Empty(t, w.tmux.windows())
	})
}

// Without the presence files a process that has moved to this conversation
// (/clear, /resume, --continue) cannot be seen.
func TestP1_RestoreRefusesUnreadableEvidence(t *testing.T) {
	for _, which := range []string{"presence files", "hook bindings"} {
		t.Run(which, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r := w.archived()
				w.processes.Start(777, []string{"claude", "--continue"})
				if which == "presence files" {
					w.presences.fail(errors.New("presence: list: permission denied"))
				} else {
					w.bindings.set(func(b *bindings) { b.errs = []error{errors.New("permission denied")} })
				}
				_, err := w.restoreIt(r.ID)
				assert.Error(t, err)
				assert.Empty(t, w.tmux.windows())
			})
		})
	}
}

func TestP1_NonWriterDoesNotRefuse(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		id := r.AgentSessionID.String()
		w.processes.Start(771, []string{"tail", "-f", id + ".jsonl"})
		w.processes.Start(772, []string{"bash", "-c", "claude --resume " + id})
		w.processes.Start(773, []string{"claude", "--resume", id, "--fork-session"})
		w.processes.Start(774, []string{"vim", "--resume", id})
		_, err := w.restoreIt(r.ID)
		assert.NoError(t, err)
	})
}

func TestP1_OnlyWhatIsOverIsRestored(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		_, err := w.restoreIt(r.ID)
		var wrong *StateError
		require.ErrorAs(t, err, &wrong)
		assert.Equal(t, session.Running, wrong.State)
		assert.Len(t, w.tmux.windows(), 1)
		_, err = w.restoreIt(uuid.New())
		assert.ErrorIs(t, err, session.ErrNotFound)
	})
}

func TestP1_TwoRestoresMakeOneWindow(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		errs := make([]error, 4)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { _, errs[i] = w.restoreIt(r.ID) })
		}
		wg.Wait()
		assert.Len(t, slices.DeleteFunc(errs, func(err error) bool { return err == nil }), 3)
		assert.Len(t, w.tmux.windows(), 1)
		assert.Equal(t, session.Restoring, w.get(r.ID).State)
	})
}

func TestFailedRestoreKeepsOrigin(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		w.tmux.Fail("NewWindow", errors.New("broken"))
		_, err := w.restoreIt(r.ID)
		require.Error(t, err)
		got := w.get(r.ID)
		assert.Equal(t, session.Failed, got.State)
		assert.Equal(t, session.Archived, got.RestoredFrom)
		assert.Equal(t, r.AgentSessionID, got.AgentSessionID)
		require.Len(t, got.Cursors, 1)
		assert.Equal(t, r.Cursors[0].Path, got.Cursors[0].Path)
		_, err = w.restoreIt(r.ID)
		assert.NoError(t, err, "and may be tried again")
	})
}
