package disktest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// turnInterval is the time between two turns.
const turnInterval = time.Second

// Turns is a Scenario of work that a loop, or a person who got an error, does again at each turn. A
// turn in which a call of class Reported fails must return an error.
type Turns struct {
	Prepare func(t *testing.T) (dir string)
	Turn    func() error
	Done    func(t *testing.T)

	fault *fault
}

// Begin implements Scenario.
func (w *Turns) Begin(t *testing.T) string { return w.Prepare(t) }

// Act begins the turns, which end with the test.
func (w *Turns) Act(t *testing.T) {
	ctx, began := t.Context(), time.Now()
	go func() {
		for ctx.Err() == nil {
			before := w.fault.count()
			err := w.Turn()
			if w.fault.reported && w.fault.count() > before {
				assert.Error(t, err, "a call has failed, and the caller has not returned that")
			}
			wait := turnInterval
			if time.Since(began) < w.fault.time { // each further turn would fail in the same way
				wait = w.fault.time / 3
			}
			select {
			case <-ctx.Done():
			case <-time.After(wait):
			}
		}
	}()
}

// Check implements Scenario.
func (w *Turns) Check(t *testing.T) { w.Done(t) }

// InOrder returns a turn that does tasks one after the other, each until it returns no error, as a
// person does.
func InOrder(tasks ...func() error) (turn func() error) {
	next := 0
	return func() error {
		for next < len(tasks) {
			if err := tasks[next](); err != nil {
				return err
			}
			next++
		}
		return nil
	}
}
