package host

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port/folders"
	"ccbot/port/refusal"
)

// TestOfferWaitsForOutcome: each outcome reaches the agent once, and only that of its own session.
func TestOfferWaitsForOutcome(t *testing.T) {
	session, cause := uuid.New(), errors.New("the disk is full")
	for _, tt := range []struct {
		name     string
		reported error
		outcome  *folders.Outcome // nil: none comes
		want     error
		code     refusal.Code
	}{
		{name: "taken", outcome: &folders.Outcome{Taken: true}},
		{name: "refused", outcome: &folders.Outcome{Code: string(refusal.NotTaken), Reason: "too big"}, code: refusal.NotTaken},
		{name: "failed", outcome: &folders.Outcome{}, want: errNotSent},
		{name: "not reported", reported: cause, want: cause},
		{name: "no answer", code: refusal.Unreachable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &Machine{Offers: new(Offers)}
				err := m.Offers.Offer(t.Context(), session, func(id uuid.UUID) error {
					require.NoError(t, m.Offered(t.Context(), uuid.New(), id, folders.Outcome{Taken: true}), "of another session")
					if tt.outcome != nil {
						require.NoError(t, m.Offered(t.Context(), session, id, *tt.outcome))
						require.NoError(t, m.Offered(t.Context(), session, id, folders.Outcome{Taken: true}), "a repetition")
					}
					return tt.reported
				})
				switch {
				case tt.code != "":
					assert.Equal(t, tt.code, refusal.In(err).Code)
				default:
					assert.ErrorIs(t, err, tt.want)
				}
				assert.Empty(t, m.Offers.waiting)
			})
		})
	}
}

// TestOfferEndsWithItsAgent: nothing waits for an agent that has gone.
func TestOfferEndsWithItsAgent(t *testing.T) {
	m := &Machine{Offers: new(Offers)}
	ctx, gone := context.WithCancel(t.Context())
	err := m.Offers.Offer(ctx, uuid.New(), func(uuid.UUID) error { gone(); return nil })
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, m.Offers.waiting)
}
