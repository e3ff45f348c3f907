package inbox

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/pause"
	"ccbot/internal/session"
)

// mortal is a ccbot that crashes at certain updates. A crash is a copy of the folder, on which the
// next life continues.
type mortal struct {
	t      *testing.T
	root   string
	deadly map[string]bool

	mu       sync.Mutex
	lives    int
	handled  []string // finished, over all lives
	reported []Failure
}

func (m *mortal) dir() string { return filepath.Join(m.root, strconv.Itoa(m.lives), "inbox") }

// live runs one life, and reports whether an update ended it. A handler takes a second, to make the
// order visible.
func (m *mortal) live(tg *telegram) (died bool) {
	end := make(chan struct{})
	var once sync.Once
	next := filepath.Join(m.root, strconv.Itoa(m.lives+1), "inbox")
	var r *rig
	r = newRig(m.t, m.dir(), tg, handlerFunc(func(ctx context.Context, key string, _ *models.Update) error {
		if pause.For(ctx, time.Second) != nil {
			return ctx.Err()
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		if ctx.Err() != nil || died {
			return context.Canceled
		}
		if m.deadly[key] {
			died = true
			once.Do(func() {
				r.store.mu.Lock()
				defer r.store.mu.Unlock()
				assert.NoError(m.t, os.CopyFS(filepath.Dir(next), os.DirFS(filepath.Dir(m.dir()))))
				close(end)
			})
			return context.Canceled
		}
		m.handled = append(m.handled, key)
		return nil
	}))
	stop := r.start(m.t)
	select {
	case <-end:
	case <-time.After(10 * time.Minute):
	}
	stop()
	m.reported = append(m.reported, r.reports.all()...)
	if died {
		m.lives++
	}
	return died
}

// TestP4_DeadlyUpdateIsSetAside: it is reported, and the updates after it and in other
// conversations are handled in order.
func TestP4_DeadlyUpdateIsSetAside(t *testing.T) {
	for name, deadly := range map[string]map[string]bool{
		"one":                      {"2": true},
		"the first":                {"1": true},
		"two of one conversation":  {"2": true, "4": true},
		"two of two conversations": {"2": true, "5": true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &mortal{t: t, root: t.TempDir(), deadly: deadly}
				tg := newTelegram()
				tg.deliver(message(1, 5, "a"), message(2, 5, "b"), message(3, 6, "c"), message(4, 5, "d"), message(5, 6, "e"), message(6, 5, "f"))
				for m.live(tg) {
					require.Less(t, m.lives, 20, "it dies for ever")
				}
				assert.Len(t, m.reported, len(deadly))
				for _, f := range m.reported {
					assert.True(t, deadly[f.Key], f.Key)
					assert.True(t, f.Deadly && !f.Unreadable && f.Update == nil && f.From == 77 && f.MessageID != 0)
					assert.Contains(t, []session.Conversation{{ChatID: 5}, {ChatID: 6}}, f.Conversation)
					assert.FileExists(t, filepath.Join(m.dir(), "../quarantine/inbox-"+f.Key+".json"))
				}
				var want, got []string
				for _, key := range []string{"1", "2", "4", "6"} { // of conversation 5
					if !deadly[key] {
						want = append(want, key)
					}
				}
				for _, key := range m.handled {
					if key != "3" && key != "5" {
						got = append(got, key)
					}
				}
				assert.Equal(t, want, got, "each once, in order")
				slices.Sort(m.handled) // the end of a handled one may not be on disk yet
				assert.Len(t, slices.Compact(m.handled), 6-len(deadly))
				assert.Empty(t, unfinished(t, m.dir()))
			})
		})
	}
}

func TestP4_StopDoesNotCountAsCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, tg := filepath.Join(t.TempDir(), "inbox"), newTelegram()
		tg.deliver(message(1, 5, "a"))
		for range 3 * mostTries {
			r := newRig(t, dir, tg, handlerFunc(func(ctx context.Context, _ string, _ *models.Update) error {
				<-ctx.Done()
				return ctx.Err()
			}))
			stop := r.start(t)
			time.Sleep(time.Minute)
			stop()
			assert.Empty(t, r.reports.all())
		}
		j := &journal{}
		r := newRig(t, dir, tg, j)
		stop := r.start(t)
		time.Sleep(time.Minute)
		stop()
		assert.Equal(t, []string{"1"}, j.keys())
	})
}

// TestP4_AnswerIsSortedByID, and a confirmed update that comes again is handled once, also after a
// restart.
func TestP4_AnswerIsSortedByID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, tg, j := filepath.Join(t.TempDir(), "inbox"), newTelegram(), &journal{}
		tg.shuffle = rand.New(rand.NewPCG(1, 2))
		var batch []string
		var want []string
		for id := range int64(30) {
			batch, want = append(batch, message(id+1, 5, "x")), append(want, UpdateKey(id+1))
		}
		r := newRig(t, dir, tg, j)
		tg.deliver(batch...)
		stop := r.start(t)
		time.Sleep(time.Minute)
		assert.Equal(t, want, j.keys())
		tg.redeliver(batch[10:]...)
		tg.deliver(tap(31, 5, 1, "x"))
		time.Sleep(time.Minute)
		tg.redeliver(tap(31, 5, 1, "x"))
		time.Sleep(time.Minute)
		stop()
		want = append(want, "31")
		assert.Equal(t, want, j.keys())

		r = newRig(t, dir, tg, j)
		tg.redeliver(batch...)
		tg.deliver(message(32, 5, "x"))
		stop = r.start(t)
		time.Sleep(time.Minute)
		stop()
		assert.Equal(t, append(want, "32"), j.keys())
	})
}
