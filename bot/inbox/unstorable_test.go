package inbox

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
)

// TestP4_UnstorableMessageWaits: it is reported once, its conversation does not overtake it, and
// other conversations and taps do not wait.
func TestP4_UnstorableMessageWaits(t *testing.T) {
	for _, tt := range []struct {
		name     string
		failures int
		reported int
	}{{"once", 1, 0}, {"twice", 2, 0}, {"for long", 200, 1}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tg, j := newTelegram(), &journal{}
				failures := tt.failures
				r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, handlerFunc(func(ctx context.Context, key string, u *models.Update) error {
					if key == "1" && failures > 0 {
						failures--
						return fmt.Errorf("write: %w", errors.Join(errors.New("disk full"), ErrLater))
					}
					return j.Handle(ctx, key, u)
				}))
				stop := r.start(t)
				tg.deliver(message(1, 5, "a"), message(2, 5, "b"), message(3, 6, "c"), tap(4, 5, 1, "x"))
				synctest.Wait()
				assert.ElementsMatch(t, []string{"3", "4"}, j.keys())
				time.Sleep(2 * time.Hour)
				assert.Equal(t, []string{"1", "2"}, j.keys()[2:])
				assert.Len(t, r.reports.all(), tt.reported)
				for _, f := range r.reports.all() {
					assert.True(t, f.Waits)
				}
				stop()
			})
		})
	}
}

// TestP4_WaitingMessageIsNeverGivenUp, regardless of kills.
func TestP4_WaitingMessageIsNeverGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "inbox")
		tg := newTelegram()
		tg.deliver(message(1, 5, "a"))
		for range 2 * mostTries {
			r := newRig(t, dir, tg, handlerFunc(func(context.Context, string, *models.Update) error { return ErrLater }))
			stop := r.start(t)
			time.Sleep(time.Minute)
			e, err := r.store.Load("1")
			assert.NoError(t, err)
			assert.Zero(t, e.Tries, "it has ended no program")
			assert.Len(t, r.reports.all(), 1)
			stop()
		}
		j := &journal{}
		r := newRig(t, dir, tg, j)
		stop := r.start(t)
		time.Sleep(time.Minute)
		stop()
		assert.Equal(t, []string{"1"}, j.keys())
	})
}

// TestP4_WaitingMessagesBlockNoOthers: other conversations continue, and so do those left by a
// crash.
func TestP4_WaitingMessagesBlockNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg, j := newTelegram(), &journal{}
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, handlerFunc(func(ctx context.Context, key string, u *models.Update) error {
			if u.Message.Chat.ID < 100 {
				return ErrLater
			}
			return j.Handle(ctx, key, u)
		}))
		for id := range int64(30) {
			tg.deliver(message(id+1, id+1, "cannot be kept"))
		}
		tg.deliver(message(31, 100, "can"))
		stop := r.start(t)
		time.Sleep(time.Hour)
		assert.Equal(t, []string{"31"}, j.keys())
		stop()
	})
}

// A tap that hangs blocks the next tap on its message, and messages only briefly.
func TestMessageSkipsHangingTap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg, p := newTelegram(), &tapper{decide: make(chan struct{})}
		close(p.decide)
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, p)
		tg.deliver(tap(1, 5, 100, "hangs then"), tap(2, 5, 100, "behind it"), message(3, 5, "/stop"))
		stop := r.start(t)
		time.Sleep(2 * tapTimeout)
		assert.Equal(t, []string{"1", "3"}, p.keys())
		stop()
	})
}
