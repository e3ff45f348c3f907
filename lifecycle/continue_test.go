package lifecycle

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/news"
)

// foreign is a conversation that no record has.
func (w *world) foreign() uuid.UUID {
	id := uuid.New()
	w.writeRaw(session.Record{AgentSessionID: id}, `{"type":"user","uuid":"u1","permissionMode":"plan","message":{"role":"user","content":"earlier"}}`+"\n")
	return id
}

func TestStartContinuesFreeConversation(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		q := w.request()
		q.Continues = w.foreign()
		r, err := w.Start(w.ctx, q)
		require.NoError(t, err)
		assert.Equal(t, q.Continues, r.AgentSessionID)
		assert.Equal(t, []string{"--resume", q.Continues.String(), "--permission-mode", "plan"}, w.argvOf(r), "in the mode that it had")
		c, ok := r.Cursor()
		assert.True(t, ok)
		assert.Positive(t, c.Offset, "what was said before is history")
		w.report(r)
		w.pass(time.Second)
		assert.Equal(t, session.Running, w.get(r.ID).State)
		assert.Equal(t, 1, toldOf[news.Ready](w.news))

		q.Origin = "another"
		_, err = w.Start(w.ctx, q)
		require.ErrorIs(t, err, ErrChanged, "a session has it now")
		assert.Len(t, w.Store.List(), 1)
	})
}

func TestP1_StartContinuesNoWrittenConversation(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		q := w.request()
		q.Continues = w.foreign()
		w.processes.StartNow(777, resume(q.Continues))
		_, err := w.Start(w.ctx, q)
		var e *WriterError
		require.ErrorAs(t, err, &e)
		assert.Empty(t, w.Store.List())
		assert.Empty(t, w.tmux.windows())
	})
}

// A person may start an agent while ccbot still prepares the window: that process is not a leftover
// of a session that never had an agent.
func TestP2_EarlierWriterSurvivesNewSession(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		q := w.request()
		q.Continues = w.foreign()
		var quicker process.Identity
		w.order.onPoint(func(name string) {
			if name == "start-recorded" {
				quicker = w.processes.StartNow(777, resume(q.Continues))
			}
		})
		_, err := w.Start(w.ctx, q)
		var refused *WriterError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, quicker, refused.Writers[0].Identity)
		assert.Empty(t, w.processes.Signalled())
	})
}

func TestStartContinuesNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		q := w.request()
		q.Continues = uuid.New()
		_, err := w.Start(w.ctx, q)
		require.ErrorIs(t, err, ErrChanged)
		assert.Empty(t, w.Store.List())
	})
}

func TestStartWithModelAndMode(t *testing.T) {
	tests := []struct {
		name      string
		with      port.ModeChange
		continues bool
		want      []string // after the conversation
		refused   bool
	}{
		{"nothing", port.ModeChange{}, false, nil, false},
		{"a mode", port.ModeChange{Mode: port.ModePlan}, false, []string{"--permission-mode", "plan"}, false},
		{"a model", port.ModeChange{Model: "opus"}, false, []string{"--model", "opus"}, false},
		{"a mode for a conversation that had another", port.ModeChange{Mode: port.ModeManual}, true, []string{"--permission-mode", "default"}, false},
		{"a mode that asks nobody", port.ModeChange{Mode: port.ModeBypass}, false, nil, true},
		{"a model that is an option", port.ModeChange{Model: "--settings"}, false, nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				q := w.request()
				if q.With = tt.with; tt.continues {
					q.Continues = w.foreign()
				}
				r, err := w.Start(w.ctx, q)
				if tt.refused {
					require.Error(t, err)
					assert.Empty(t, w.Store.List())
					return
				}
				require.NoError(t, err)
				assert.Equal(t, append([]string{}, tt.want...), w.argvOf(r)[2:])
			})
		})
	}
}
