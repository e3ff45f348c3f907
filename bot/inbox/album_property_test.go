package inbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// albumWorld is a ccbot that crashes and restarts while albums arrive. A handler saves the entry as
// a held prompt. A crash is a copy of the folder, as in world.
type albumWorld struct {
	t     *testing.T
	root  string
	tg    *telegram
	r     *rig
	stop  func()
	lives int

	mu   sync.Mutex
	dead bool
	plan []string           // results of the next calls
	jobs map[int64][]string // that became a prompt, by chat
}

func (w *albumWorld) dir(life int) string { return filepath.Join(w.root, fmt.Sprint(life), "inbox") }

func (w *albumWorld) live() {
	w.r = newRig(w.t, w.dir(w.lives), w.tg, w)
	w.r.intake.poller.client.Transport = &lifeline{w: w, life: w.lives}
	w.stop = w.r.start(w.t)
}

func (w *albumWorld) Tap(context.Context, *models.Update) (func(context.Context) error, error) {
	return nil, nil
}

func (w *albumWorld) Handle(_ context.Context, key string, u *models.Update, rest ...*models.Update) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	plan := ""
	if len(w.plan) > 0 {
		plan, w.plan = w.plan[0], w.plan[1:]
	}
	switch {
	case w.dead:
		return context.Canceled
	case plan == "error":
		return errors.New("this time it fails")
	case plan == "crash":
		w.dieLocked()
		return context.Canceled
	}
	chat := u.EditedMessage
	if chat == nil {
		chat = u.Message
	}
	if err := w.r.store.Change(key, func(e *Entry) error { e.State = Held; return nil }); err != nil {
		return err
	}
	w.jobs[chat.Chat.ID] = append(w.jobs[chat.Chat.ID], jobName(key, rest))
	if plan == "crash after the prompt" {
		w.dieLocked()
	}
	return nil
}

// dieLocked copies the disk; the rest of this life works on a discarded folder.
func (w *albumWorld) dieLocked() {
	if w.dead {
		return
	}
	w.dead = true
	w.r.store.mu.Lock()
	defer w.r.store.mu.Unlock()
	require.NoError(w.t, os.CopyFS(w.dir(w.lives+1), os.DirFS(w.dir(w.lives))))
}

// lifeline is a life's connection to Telegram: a dead one confirms nothing.
type lifeline struct {
	w    *albumWorld
	life int
}

func (l *lifeline) RoundTrip(r *http.Request) (*http.Response, error) {
	l.w.mu.Lock()
	dead := l.w.dead || l.life != l.w.lives
	l.w.mu.Unlock()
	if dead {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return l.w.tg.RoundTrip(r)
}

// reborn restarts a dead ccbot at once.
func (w *albumWorld) reborn() {
	synctest.Wait()
	w.mu.Lock()
	dead := w.dead
	w.mu.Unlock()
	if dead {
		w.stop()
		w.mu.Lock()
		w.lives, w.dead = w.lives+1, false
		w.mu.Unlock()
		w.live()
	}
}

// sent is a group of messages that one person sends into one chat at once.
type sent struct {
	Kind string // message, edit, tap or album
	Size int    // of an album
}

func drawSent(rt *rapid.T) sent {
	kinds := []string{"message", "edit", "tap", "album", "album"}
	return sent{Kind: rapid.SampledFrom(kinds).Draw(rt, "kind"), Size: rapid.IntRange(2, 4).Draw(rt, "size")}
}

// updatesOf mixes the messages of people. Messages of one person in one chat keep their order.
func updatesOf(rt *rapid.T) (updates []string, want map[int64][]string) {
	type arrival func(id int64)
	var streams [][]arrival
	want = make(map[int64][]string)
	groups := make(map[string][]string) // album → its keys
	var order []string                  // chat/album or chat/key, in the order of their first updates
	for _, chat := range []int64{5, 6} {
		for _, from := range []int64{77, 78} {
			var stream []arrival
			for n, s := range rapid.SliceOfN(rapid.Custom(drawSent), 0, 3).Draw(rt, "sends") {
				job, size := fmt.Sprintf("%d-%d-%d", chat, from, n), 1
				if s.Kind == "album" {
					size = s.Size
				}
				for range size {
					stream = append(stream, func(id int64) {
						raw := part(id, chat, from, job)
						switch s.Kind {
						case "message":
							raw = strings.Replace(raw, "media_group_id", "x", 1)
						case "edit":
							raw = strings.Replace(raw, `"message"`, `"edited_message"`, 1)
						case "tap":
							updates = append(updates, tap(id, chat, 1, "x"))
							return
						}
						updates = append(updates, raw)
						if groups[job] == nil {
							order = append(order, job)
						}
						groups[job] = append(groups[job], UpdateKey(id))
					})
				}
			}
			streams = append(streams, stream)
		}
	}
	for id := int64(1); ; id++ {
		streams = slices.DeleteFunc(streams, func(s []arrival) bool { return len(s) == 0 })
		if len(streams) == 0 {
			break
		}
		n := rapid.IntRange(0, len(streams)-1).Draw(rt, "next")
		streams[n][0](id)
		streams[n] = streams[n][1:]
	}
	for _, job := range order {
		chat := int64(job[0] - '0')
		want[chat] = append(want[chat], strings.Join(groups[job], "+"))
	}
	return updates, want
}

// TestP4_AlbumIsOneJob mixes an album with other messages, failures and crashes: each album is
// one prompt and each message is in one, in the order of a conversation.
func TestP4_AlbumIsOneJob(t *testing.T) {
	root, run := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		updates, want := updatesOf(rt)
		plans := rapid.SampledFrom([]string{"", "error", "crash", "crash after the prompt"})
		plan := rapid.SliceOfN(plans, 0, attempts-1).Draw(rt, "plan") // one more error, and it is given up
		var batches []int
		for left := len(updates); left > 0; left -= batches[len(batches)-1] {
			batches = append(batches, rapid.IntRange(1, left).Draw(rt, "batch"))
		}
		crashes := rapid.SliceOfN(rapid.Bool(), len(batches), len(batches)).Draw(rt, "crashes")
		run++
		dir := filepath.Join(root, fmt.Sprint(run))
		synctest.Test(t, func(t *testing.T) {
			w := &albumWorld{t: t, root: dir, tg: newTelegram(), plan: plan, jobs: make(map[int64][]string)}
			w.live()
			for n, size := range batches {
				w.tg.deliver(updates[:size]...)
				updates = updates[size:]
				w.reborn()
				if crashes[n] {
					w.mu.Lock()
					w.dieLocked()
					w.mu.Unlock()
					w.reborn()
				}
				time.Sleep(albumQuiet / 30)
			}
			for range mostTries + 1 {
				time.Sleep(time.Minute)
				w.reborn()
			}
			w.stop()
			require.Equal(t, want, w.jobs, "%v %v %v %v", plan, batches, crashes, w.r.log)
			require.Empty(t, w.r.reports.all())
			entries, err := w.r.store.List()
			require.NoError(t, err)
			for _, e := range entries {
				require.Equal(t, Held, e.State)
			}
		})
		require.NoError(rt, os.RemoveAll(dir))
	})
}
