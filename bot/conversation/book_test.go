package conversation

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"ccbot/port"
	"ccbot/port/refusal"
)

// lateViews are the sessions of a machine that answers a second after the start.
type lateViews struct {
	port.Views
	answers time.Time
}

func (v lateViews) List() ([]port.Session, error) {
	if time.Now().Before(v.answers) {
		return nil, refusal.ErrUnreachable
	}
	return make([]port.Session, 1), nil
}

// TestP5_MachineIsReadOnceItAnswers: answers on a machine that answers shortly after the chat's
// start do not wait for the long pause between two attempts.
func TestP5_MachineIsReadOnceItAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &Book{Records: lateViews{answers: time.Now().Add(time.Second)}}
		ctx, cancel := context.WithTimeout(t.Context(), longestReadAgain/2)
		defer cancel()
		var known int
		b.ReadAll(ctx, func(all []port.Session) { known = len(all) })
		assert.Equal(t, 1, known)
	})
}
