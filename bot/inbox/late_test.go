package inbox

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestP4_LatenessByTelegramsClock(t *testing.T) {
	sent := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name               string
		answered, received time.Time
		want               time.Duration
	}{
		{"this clock is ahead", sent.Add(time.Second), sent.Add(3 * time.Hour), time.Second},
		{"this clock is behind", sent.Add(time.Hour), sent.Add(-2 * time.Hour), time.Hour},
		{"an answer without a date", time.Time{}, sent.Add(3 * time.Hour), 3 * time.Hour},
		{"clocks of Telegram's that differ a little", sent.Add(-time.Minute), sent.Add(3 * time.Hour), -time.Minute},
		{"a date before the message", sent.Add(-time.Hour), sent.Add(3 * time.Hour), 3 * time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, Entry{Sent: sent, Answered: tt.answered, Received: tt.received}.Lateness())
		})
	}
	assert.Zero(t, Entry{Sent: time.Unix(0, 0), Answered: sent, Received: sent}.Lateness(), "it is not known when it was sent")
}

// sinceStart is a clock that began with the test; after a boot it knows no moment.
type sinceStart struct {
	began  time.Time
	booted bool
	asleep time.Duration
}

func (c sinceStart) Uptime() time.Duration { return time.Since(c.began) - c.asleep }
func (c sinceStart) Now() string           { return time.Since(c.began).String() }
func (c sinceStart) Since(moment string) (time.Duration, bool) {
	then, err := time.ParseDuration(moment)
	return time.Since(c.began) - then, err == nil && !c.booted
}

// TestP4_EntryHasItsAnswersDate: the date and the moment of receipt survive a restart.
func TestP4_EntryHasItsAnswersDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, tg := filepath.Join(t.TempDir(), "inbox"), newTelegram()
		date := time.Now().Add(-3 * time.Hour).Truncate(time.Second)
		tg.answer = func(w http.ResponseWriter, _ int) bool {
			w.Header().Set("Date", date.UTC().Format(http.TimeFormat))
			return false
		}
		tg.deliver(message(1, 5, "a"))
		r := newRig(t, dir, tg, handlerFunc(func(context.Context, string, *models.Update) error { return ErrLater }))
		c := sinceStart{began: time.Now()}
		r.store.Clock = c
		stop := r.start(t)
		synctest.Wait()
		stop()
		store, err := OpenStore(dir, r.log.logger())
		require.NoError(t, err)
		e, err := store.Load("1")
		require.NoError(t, err)
		assert.True(t, date.Equal(e.Answered), e.Answered)
		time.Sleep(time.Hour)
		store.Clock, e.Received = c, e.Received.Add(-3*time.Hour) // the wall clock was set
		assert.Equal(t, time.Hour, store.Age(e))
		store.Clock = sinceStart{booted: true}
		assert.Equal(t, 4*time.Hour, store.Age(e).Round(time.Minute))
	})
}

func TestClockThatDiffersIsReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg := newTelegram()
		ahead, undated := 3*time.Hour, false
		tg.answer = func(w http.ResponseWriter, n int) bool {
			switch {
			case undated:
			case n == 1: // a date that another machine noted shortly before
				w.Header().Set("Date", time.Now().Add(-maxSkew).UTC().Format(http.TimeFormat))
			default:
				w.Header().Set("Date", time.Now().Add(-ahead).UTC().Format(http.TimeFormat))
			}
			return false
		}
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, &journal{})
		r.reports.clockFail = errors.New("full disk")
		next := func(id int64) {
			tg.deliver(message(id, 5, "a"))
			synctest.Wait()
		}
		stop := r.start(t)
		for id := range int64(5) {
			next(id + 1)
		}
		undated = true
		next(6)
		undated = false
		next(7)
		stop()
		assert.Equal(t, []time.Duration{3 * time.Hour, 3 * time.Hour}, r.reports.clock, "and once more because it could not be told")
	})
}
