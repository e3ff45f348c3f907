package inbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHung(t *testing.T) {
	begun := time.Now()
	slept := func(d time.Duration) time.Time { // only the wall clock continues
		return begun.Round(0).Add(d)
	}
	const timeout = 50 * time.Second
	tests := []struct {
		name string
		now  time.Time
		want bool
	}{
		{"at once", begun, false},
		{"a long poll", begun.Add(timeout), false},
		{"at its own deadline", begun.Add(timeout + slack), false},
		{"at the limit", begun.Add(timeout + 2*slack), false},
		{"beyond it", begun.Add(timeout + 2*slack + 1), true},
		{"after a sleep of the machine", slept(time.Hour), true},
		{"the clock was set back", slept(-time.Hour), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, hung(begun, tt.now, timeout)) })
	}
}

// wedged is a transport that ignores the context until it is released.
type wedged struct {
	asked atomic.Int32
	free  chan struct{}
}

func (w *wedged) RoundTrip(*http.Request) (*http.Response, error) {
	w.asked.Add(1)
	<-w.free
	return nil, fmt.Errorf("too late")
}

// TestP4_HungPollIsAbandoned: a transport that never returns stops nothing. The next poll uses new
// connections, the running handler is not affected, and the old poll's updates are ignored.
func TestP4_HungPollIsAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg, stuck := newTelegram(), &wedged{free: make(chan struct{})}
		working, end := make(chan struct{}), make(chan struct{})
		var cut atomic.Bool
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, handlerFunc(func(ctx context.Context, key string, _ *models.Update) error {
			if key == "1" {
				close(working)
				<-end
				cut.Store(ctx.Err() != nil)
			}
			return nil
		}))
		var connects atomic.Int32
		r.intake.poller.connect = func() *http.Client { connects.Add(1); return &http.Client{Transport: tg} }
		tg.onPoll = func(offset int64) {
			if offset == 2 && connects.Load() == 0 {
				r.intake.poller.client.Transport = stuck // the poll after this one hangs
			}
		}
		tg.deliver(message(1, 5, "at work"))
		stop := r.start(t)
		<-working
		time.Sleep(51 * time.Second) // the poll with offset 2 ends empty
		tg.deliver(message(2, 6, "meanwhile"))
		time.Sleep(69 * time.Second)
		assert.EqualValues(t, 1, stuck.asked.Load())
		assert.Zero(t, connects.Load())
		time.Sleep(40 * time.Second)
		assert.EqualValues(t, 1, connects.Load())
		assert.Equal(t, 1, strings.Count(r.log.String(), "msg=poll_restarted"))
		assert.Equal(t, 1, strings.Count(r.log.String(), "msg=poll_recovered"))
		assert.Empty(t, tg.unconfirmed(), "the next poll took what came")
		close(stuck.free)
		synctest.Wait()
		close(end)
		synctest.Wait()
		assert.False(t, cut.Load(), "the handler was left alone")
		stop()
		assert.Equal(t, []string{"1.done", "2.done"}, files(t, r.dir))
	})
}

func TestHungPollDoesNotBlockStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := &wedged{free: make(chan struct{})}
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), newTelegram(), &journal{})
		r.intake.poller.client.Transport = stuck
		stop := r.start(t)
		time.Sleep(time.Second)
		stop()
		close(stuck.free)
	})
}

// leisurely is a transport that obeys the context, slowly.
type leisurely struct{ ended atomic.Int32 }

func (l *leisurely) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	time.Sleep(slack - time.Second)
	l.ended.Add(1)
	return nil, r.Context().Err()
}

func TestStopAwaitsThePoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &leisurely{}
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), newTelegram(), &journal{})
		r.intake.poller.client.Transport = slow
		stop := r.start(t)
		time.Sleep(time.Second)
		stop()
		assert.EqualValues(t, 1, slow.ended.Load())
	})
}

// TestPulse: a silent server does not make a loop stuck; an idle loop is stuck.
func TestPulse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg := newTelegram()
		var down atomic.Bool
		tg.answer = func(w http.ResponseWriter, _ int) bool {
			if down.Load() {
				fail(w, 502, "Bad Gateway", "")
			}
			return down.Load()
		}
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, &journal{})
		pulse := r.intake.cfg.Pulse
		_, goesOn, _ := pulse.State(time.Now())
		assert.False(t, goesOn, "nothing is known of it")
		stop := r.start(t)
		state := func() string {
			_, goesOn, failing := pulse.State(time.Now())
			return fmt.Sprintf("goes on %t, failing %t", goesOn, failing)
		}
		for range 100 {
			time.Sleep(time.Minute)
			require.Equal(t, "goes on true, failing false", state())
		}
		down.Store(true)
		time.Sleep(time.Minute)
		for range 600 {
			time.Sleep(time.Minute)
			require.Contains(t, state(), "goes on true")
		}
		down.Store(false)
		time.Sleep(2 * time.Minute)
		require.Equal(t, "goes on true, failing false", state())
		stop()
		time.Sleep(Silence + time.Minute)
		require.Equal(t, "goes on false, failing false", state())
	})
}

// TestPulseOfPollsThatHang: an abandoned poll has not ended. If all polls hang on any connection,
// the loop is stuck.
func TestPulseOfPollsThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := &wedged{free: make(chan struct{})}
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), newTelegram(), &journal{})
		r.intake.poller.client.Transport = stuck
		r.intake.cfg.Pulse.Beat(time.Now()) // of the getMe call
		stop := r.start(t)
		time.Sleep(Silence - time.Second)
		_, goesOn, _ := r.intake.cfg.Pulse.State(time.Now())
		assert.True(t, goesOn)
		time.Sleep(2 * time.Second)
		_, goesOn, _ = r.intake.cfg.Pulse.State(time.Now())
		assert.False(t, goesOn)
		assert.Greater(t, stuck.asked.Load(), int32(1))
		stop()
		close(stuck.free)
	})
}

func TestPulseRestsOnPurpose(t *testing.T) {
	var p Pulse
	now := time.Now()
	p.Beat(now)
	p.Rest(now, time.Hour)
	_, goesOn, failing := p.State(now.Add(time.Hour))
	assert.True(t, goesOn, "Telegram said: retry after an hour")
	assert.True(t, failing)
	_, goesOn, _ = p.State(now.Add(time.Hour + Silence + 1))
	assert.False(t, goesOn)
	p.Beat(now.Add(2 * time.Hour))
	_, goesOn, failing = p.State(now.Add(2*time.Hour + 1))
	assert.True(t, goesOn)
	assert.False(t, failing)
}

// TestP9_OldTapsAreNotHandled: a callback query has no date, so after a silence the waiting taps
// are only reported. Later taps count.
func TestP9_OldTapsAreNotHandled(t *testing.T) {
	tests := []struct {
		name   string
		seen   time.Duration // before the start; 0: unknown
		silent time.Duration // of Telegram, while it runs
		late   bool
	}{
		{"nothing is known", 0, 0, false},
		{"a quick restart", time.Minute, 0, false},
		{"after an hour", time.Hour, 0, true},
		{"a short silence", time.Minute, 30 * time.Second, false},
		{"a long silence", time.Minute, time.Hour, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tg, j := newTelegram(), &journal{}
				var down atomic.Bool
				tg.answer = func(w http.ResponseWriter, _ int) bool {
					if down.Load() {
						fail(w, 502, "Bad Gateway", "")
					}
					return down.Load()
				}
				r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, j)
				if tt.seen > 0 {
					r.intake.cfg.Seen = time.Now().Add(-tt.seen).Round(0)
				}
				old := func() { tg.deliver(tap(2, 5, 100, "old"), message(3, 5, "text")) }
				if tt.silent == 0 {
					old()
				}
				stop := r.start(t)
				synctest.Wait()
				if tt.silent > 0 {
					down.Store(true)
					time.Sleep(time.Minute) // the running poll ends
					old()
					time.Sleep(tt.silent)
					down.Store(false)
					time.Sleep(time.Minute)
				}
				synctest.Wait()
				tg.deliver(tap(4, 5, 100, "new"))
				synctest.Wait()
				if !tt.late {
					assert.ElementsMatch(t, []string{"2", "3", "4"}, j.keys())
					assert.Empty(t, r.reports.all())
				} else {
					assert.ElementsMatch(t, []string{"3", "4"}, j.keys())
					require.Len(t, r.reports.all(), 1)
					f := r.reports.all()[0]
					assert.True(t, f.Late && f.Tap)
					assert.Equal(t, "old", f.Update.CallbackQuery.Data)
				}
				stop()
			})
		})
	}
}

// TestP9_StrangersLeaveNoTrace: no file, marker, handler call, report or log line, also for
// undecodable updates; their updates are confirmed.
func TestP9_StrangersLeaveNoTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg, j := newTelegram(), &journal{}
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, j)
		var asked []string
		r.intake.cfg.IsAuthorized = func(_ string, person int64, chat models.Chat, _ json.RawMessage) (bool, error) {
			asked = append(asked, fmt.Sprint(person, " ", chat.ID, " ", chat.Type))
			return false, nil
		}
		var written []string
		tg.onPoll = func(int64) {
			list, err := os.ReadDir(r.dir)
			if err == nil && len(list) > 0 {
				written = append(written, list[0].Name())
			}
		}
		tg.deliver(message(1, 5, "hello"), tap(2, 5, 1, "kill:x"), poison(3, 5),
			`{"update_id":4,"callback_query":{"id":[],"from":{"id":77},"data":7}}`,
			`{"update_id":5,"edited_message":{"message_id":4,"from":{"id":77},"chat":{"id":-9,"type":"group"},"text":"x"}}`,
			`{"update_id":6,"channel_post":{"message_id":4,"chat":{"id":-9,"type":"channel"}}}`,
			`{"update_id":7,"message":{"message_id":"x","document":{},"from":{"id":77},"chat":{"id":77,"type":"private"}}}`)
		stop := r.start(t)
		time.Sleep(5 * time.Minute)
		stop()
		assert.Empty(t, j.keys())
		assert.Empty(t, r.reports.all())
		assert.Empty(t, written)
		assert.Empty(t, files(t, r.dir))
		assert.NoDirExists(t, filepath.Join(filepath.Dir(r.dir), "quarantine"))
		assert.Empty(t, r.log.String())
		assert.Empty(t, tg.unconfirmed())
		assert.Equal(t, []string{"77 5 private", "77 5 private", "77 5 private", "77 0 ", "77 -9 group", "0 -9 channel", "77 77 private"}, asked)
	})
}

// TestRivalPasses: after 409 the polls pause for at most 10 s at a time, until it passes. People
// get a message after a minute, and another one at the end.
func TestRivalPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg, j := newTelegram(), &journal{}
		var rival atomic.Bool
		rival.Store(true)
		tg.answer = func(w http.ResponseWriter, _ int) bool {
			if rival.Load() {
				fail(w, 409, "Conflict: terminated by other getUpdates request", "")
			}
			return rival.Load()
		}
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, j)
		stop := r.start(t)
		time.Sleep(40 * time.Second)
		assert.Empty(t, r.reports.rivalry(), "a restart of the other program is none of people's business")
		time.Sleep(20 * time.Minute)
		at := tg.times()
		assert.Equal(t, []bool{true, true}, r.reports.rivalry(), "people get one message")
		require.Greater(t, len(at), 5)
		for n := 5; n < len(at)-1; n++ {
			assert.GreaterOrEqual(t, at[n+1].Sub(at[n]), 5*time.Second, "no fight")
		}
		rival.Store(false)
		tg.deliver(message(1, 5, "a"))
		time.Sleep(11 * time.Second)
		assert.Equal(t, []string{"1"}, j.keys())
		assert.Contains(t, r.log.String(), `poll_recovered after=polls_rival`)
		assert.Len(t, r.reports.rivalry(), 2, "one answer ends nothing: two programs take turns")
		time.Sleep(5 * time.Minute)
		assert.Equal(t, []bool{true, true, false}, r.reports.rivalry())
		stop()
	})
}

// TestRivalryOutlastsOutage: while Telegram is unreachable no program takes messages, which says
// nothing about the other one.
func TestRivalryOutlastsOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg, j := newTelegram(), &journal{}
		var code atomic.Int32
		code.Store(409)
		tg.answer = func(w http.ResponseWriter, _ int) bool {
			if c := code.Load(); c != 0 {
				fail(w, int(c), "terminated by other getUpdates request", "")
			}
			return code.Load() != 0
		}
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, j)
		stop := r.start(t)
		time.Sleep(5 * time.Minute)
		require.Equal(t, []bool{true, true}, r.reports.rivalry())
		code.Store(500)
		time.Sleep(5 * time.Minute)
		code.Store(0)
		time.Sleep(30 * time.Second) // one answer, and then the two programs take turns again
		code.Store(409)
		time.Sleep(2 * time.Minute)
		assert.Equal(t, []bool{true, true}, r.reports.rivalry(), "the other program has not ended")
		code.Store(0)
		time.Sleep(5 * time.Minute)
		assert.Equal(t, []bool{true, true, false}, r.reports.rivalry())
		stop()
	})
}
