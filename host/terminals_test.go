package host

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port/talk"
)

// hangs is an Observer whose tmux does not answer.
type hangs struct {
	Observer
	waits int
}

func (h *hangs) Inspector(ctx context.Context) func(session.Record) view.Status {
	return func(session.Record) view.Status {
		if ctx.Err() == nil {
			h.waits++
		}
		<-ctx.Done()
		return view.Status{Phase: talk.PhaseUnknown}
	}
}

// A tmux that does not answer is waited for once, regardless of the number of sessions.
func TestP6_SilentTmuxIsCheckedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, r := &hangs{}, session.Record{ID: uuid.New(), State: session.Running}
		looks, err := Terminals{Agents: agents, Observer: h, Records: &records{r}}.Inspect(t.Context(), r.ID, r.ID, r.ID)
		require.NoError(t, err)
		assert.Equal(t, 1, h.waits)
		assert.Equal(t, talk.PhaseUnknown, looks[r.ID].Now.Phase)
	})
}
