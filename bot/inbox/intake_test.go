package inbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/internal/waittest"
)

// journal is a handler that records its calls and returns nil.
type journal struct {
	mu  sync.Mutex
	got []string
}

func (j *journal) Handle(_ context.Context, key string, _ *models.Update, rest ...*models.Update) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.got = append(j.got, jobName(key, rest))
	return nil
}

func (j *journal) Tap(ctx context.Context, u *models.Update) (func(context.Context) error, error) {
	return nil, j.Handle(ctx, UpdateKey(u.ID), u)
}

// jobName returns the key of an update, or the keys of an album's messages: 1+2+3.
func jobName(key string, rest []*models.Update) string {
	for _, u := range rest {
		key += "+" + UpdateKey(u.ID)
	}
	return key
}

func (j *journal) keys() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string{}, j.got...)
}

// TestP4_OnDiskBeforeTheOffsetMoves reads the folder when Telegram is allowed to forget.
func TestP4_OnDiskBeforeTheOffsetMoves(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "inbox")
	tg := newTelegram()
	hold := make(chan struct{})
	r := newRig(t, dir, tg, handlerFunc(func(ctx context.Context, _ string, _ *models.Update) error {
		select {
		case <-hold:
		case <-ctx.Done():
		}
		return ctx.Err()
	}))
	confirmed := make(chan []string, 10)
	tg.onPoll = func(offset int64) {
		if offset == 4 {
			confirmed <- files(t, dir)
		}
	}
	tg.deliver(message(1, 5, "a"), message(2, 5, "b"), tap(3, 5, 1, "x"))
	stop := r.start(t)
	assert.Equal(t, []string{"1.json", "2.json"}, <-confirmed, "the tap is not written")
	stop()
	assert.Equal(t, []string{"1.json", "2.json"}, files(t, dir), "a stop is not a failure: they wait for the next start")
	assert.Empty(t, r.reports.all())
}

// TestP4_OverHTTP uses a real connection: accepted, handled in order, confirmed, markers gone.
func TestP4_OverHTTP(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "inbox")
	tg := newTelegram()
	server := httptest.NewServer(tg)
	t.Cleanup(server.Close)
	j := &journal{}
	r := newRig(t, dir, tg, j)
	r.intake = NewIntake(Config{Client: server.Client(), API: server.URL, Token: testToken, Store: r.store, Handler: j,
		Reporter: r.reports, Log: r.log.logger()})
	tg.deliver(message(10, 5, "a"), message(9, 5, "b"), message(11, 5, "c"))
	stop := r.start(t)
	waittest.Until(t, func() bool { return len(j.keys()) == 3 && len(tg.unconfirmed()) == 0 })
	assert.Equal(t, []string{"9", "10", "11"}, j.keys())
	tg.deliver(message(12, 5, "d"))
	waittest.Until(t, func() bool { return len(j.keys()) == 4 })
	stop()
	assert.Equal(t, []int64{0, 12}, tg.polls()[:2], "no offset at the start")
}

// TestP4_CrashBetweenAcceptAndHandle abandons an intake in the middle of a handler and opens
// another one on a copy of the disk.
func TestP4_CrashBetweenAcceptAndHandle(t *testing.T) {
	dir, crashed := filepath.Join(t.TempDir(), "inbox"), filepath.Join(t.TempDir(), "inbox")
	tg := newTelegram()
	died := make(chan struct{})
	first := newRig(t, dir, tg, handlerFunc(func(ctx context.Context, key string, _ *models.Update) error {
		if key == "1" {
			return nil
		}
		close(died)
		<-ctx.Done()
		return ctx.Err()
	}))
	tg.deliver(message(1, 5, "a"), message(2, 5, "b"), message(3, 5, "c"))
	first.start(t)
	<-died
	// The third may be being written, and a file that is renamed cannot be copied.
	waittest.Until(t, func() bool { return slices.Equal(files(t, dir), []string{"1.done", "2.json", "3.json"}) })
	require.NoError(t, os.CopyFS(crashed, os.DirFS(dir)))

	j := &journal{}
	tg2 := newTelegram()
	tg2.deliver(message(1, 5, "a"), message(2, 5, "b"), message(3, 5, "c"), message(4, 5, "d")) // nothing was confirmed
	second := newRig(t, crashed, tg2, j)
	second.start(t)
	waittest.Until(t, func() bool { return len(j.keys()) >= 3 })
	assert.Equal(t, []string{"2", "3", "4"}, j.keys(), "what was left comes first, in order; the finished one never again")
}

func TestP4_FullDiskHoldsTheOffset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := t.TempDir()
		dir, away := filepath.Join(root, "inbox"), filepath.Join(root, "away")
		tg, j := newTelegram(), &journal{}
		r := newRig(t, dir, tg, j)
		stop := r.start(t)
		synctest.Wait()
		require.NoError(t, os.Rename(dir, away)) // a file in its place refuses every write, also root's
		require.NoError(t, os.WriteFile(dir, nil, 0o600))
		tg.deliver(message(1, 5, "a"), tap(2, 5, 1, "x"), message(3, 5, "c"))
		time.Sleep(5 * time.Minute)
		assert.Equal(t, []int64{1, 2, 3}, tg.unconfirmed())
		assert.Equal(t, []string{"2"}, j.keys(), "the tap needs no disk, and is handled once however often it comes")
		assert.Equal(t, 1, strings.Count(r.log.String(), "inbox_write_failed"))
		assert.Less(t, len(tg.polls()), 65, "it backs off")

		require.NoError(t, os.Remove(dir))
		require.NoError(t, os.Rename(away, dir))
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"2", "1", "3"}, j.keys())
		assert.Empty(t, tg.unconfirmed())
		assert.Contains(t, r.log.String(), "poll_recovered")
		stop()
	})
}

// TestP4_UnkeptMessageIsHandledOnce: a message that needs no disk is handled once; the others wait,
// are notified, and are confirmed only in order.
func TestP4_UnkeptMessageIsHandledOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := t.TempDir()
		dir, away := filepath.Join(root, "inbox"), filepath.Join(root, "away")
		tg, j := newTelegram(), &journal{}
		r := newRig(t, dir, tg, j)
		var mu sync.Mutex
		reported, done := map[string]bool{}, []string{}
		r.intake.cfg.Unkept = func(u *models.Update) func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			reported[u.Message.Text] = true
			if u.Message.Text != "/list" {
				return nil
			}
			return func(context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				done = append(done, u.Message.Text)
				return nil
			}
		}
		stop := r.start(t)
		synctest.Wait()
		require.NoError(t, os.Rename(dir, away))
		require.NoError(t, os.WriteFile(dir, nil, 0o600))
		tg.deliver(message(1, 5, "/list"))
		time.Sleep(time.Minute)
		assert.Empty(t, tg.unconfirmed(), "it is over")
		tg.deliver(message(2, 5, "a"), message(3, 5, "/list"))
		time.Sleep(time.Minute)
		assert.Equal(t, []int64{2, 3}, tg.unconfirmed())
		mu.Lock()
		assert.Equal(t, []string{"/list", "/list"}, done)
		assert.Equal(t, map[string]bool{"/list": true, "a": true}, reported)
		mu.Unlock()

		require.NoError(t, os.Remove(dir))
		require.NoError(t, os.Rename(away, dir))
		time.Sleep(time.Minute)
		stop()
		assert.Equal(t, []string{"2"}, j.keys())
		assert.Empty(t, tg.unconfirmed())
		assert.Len(t, done, 2)
	})
}

// TestP4_UnwrittenMessageIsNotOvertaken: here the first is too long for the disk and the second
// is not.
func TestP4_UnwrittenMessageIsNotOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg, j := newTelegram(), &journal{}
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, j)
		r.store.folder.MaxSize = 800
		tg.deliver(message(1, 5, "a"), message(2, 5, strings.Repeat("x", 800)), message(3, 5, "c"))
		stop := r.start(t)
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"1"}, j.keys())
		r.store.mu.Lock()
		r.store.folder.MaxSize = maxEntry
		r.store.mu.Unlock()
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"1", "2", "3"}, j.keys())
		stop()
	})
}

// TestP4_PoisonIsSetAside: an update that go-telegram cannot decode does not block others.
func TestP4_PoisonIsSetAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "inbox")
		tg, j := newTelegram(), &journal{}
		r := newRig(t, dir, tg, j)
		tg.deliver(message(1, 5, "a"), poison(2, 5), message(3, 5, "c"),
			`{"update_id":4,"callback_query":{"id":5}}`, `{"update_id":5,"chat_member":{"chat":{"id":5}}}`, message(6, 5, "d"))
		stop := r.start(t)
		time.Sleep(time.Minute)
		stop()
		assert.Equal(t, []string{"1", "3", "6"}, j.keys())
		assert.Empty(t, tg.unconfirmed())
		assert.Empty(t, unfinished(t, dir))
		assert.Equal(t, []string{"inbox-2.json", "inbox-2.json.reason", "inbox-tap-4.json", "inbox-tap-4.json.reason"},
			files(t, filepath.Join(dir, "../quarantine")))
		require.Len(t, r.reports.all(), 1)
		f := r.reports.all()[0]
		assert.True(t, f.Unreadable)
		assert.Equal(t, Failure{Key: "2", Unreadable: true, Conversation: session.Conversation{ChatID: 5}, MessageID: 20, From: 77, Err: f.Err}, f)
	})
}

// TestP4_OutageIsPolledEveryFourSeconds regardless of its duration, so that the next message is
// handled soon; a pause requested by Telegram is kept in full.
func TestP4_OutageIsPolledEveryFourSeconds(t *testing.T) {
	for _, tt := range []struct {
		name           string
		retry          int // seconds
		least, longest time.Duration
	}{
		{"a proxy answers", 0, 0, longestPause},
		{"a wait is asked for", 90, 90 * time.Second, 91 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tg := newTelegram()
				tg.answer = func(w http.ResponseWriter, _ int) bool {
					w.WriteHeader(http.StatusBadGateway)
					if tt.retry > 0 {
						_, _ = fmt.Fprintf(w, `{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":%d}}`, tt.retry)
					}
					return true
				}
				stop := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, &journal{}).start(t)
				time.Sleep(time.Hour)
				stop()
				at := tg.times()
				require.Greater(t, len(at), 30)
				for n := range len(at) - 1 {
					gap := at[n+1].Sub(at[n])
					assert.LessOrEqual(t, gap, tt.longest)
					assert.GreaterOrEqual(t, gap, tt.least)
				}
			})
		})
	}
}

func TestUpdateWithoutIDIsKeptOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "inbox")
		tg := newTelegram()
		tg.answer = func(w http.ResponseWriter, _ int) bool {
			_, _ = fmt.Fprint(w, `{"ok":true,"result":[{"message":{"text":"x"}}]}`)
			return true
		}
		r := newRig(t, dir, tg, &journal{})
		stop := r.start(t)
		time.Sleep(10 * time.Minute)
		stop()
		assert.Len(t, files(t, filepath.Join(dir, "../quarantine")), 2)
		assert.Less(t, len(tg.polls()), 125)
	})
}

func TestFailedUpdateIsTriedThreeTimes(t *testing.T) {
	tests := []struct {
		name  string
		fail  func() error
		cause string
		stack bool
	}{
		{"an error", func() error { return errors.New("no good") }, "no good", false},
		{"a panic", func() error { panic("boom") }, "panic: boom", true},
		{"a nil map", func() error { var m map[string]int; m["x"] = 1; return nil }, "assignment to entry in nil map", true},
		{"its own timeout", func() error { return context.Canceled }, "context canceled", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "inbox")
				tg, j := newTelegram(), &journal{}
				var calls atomic.Int32
				r := newRig(t, dir, tg, handlerFunc(func(ctx context.Context, key string, u *models.Update) error {
					if key == "1" {
						calls.Add(1)
						return tt.fail()
					}
					return j.Handle(ctx, key, u)
				}))
				tg.deliver(message(1, 5, "a"), message(2, 5, "b"), message(3, 6, "c"))
				stop := r.start(t)
				synctest.Wait()
				assert.Equal(t, []string{"3"}, j.keys(), "another conversation goes on meanwhile")
				time.Sleep(time.Minute)
				stop()
				assert.EqualValues(t, 3, calls.Load())
				assert.Equal(t, []string{"3", "2"}, j.keys())
				require.Len(t, r.reports.all(), 1)
				f := r.reports.all()[0]
				assert.Equal(t, "a", f.Update.Message.Text)
				assert.Equal(t, 10, f.MessageID)
				require.ErrorContains(t, f.Err, tt.cause)
				assert.Equal(t, tt.stack, strings.Contains(r.log.String(), "handle.go"))
				assert.Empty(t, unfinished(t, dir))
				quarantine := filepath.Join(dir, "../quarantine")
				assert.Equal(t, []string{"inbox-1.json", "inbox-1.json.reason"}, files(t, quarantine))
				reason, err := os.ReadFile(filepath.Join(quarantine, "inbox-1.json.reason"))
				require.NoError(t, err)
				assert.Contains(t, string(reason), tt.cause)
			})
		})
	}
}

func TestP4_UnreportedFailureComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "inbox")
		tg := newTelegram()
		r := newRig(t, dir, tg, handlerFunc(func(context.Context, string, *models.Update) error { return errors.New("no good") }))
		r.reports.fail = errors.New("disk full")
		tg.deliver(message(1, 5, "a"))
		stop := r.start(t)
		time.Sleep(time.Minute)
		stop()
		assert.Equal(t, []string{"1.json"}, files(t, dir))

		j := &journal{}
		r = newRig(t, dir, tg, j)
		stop = r.start(t)
		synctest.Wait()
		stop()
		assert.Equal(t, []string{"1"}, j.keys())
	})
}

// TestP4_HandlersEntryIsLeftAlone: an entry in another state is not finished, retried, or handed on
// at the next start.
func TestP4_HandlersEntryIsLeftAlone(t *testing.T) {
	for _, result := range []error{nil, errors.New("after it was held")} {
		t.Run(fmt.Sprint(result), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "inbox")
				tg := newTelegram()
				var r *rig
				var calls int
				r = newRig(t, dir, tg, handlerFunc(func(_ context.Context, key string, u *models.Update) error {
					calls++
					e, err := r.store.Load(key)
					if err != nil {
						return err
					}
					e.State, e.Text = Held, u.Message.Text
					return errors.Join(r.store.Save(e), result)
				}))
				tg.deliver(message(1, 5, "a"))
				stop := r.start(t)
				time.Sleep(time.Minute)
				stop()
				assert.Equal(t, 1, calls)
				assert.Equal(t, []string{"1.json"}, files(t, dir))
				assert.Empty(t, r.reports.all())

				j := &journal{}
				r = newRig(t, dir, tg, j)
				stop = r.start(t)
				synctest.Wait()
				stop()
				assert.Empty(t, j.keys())
			})
		})
	}
}

// TestTapsDoNotWait: a tap does not wait for messages or for taps on other messages, but a double
// tap runs in order.
func TestTapsDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "inbox")
		tg := newTelegram()
		var mu sync.Mutex
		running := map[string]bool{}
		r := newRig(t, dir, tg, handlerFunc(func(ctx context.Context, key string, _ *models.Update) error {
			mu.Lock()
			running[key] = true
			mu.Unlock()
			<-ctx.Done()
			return ctx.Err()
		}))
		tg.deliver(message(1, 5, "slow"), tap(2, 5, 100, "kill"), tap(3, 5, 200, "stop"), tap(4, 5, 200, "again"), message(5, 5, "next"))
		stop := r.start(t)
		synctest.Wait()
		mu.Lock()
		assert.Equal(t, map[string]bool{"1": true, "2": true, "3": true}, running)
		mu.Unlock()
		stop()
		assert.ElementsMatch(t, []string{"1.json", "5.json"}, files(t, dir))
	})
}

// tapper decides taps when released, and then has work that never ends.
type tapper struct {
	journal
	decide chan struct{}
}

func (p *tapper) Tap(ctx context.Context, u *models.Update) (func(context.Context) error, error) {
	select {
	case <-p.decide:
	case <-ctx.Done():
	}
	return func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, p.journal.Handle(ctx, UpdateKey(u.ID), u)
}

// TestP7_MessageWaitsForEarlierTaps: a text after a tap goes to the tapped session.
func TestP7_MessageWaitsForEarlierTaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg, p := newTelegram(), &tapper{decide: make(chan struct{})}
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, p)
		tg.deliver(message(1, 5, "before"), tap(2, 5, 100, "open"), message(3, 5, "for it"), message(4, 6, "elsewhere"), tap(5, 5, 200, "more"))
		stop := r.start(t)
		synctest.Wait()
		assert.ElementsMatch(t, []string{"1", "4"}, p.keys())
		close(p.decide)
		synctest.Wait()
		assert.ElementsMatch(t, []string{"1", "4", "2", "3", "5"}, p.keys(), "what a tap does then holds up no message")
		assert.Less(t, slices.Index(p.keys(), "2"), slices.Index(p.keys(), "3"))
		stop()
		assert.Empty(t, r.intake.queues.taps)
	})
}

func TestTapIsTriedOnce(t *testing.T) {
	for name, fail := range map[string]func() error{"error": func() error { return errors.New("no") }, "panic": func() error { panic("boom") }} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tg := newTelegram()
				var calls int
				r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, handlerFunc(func(context.Context, string, *models.Update) error {
					calls++
					return fail()
				}))
				tg.deliver(tap(2, 5, 100, "kill"))
				stop := r.start(t)
				time.Sleep(time.Minute)
				stop()
				assert.Equal(t, 1, calls)
				require.Len(t, r.reports.all(), 1)
				f := r.reports.all()[0]
				assert.True(t, f.Tap)
				assert.Equal(t, "kill", f.Update.CallbackQuery.Data)
				assert.EqualValues(t, 77, f.From)
			})
		})
	}
}

// TestOrderAndBounds: order within a conversation, and a bound on parallel work.
func TestOrderAndBounds(t *testing.T) {
	const conversations, each, parallel = 10, 12, 3
	dir := filepath.Join(t.TempDir(), "inbox")
	tg := newTelegram()
	var mu sync.Mutex
	order := map[int64][]int64{}
	var now, most, total atomic.Int32
	h := handlerFunc(func(_ context.Context, _ string, u *models.Update) error {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		mu.Lock()
		order[u.Message.Chat.ID] = append(order[u.Message.Chat.ID], u.ID)
		mu.Unlock()
		total.Add(1)
		return nil
	})
	r := newRig(t, dir, tg, h)
	r.intake.parallel = parallel
	var batch []string
	for id := range int64(conversations * each) {
		batch = append(batch, message(id+1, id%conversations+1, "x"))
	}
	tg.deliver(batch...)
	stop := r.start(t)
	waittest.Until(t, func() bool { return total.Load() == conversations*each })
	stop()
	assert.LessOrEqual(t, most.Load(), int32(parallel))
	for chat, ids := range order {
		assert.Len(t, ids, each)
		assert.IsIncreasing(t, ids, "chat %d", chat)
	}
}
