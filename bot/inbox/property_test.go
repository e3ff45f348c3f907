package inbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// world is a Telegram that outlives ccbot's crashes. A crash is a copy of the folder: the dead
// ccbot continues on a discarded folder.
type world struct {
	t    *testing.T
	root string
	tg   *telegram
	rig  *rig
	end  func()

	mu       sync.Mutex
	crashes  int               // also names the folder in use
	died     bool              // and not back yet
	plan     map[string]string // the result of the next Handle of a key
	calls    map[string]int    // Handle of a key, by any life
	excuses  map[string]int    // failures and crashes during it
	finished map[string]bool   // known to be finished for good
}

func (w *world) dirOf(life int) string { return filepath.Join(w.root, strconv.Itoa(life), "inbox") }

// aliveLocked reports whether this life still runs.
func (w *world) aliveLocked(life int) bool { return life == w.crashes && !w.died }

// cord is a life's connection to Telegram; it is cut when the life ends.
type cord struct {
	w    *world
	life int
}

func (c cord) RoundTrip(r *http.Request) (*http.Response, error) {
	c.w.mu.Lock()
	alive := c.w.aliveLocked(c.life)
	c.w.mu.Unlock()
	if !alive {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return c.w.tg.RoundTrip(r)
}

// live starts ccbot on the current folder.
func (w *world) live() {
	life := w.crashes
	w.rig = newRig(w.t, w.dirOf(life), w.tg, handlerFunc(func(ctx context.Context, key string, _ *models.Update) error {
		return w.handle(ctx, life, key)
	}))
	w.rig.intake.poller.client.Transport = cord{w, life}
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	intake := w.rig.intake
	go func() { done <- intake.Run(ctx, ctx) }()
	w.end = func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("Run: %v", err)
		}
	}
}

func (w *world) handle(ctx context.Context, life int, key string) error {
	plan := w.called(life, key)
	switch plan {
	case "error":
		return errors.New("this time it fails")
	case "panic":
		panic("this time it panics")
	case "later":
		return ErrLater
	case "crash", "dead":
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

// called records a call and returns its planned result.
func (w *world) called(life int, key string) (plan string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.aliveLocked(life) {
		return "dead" // it has no effect
	}
	w.calls[key]++
	if w.finished[key] {
		w.t.Errorf("update %s was finished and is handled again", key)
	}
	plan = w.plan[key]
	delete(w.plan, key)
	switch plan {
	case "error", "panic":
		w.excuses[key]++
	case "later":
		if w.excuses[key]++; w.excuses[key]%5 != 0 {
			w.plan[key] = plan
		}
	case "crash":
		w.dieLocked()
	}
	return plan
}

// dieLocked copies the disk and notes which updates may come again.
func (w *world) dieLocked() {
	w.died = true
	to := w.dirOf(w.crashes + 1)
	w.rig.store.mu.Lock()
	err := os.CopyFS(to, os.DirFS(w.dirOf(w.crashes)))
	w.rig.store.mu.Unlock()
	if err != nil {
		w.t.Error(err)
	}
	for key := range w.calls {
		if _, err := os.Stat(filepath.Join(to, key+entrySuffix)); err == nil {
			w.excuses[key]++
			continue
		}
		w.finished[key] = true
	}
}

// crash kills a ccbot that waits for its poll or between two attempts.
func (w *world) crash() {
	synctest.Wait()
	w.mu.Lock()
	if !w.died {
		w.dieLocked()
	}
	w.mu.Unlock()
	w.reborn()
}

func (w *world) reborn() {
	w.end()
	w.mu.Lock()
	w.crashes++
	w.died = false
	w.mu.Unlock()
	w.live()
}

// settle waits until nothing more happens, and restarts a ccbot that died.
func (w *world) settle() {
	for {
		time.Sleep(2 * time.Minute)
		w.mu.Lock()
		died := w.died
		for key := range w.calls {
			w.finished[key] = w.finished[key] || !died
		}
		w.mu.Unlock()
		if !died {
			return
		}
		w.reborn()
	}
}

// step is one step: updates in a chat, the last with a planned result, and possibly a crash.
type step struct {
	Deliver int
	Chat    int64
	Plan    string
	Then    string
}

func drawStep(rt *rapid.T) step {
	return step{
		Deliver: rapid.IntRange(0, 4).Draw(rt, "deliver"),
		Chat:    rapid.Int64Range(1, 2).Draw(rt, "chat"),
		Plan:    rapid.SampledFrom([]string{"", "", "error", "panic", "later", "crash"}).Draw(rt, "plan"),
		Then:    rapid.SampledFrom([]string{"go on", "settle", "crash"}).Draw(rt, "then"),
	}
}

func (w *world) take(s step, lastID int64) int64 {
	var batch []string
	for range s.Deliver {
		lastID++
		batch = append(batch, message(lastID, s.Chat, "x"))
	}
	if s.Deliver > 0 {
		w.mu.Lock()
		w.plan[UpdateKey(lastID)] = s.Plan
		w.mu.Unlock()
	}
	w.tg.deliver(batch...)
	switch s.Then {
	case "settle":
		w.settle()
	case "crash":
		w.crash()
	}
	return lastID
}

// TestP4_UpdatesComeExactlyOnce mixes deliveries, failures and crashes: each update is
// handled, a finished one never again, and none more often than failures and crashes explain.
func TestP4_UpdatesComeExactlyOnce(t *testing.T) {
	root, run := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(drawStep), 1, 8).Draw(rt, "steps")
		run++
		dir := filepath.Join(root, fmt.Sprint(run))
		synctest.Test(t, func(t *testing.T) {
			w := &world{t: t, root: dir, tg: newTelegram(), plan: map[string]string{}, calls: map[string]int{},
				excuses: map[string]int{}, finished: map[string]bool{}}
			w.live()
			var last int64
			for _, s := range steps {
				last = w.take(s, last)
			}
			w.settle()
			w.end()
			for n := range last {
				key := UpdateKey(n + 1)
				require.GreaterOrEqual(t, w.calls[key], 1, "update %s", key)
				require.LessOrEqual(t, w.calls[key], 1+w.excuses[key], "update %s", key)
			}
			require.Empty(t, w.tg.unconfirmed())
			for _, f := range w.rig.reports.all() {
				require.True(t, f.Waits, "nothing is given up")
			}
			for _, name := range files(t, w.dirOf(w.crashes)) {
				require.Equal(t, doneSuffix, filepath.Ext(name))
			}
		})
		require.NoError(rt, os.RemoveAll(dir))
	})
}
