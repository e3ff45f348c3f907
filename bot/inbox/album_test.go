package inbox

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// albumRig returns a rig with a journal, for one test with a fake clock.
func albumRig(t *testing.T) (*rig, *journal) {
	t.Helper()
	j := &journal{}
	return newRig(t, filepath.Join(t.TempDir(), "inbox"), newTelegram(), j), j
}

func TestFirstOf(t *testing.T) {
	now := time.Now()
	of := func(key, album string, from int64, ago time.Duration) job {
		return job{key: key, album: album, from: from, came: now.Add(-ago)}
	}
	for _, tt := range []struct {
		name   string
		jobs   []job
		rest   []string
		behind int
		pause  time.Duration
	}{
		{"a message", []job{of("1", "", 7, 0), of("2", "", 7, 0)}, nil, 1, 0},
		{"more may come", []job{of("1", "a", 7, 2*time.Second), of("2", "a", 7, time.Second)}, []string{"2"}, 0,
			albumQuiet - time.Second},
		{"nothing more came", []job{of("1", "a", 7, 3*time.Second), of("2", "a", 7, albumQuiet)}, []string{"2"}, 0, 0},
		{"its sender wrote something else", []job{of("1", "a", 7, 0), of("2", "", 7, 0)}, nil, 1, 0},
		{"its sender sent another album", []job{of("1", "a", 7, 0), of("2", "b", 7, 0)}, nil, 1, 0},
		{"another person wrote", []job{of("1", "a", 7, 0), of("2", "", 8, 0)}, nil, 1, albumQuiet},
		{"another person wrote in between", []job{of("1", "a", 7, 0), of("2", "", 8, 0), of("3", "a", 7, 0)},
			[]string{"3"}, 1, albumQuiet},
		{"another person has an album of this name", []job{of("1", "a", 7, 0), of("2", "a", 8, 0)}, nil, 1, albumQuiet},
		{"an edit", []job{of("1", "a", 7, 0), of("2", "", 0, 0)}, nil, 1, albumQuiet},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first, behind, pause := firstOf(tt.jobs, now)
			assert.Equal(t, []any{"1", tt.rest, tt.pause}, []any{first.key, first.rest, pause})
			assert.Len(t, behind, tt.behind)
		})
	}
}

func TestAlbumIsWholeAfterSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, j := albumRig(t)
		stop := r.start(t)
		for id := range int64(3) {
			r.tg.deliver(part(id+1, 5, 77, "a"))
			time.Sleep(albumQuiet - time.Millisecond)
			synctest.Wait()
			assert.Empty(t, j.keys(), "more of it may come")
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, []string{"1+2+3"}, j.keys())
		stop()
		assert.Empty(t, unfinished(t, r.dir))
	})
}

// The sender's next message ends the wait for more of an album, and does not overtake it.
func TestAlbumKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, j := albumRig(t)
		stop := r.start(t)
		r.tg.deliver(part(1, 5, 77, "a"), part(2, 5, 77, "a"), part(3, 5, 77, "b"), part(4, 5, 77, "b"),
			message(5, 5, "and then this"))
		synctest.Wait()
		assert.Equal(t, []string{"1+2", "3+4", "5"}, j.keys(), "at once")
		stop()
	})
}

// Taps of its conversation, and other conversations, do not wait for an album.
func TestAlbumDelaysNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, j := albumRig(t)
		r.intake.parallel = 1
		stop := r.start(t)
		r.tg.deliver(part(1, 5, 77, "a"))
		synctest.Wait()
		r.tg.deliver(tap(2, 5, 9, "stop"))
		synctest.Wait()
		r.tg.deliver(message(3, 6, "x"))
		synctest.Wait()
		assert.Equal(t, []string{"2", "3"}, j.keys())
		time.Sleep(2 * albumQuiet)
		assert.Equal(t, []string{"2", "3", "1"}, j.keys())
		stop()
	})
}

// A message that comes after its album was handed on is a separate entry with Late set, also after
// a restart while the album's prompt waits.
func TestLateAlbumMessageIsMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := map[string]bool{}
		var r *rig
		h := handlerFunc(func(_ context.Context, key string, _ *models.Update) error {
			return r.store.Change(key, func(e *Entry) error {
				e.State, late[key] = Held, e.Late
				return nil
			})
		})
		r = newRig(t, filepath.Join(t.TempDir(), "inbox"), newTelegram(), h)
		stop := r.start(t)
		r.tg.deliver(part(1, 5, 77, "a"), part(2, 5, 77, "a"))
		time.Sleep(2 * albumQuiet)
		r.tg.deliver(part(3, 5, 77, "a"))
		time.Sleep(2 * albumQuiet)
		stop()
		r = newRig(t, r.dir, r.tg, h)
		stop = r.start(t)
		r.tg.deliver(part(4, 5, 77, "a"), part(5, 5, 77, "b"))
		time.Sleep(2 * albumQuiet)
		stop()
		assert.Equal(t, map[string]bool{"1": false, "3": true, "4": true, "5": false}, late)
	})
}

// A message of an album that cannot be decoded fails alone, and does not split the album.
func TestP4_UnreadableAlbumMessageFailsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, j := albumRig(t)
		stop := r.start(t)
		r.tg.deliver(part(1, 5, 77, "a"))
		synctest.Wait()
		r.tg.deliver(poison(2, 5))
		synctest.Wait()
		r.tg.deliver(part(3, 5, 77, "a"))
		time.Sleep(time.Minute)
		stop()
		assert.Equal(t, []string{"1+3"}, j.keys())
		require.Len(t, r.reports.all(), 1)
		assert.Equal(t, "2", r.reports.all()[0].Key)
		assert.Empty(t, unfinished(t, r.dir))
	})
}

// TestP4_FailedAlbumIsReportedOnce, and all of its updates are kept.
func TestP4_FailedAlbumIsReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := handlerFunc(func(context.Context, string, *models.Update) error { return os.ErrInvalid })
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), newTelegram(), fails)
		stop := r.start(t)
		r.tg.deliver(part(1, 5, 77, "a"), part(2, 5, 77, "a"))
		time.Sleep(time.Minute)
		stop()
		require.Len(t, r.reports.all(), 1)
		assert.Equal(t, "1", r.reports.all()[0].Key)
		assert.Empty(t, unfinished(t, r.dir))
		kept, err := os.ReadFile(filepath.Join(r.dir, "../quarantine/inbox-1.json"))
		require.NoError(t, err)
		assert.Contains(t, string(kept), `"update_id":2`)
	})
}

// TestP4_AlbumSurvivesRestart: a crash is a copy of the folder at that moment.
func TestP4_AlbumSurvivesRestart(t *testing.T) {
	whole := []string{"1+2+3"}
	for _, tt := range []struct {
		name  string
		crash func(t *testing.T, r *rig) // leaves the folder as the crash did
		comes []string                   // after the restart
		want  []string
	}{
		{"between its messages", func(t *testing.T, r *rig) {
			put(t, r.store, part(1, 5, 77, "a"), part(2, 5, 77, "a"))
		}, []string{part(3, 5, 77, "a")}, whole},
		{"before it is joined", func(t *testing.T, r *rig) {
			put(t, r.store, part(1, 5, 77, "a"), part(2, 5, 77, "a"), part(3, 5, 77, "a"))
		}, nil, whole},
		{"while it is joined", func(t *testing.T, r *rig) {
			put(t, r.store, part(1, 5, 77, "a"), part(2, 5, 77, "a"), part(3, 5, 77, "a"))
			before, err := os.ReadFile(r.store.path("3"))
			require.NoError(t, err)
			_, err = r.store.join([]string{"1", "2", "3"}, false)
			require.NoError(t, err)
			require.NoError(t, os.Remove(filepath.Join(r.dir, "3"+doneSuffix)))
			require.NoError(t, os.WriteFile(r.store.path("3"), before, 0o600))
		}, nil, whole},
		{"after it is joined, before all is there", func(t *testing.T, r *rig) {
			put(t, r.store, part(1, 5, 77, "a"), part(2, 5, 77, "a"))
			_, err := r.store.join([]string{"1", "2"}, false)
			require.NoError(t, err)
		}, []string{part(3, 5, 77, "a")}, whole},
		{"after its prompt is made", func(t *testing.T, r *rig) {
			put(t, r.store, part(1, 5, 77, "a"), part(2, 5, 77, "a"), part(3, 5, 77, "a"))
			_, err := r.store.join([]string{"1", "2", "3"}, false)
			require.NoError(t, err)
			require.NoError(t, r.store.Change("1", func(e *Entry) error { e.State = Held; return nil }))
		}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, j := albumRig(t)
				tt.crash(t, r)
				r = newRig(t, r.dir, r.tg, j)
				stop := r.start(t)
				r.tg.deliver(tt.comes...)
				time.Sleep(time.Minute)
				stop()
				assert.Equal(t, tt.want, j.got)
			})
		})
	}
}

// TestP4_AlbumIsRetriedAfterDiskFault: it is handled only when it is one entry on disk, and its
// conversation does not overtake it.
func TestP4_AlbumIsRetriedAfterDiskFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, j := albumRig(t)
		inTheWay := filepath.Join(r.dir, "2"+doneSuffix)
		require.NoError(t, os.Mkdir(inTheWay, 0o700))
		stop := r.start(t)
		r.tg.deliver(part(1, 5, 77, "a"), part(2, 5, 77, "a"), message(3, 5, "x"), message(4, 6, "y"))
		time.Sleep(5 * time.Minute)
		assert.Equal(t, []string{"4"}, j.keys())
		require.NoError(t, os.Remove(inTheWay))
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"4", "1+2", "3"}, j.keys())
		stop()
	})
}

// put accepts updates.
func put(t *testing.T, s *Store, updates ...string) {
	t.Helper()
	for _, raw := range updates {
		fresh, err := s.Accept(UpdateKey(glance([]byte(raw)).id), []byte(raw))
		require.NoError(t, err)
		require.True(t, fresh)
	}
}
