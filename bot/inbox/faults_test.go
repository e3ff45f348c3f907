package inbox

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/disk"
	"ccbot/internal/disk/disktest"
)

// faultyInbox gets messages, an album, a tap and an undecodable update.
type faultyInbox struct {
	tg *telegram
	j  *journal
	r  *rig
}

func (f *faultyInbox) Begin(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "state", "inbox")
	f.tg, f.j = newTelegram(), &journal{}
	f.r = newRig(t, dir, f.tg, f.j)
	f.r.start(t)
	synctest.Wait()
	return filepath.Dir(dir)
}

func (f *faultyInbox) Act(t *testing.T) {
	f.tg.deliver(message(1, 5, "first"), message(2, 5, "a"), part(3, 5, 77, "x"), part(4, 5, 77, "x"), message(5, 5, "b"), message(6, 6, "c"),
		tap(7, 5, 1, "x"), poison(8, 7))
}

func (f *faultyInbox) Check(t *testing.T) {
	keys := strings.Split(strings.Join(f.j.keys(), "+"), "+") // a late part of an album is separate
	assert.ElementsMatch(t, []string{"1", "2", "3", "4", "5", "6", "7"}, keys, f.r.log.String())
	elsewhere := func(key string) bool { return key == "6" || key == "7" }
	assert.IsIncreasing(t, slices.DeleteFunc(keys, elsewhere), "the order of a conversation")
	assert.Empty(t, unfinished(t, f.r.dir), f.r.log.String())
	assert.Len(t, f.r.reports.all(), 1, "the update that cannot be decoded")
	assert.Empty(t, f.tg.unconfirmed())
	for _, name := range []string{"1.done", "2.done", "3.done", "4.done", "5.done", "6.done", "8.done"} {
		assert.FileExists(t, filepath.Join(f.r.dir, name))
	}
}

// TestP4_LeftMessageOutlivesFaultAtStart: a message of an earlier run cannot be read at the start.
func TestP4_LeftMessageOutlivesFaultAtStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "inbox")
		j := &journal{}
		r := newRig(t, dir, newTelegram(), j)
		for _, m := range []string{message(1, 5, "a"), message(2, 6, "b")} {
			_, err := r.store.Accept(UpdateKey(glance([]byte(m)).id), []byte(m))
			require.NoError(t, err)
		}
		heal := disk.Fail(func(op, path string) error {
			if op == "read" && path == filepath.Join(dir, "1.json") {
				return syscall.EMFILE
			}
			return nil
		})
		defer heal()
		r.start(t)
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"2"}, j.keys())
		heal()
		time.Sleep(disktest.HealTime)
		assert.Equal(t, []string{"2", "1"}, j.keys())
		assert.Empty(t, unfinished(t, dir))
	})
}

// TestP4_HandledMessageIsHandledOnce: if its end cannot be written, only the end is tried again.
func TestP4_HandledMessageIsHandledOnce(t *testing.T) {
	for name, failure := range map[string]error{"done": nil, "given up": errors.New("wrong"), "given up for a fault": syscall.ENOSPC} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir, tg, handled := filepath.Join(t.TempDir(), "inbox"), newTelegram(), atomic.Int64{}
				r := newRig(t, dir, tg, handlerFunc(func(context.Context, string, *models.Update) error { handled.Add(1); return failure }))
				heal := disk.Fail(func(op, path string) error {
					if op == "rename" && path == filepath.Join(dir, "1.json") {
						return syscall.EIO
					}
					return nil
				})
				defer heal()
				r.start(t)
				tg.deliver(message(1, 5, "a"))
				time.Sleep(time.Minute)
				calls := int(handled.Load())
				assert.Contains(t, []int{1, attempts}, calls)
				assert.Equal(t, []string{"1.json"}, unfinished(t, dir))
				heal()
				time.Sleep(disktest.HealTime)
				assert.EqualValues(t, calls, handled.Load())
				assert.Empty(t, unfinished(t, dir))
				assert.Len(t, r.reports.all(), min(calls-1, 1))
			})
		})
	}
}

// turnsOfStore finds entries, reopens one, sets an update without an entry aside, and removes old
// markers.
func turnsOfStore() *disktest.Turns {
	var s *Store
	var dir string
	old, reopened, held := UpdateKey(1), UpdateKey(2), Entry{Key: UpdateKey(3), State: Held, MessageID: 9}
	return &disktest.Turns{
		Prepare: func(t *testing.T) string {
			s, dir = openStore(t)
			for _, e := range []Entry{{Key: old}, {Key: reopened}, held} {
				_, err := s.Add(e)
				require.NoError(t, err)
			}
			require.NoError(t, s.Finish(old))
			time.Sleep(2 * redelivery)
			require.NoError(t, s.Finish(reopened))
			s.numbers.reserved = s.numbers.last // the next prompt reserves more
			return filepath.Dir(dir)
		},
		Turn: disktest.InOrder(
			func() error {
				all, err := s.List()
				if err == nil && len(all) != 1 {
					err = errors.New("there is one entry")
				}
				return err
			},
			func() error { _, err := s.Find(held.Conversation, held.MessageID); return err },
			func() error { _, err := s.Load(held.Key); return err },
			func() error { _, err := s.Reopen(reopened, Held); return err },
			func() error {
				s.setAsideRaw("tap", []byte("{"), errors.New("it is no update"))
				if len(aside(dir)) == 0 {
					return errors.New("an update is set aside")
				}
				return nil
			},
			func() error { return s.confirmed(0) },
		),
		Done: func(t *testing.T) {
			assert.ElementsMatch(t, []string{"2.done", "2.json", "3.json"}, files(t, dir))
			assert.NotEmpty(t, aside(dir))
		},
	}
}

// aside returns the updates in quarantine.
func aside(dir string) []string {
	names, _ := filepath.Glob(filepath.Join(dir, "../quarantine/*-tap.json"))
	return names
}

func TestP4_StoreOutlivesFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return turnsOfStore() })
}

// TestP4_UnreadEntryIsNotAbsent: an entry that cannot be read now is neither missing nor the end of
// a list.
func TestP4_UnreadEntryIsNotAbsent(t *testing.T) {
	s, dir := openStore(t)
	for n := range 2 {
		_, err := s.Add(Entry{Key: UpdateKey(int64(n + 1)), State: Held, MessageID: n + 1})
		require.NoError(t, err)
	}
	heal := disk.Fail(func(op, path string) error {
		if op == "read" && path == filepath.Join(dir, "1.json") {
			return syscall.EIO
		}
		return nil
	})
	defer heal()
	all, err := s.List()
	require.ErrorIs(t, err, ErrUnread)
	require.ErrorIs(t, err, syscall.EIO)
	assert.Equal(t, []string{"2"}, keys(all))
	_, err = s.Find(all[0].Conversation, 1)
	require.NotErrorIs(t, err, ErrNoEntry)
	require.ErrorIs(t, err, syscall.EIO)
	e, err := s.Find(all[0].Conversation, 2)
	require.NoError(t, err)
	assert.Equal(t, "2", e.Key)
}

func TestP4_AcceptedMessagesOutliveFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return &faultyInbox{} })
}
