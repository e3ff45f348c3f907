package outbox

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	tgbot "github.com/go-telegram/bot"

	"ccbot/internal/disk"
	"ccbot/internal/disk/disktest"
)

// faultyOutbox posts messages; Telegram refuses one for good and makes one chat wait.
type faultyOutbox struct {
	b    *bench
	want map[string]bool
}

func (f *faultyOutbox) Begin(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "state")
	f.want = map[string]bool{}
	var held atomic.Bool
	f.b = newBench(t, dir, func(_ context.Context, _ int, c call) error {
		switch {
		case c.text == "refused":
			return fmt.Errorf("%w, message is too odd", tgbot.ErrorBadRequest)
		case c.chat == 6 && held.CompareAndSwap(false, true):
			return &tgbot.TooManyRequestsError{Message: "wait", RetryAfter: 2}
		case c.chat == 7:
			return fmt.Errorf("%w, bot was blocked by the user", tgbot.ErrorForbidden)
		}
		return nil
	})
	f.b.run(t)
	synctest.Wait()
	return dir
}

func (f *faultyOutbox) Act(t *testing.T) {
	for i, text := range []string{"a", "refused", "b", "c"} {
		if err := f.b.Post(t.Context(), say(5+int64(i/3), text)); err == nil && text != "refused" {
			f.want[text] = true // an unaccepted message is the caller's
		}
	}
	_ = f.b.Post(t.Context(), say(7, "blocked"))
	time.Sleep(time.Second)
	if f.b.Post(t.Context(), say(5, "later")) == nil {
		f.want["later"] = true
	}
}

func (f *faultyOutbox) Check(t *testing.T) {
	sent := map[string]bool{}
	for _, c := range f.b.seen("send", true) {
		assert.False(t, sent[c.text], "%s was sent twice", c.text)
		sent[c.text] = true
	}
	assert.Equal(t, f.want, sent)
	left := files(t, f.b.posts.folder.Path)
	assert.LessOrEqual(t, len(left), 1, "but for the chat that accepts nothing: %s", left)
}

// turnsOfNotes notes for the next run which server has rich messages, and which chat is blocked.
func turnsOfNotes() *disktest.Turns {
	var b *bench
	return &disktest.Turns{
		Prepare: func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), "state")
			before := newBench(t, dir, nil)
			before.notes.suspend(5, errors.New("it is blocked"))
			b = newBench(t, dir, nil)
			return dir
		},
		Turn: func() error {
			b.notes.resume(5)
			b.notes.rich(false)
			b.notes.suspend(6, errors.New("it is blocked"))
			b.reacted(-6, "👀", fmt.Errorf("%w, Bad Request: REACTION_INVALID", tgbot.ErrorBadRequest))
			return nil
		},
		Done: func(t *testing.T) {
			next := newBench(t, b.dir, nil)
			_, suspended := next.notes.suspended.Get(key(5))
			assert.False(t, suspended)
			_, suspended = next.notes.suspended.Get(key(6))
			assert.True(t, suspended)
			assert.False(t, next.TakesReactions(-6))
			_, known := next.notes.servers.Get(next.notes.server)
			assert.True(t, known)
		},
	}
}

func TestP5_NotesOutliveFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return turnsOfNotes() })
}

func TestP5_PostsOutliveFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return &faultyOutbox{} })
}

// TestP5_LeftPostOutlivesFaultAtStart: a post of an earlier run cannot be read when the outbox
// begins.
func TestP5_LeftPostOutlivesFaultAtStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "state")
		before := newBench(t, dir, nil)
		require.NoError(t, before.Post(t.Context(), say(5, "a")))
		heal := disktest.FailAll(t, "read", filepath.Join(dir, "outbox"))
		b := newBench(t, dir, nil)
		b.run(t)
		require.NoError(t, b.Post(t.Context(), say(6, "other")))
		time.Sleep(time.Minute)
		assert.Empty(t, b.seen("send", true))
		heal()
		time.Sleep(disktest.HealTime)
		assert.ElementsMatch(t, []string{"a", "other"}, texts(b.seen("send", true)))
		assert.Empty(t, files(t, b.posts.folder.Path))
	})
}

// TestP5_RefusedPostIsNotLeft: the disk has refused a post after its file was written. The file is
// removed as soon as the disk allows it, because the caller posts the message again.
func TestP5_RefusedPostIsNotLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, filepath.Join(t.TempDir(), "state"), nil)
		b.run(t)
		synctest.Wait()
		heal := disk.Fail(func(op, _ string) error {
			if op == "sync" || op == "remove" {
				return syscall.EIO
			}
			return nil
		})
		defer heal()
		require.ErrorIs(t, b.Post(t.Context(), say(5, "a")), syscall.EIO)
		time.Sleep(time.Minute)
		assert.Len(t, files(t, b.posts.folder.Path), 1)
		heal()
		time.Sleep(disktest.HealTime)
		assert.Empty(t, files(t, b.posts.folder.Path))
		require.NoError(t, b.Post(t.Context(), say(5, "a")))
		synctest.Wait()
		assert.Equal(t, []string{"a"}, texts(b.seen("send", true)))
	})
}
