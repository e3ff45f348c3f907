package pause

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestTimeoutEndsWithCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause, began := errors.New("no answer"), time.Now()
		ctx, cancel := Timeout(t.Context(), 10*time.Second, cause)
		defer cancel()
		<-ctx.Done()
		assert.Equal(t, 10*time.Second, time.Since(began))
		assert.Equal(t, cause, context.Cause(ctx))
	})
}

func TestCanceledTimeoutHasNoCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := Timeout(t.Context(), time.Second, errors.New("no answer"))
		cancel()
		time.Sleep(time.Minute)
		assert.Equal(t, context.Canceled, context.Cause(ctx))
	})
}

// The program is stopped for a minute in the third of its steps.
func TestStopIsNoPartOfTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, ended := time.Now(), make(chan struct{})
		now := func() time.Time {
			if since := time.Since(began); since >= 3*time.Second {
				return began.Add(since + time.Minute)
			}
			return time.Now()
		}
		countdown{ctx: t.Context(), end: func() { close(ended) }, step: time.Second, now: now}.run(timeoutSteps)
		<-ended
		assert.Equal(t, (timeoutSteps+1)*time.Second, time.Since(began), "the third step is repeated")
	})
}
