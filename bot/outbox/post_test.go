package outbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/render"
)

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestP8_PostsSurviveAKill(t *testing.T) {
	dir := t.TempDir()
	// The first life takes one message and dies with the second under way: its call is taken, the
	// answer never seen.
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, dir, func(ctx context.Context, n int, _ call) error {
			if n == 2 {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		})
		require.NoError(t, b.Post(t.Context(), say(5, "before Run")))
		b.run(t)
		for i := range 5 {
			require.NoError(t, b.Post(t.Context(), say(5, fmt.Sprint(i))))
		}
		b.idle(10 * time.Second)
		require.NoError(t, b.stop())
		require.NoError(t, b.Post(t.Context(), say(5, "after Run")))
		assert.Equal(t, []string{"before Run", "0"}, texts(b.seen("send", false)))
		assert.Len(t, files(t, b.posts.folder.Path), 6)
	})
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, dir, nil)
		b.run(t)
		b.idle(time.Minute)
		assert.Equal(t, []string{"0", "1", "2", "3", "4", "after Run"}, texts(b.seen("send", true)), "the one under way is repeated")
		assert.Empty(t, files(t, b.posts.folder.Path))
	})
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, dir, nil)
		b.run(t)
		b.idle(time.Minute)
		assert.Empty(t, b.seen("", false))
	})
}

func TestPostFileIsPrivateAndWhole(t *testing.T) {
	b := newBench(t, t.TempDir(), nil)
	m := Message{To: to(5), Text: render.Bold("receipt"), Buttons: [][]Button{{{Text: "Undo", Data: "u", Style: Danger}}}, ReplyTo: 3, Sounds: true}
	m.To.ThreadID = 9
	require.NoError(t, b.Post(t.Context(), m))
	names := files(t, b.posts.folder.Path)
	require.Len(t, names, 1)
	info, err := os.Stat(filepath.Join(b.posts.folder.Path, names[0]))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	got, ok := b.posts.read(names[0])
	require.True(t, ok)
	assert.Equal(t, m, got.Message)
}

func TestPostOfLongText(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, b *bench) {
		m := say(5, strings.Repeat("word ", 2000))
		m.Buttons = [][]Button{{{Text: "ok", Data: "d"}}}
		require.NoError(t, b.Post(t.Context(), m))
		b.idle(time.Minute)
		calls := b.seen("send", true)
		require.Len(t, calls, 3)
		assert.Equal(t, []string{"", "", "ok"}, []string{calls[0].buttons, calls[1].buttons, calls[2].buttons})
		assert.Equal(t, strings.TrimSpace(m.Text.Text), strings.Join(texts(calls), " "))
	})
}

// A second call must not repeat the first part.
func TestFailedPostLeavesNoPart(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, dir, nil)
		require.NoError(t, b.Load())
		second := filepath.Join(b.posts.folder.Path, fmt.Sprintf("%020d.json", time.Now().UnixNano()+1))
		require.NoError(t, os.MkdirAll(filepath.Join(second, "in the way"), 0o700))
		m := say(5, strings.Repeat("word ", 2000))
		require.Error(t, b.Post(t.Context(), m))
		require.NoError(t, os.RemoveAll(second))
		assert.Empty(t, files(t, b.posts.folder.Path))
		require.NoError(t, b.Post(t.Context(), m))
		b.run(t)
		b.idle(time.Minute)
		assert.Equal(t, strings.TrimSpace(m.Text.Text), strings.Join(texts(b.seen("send", true)), " "))
	})
}

func TestPostRefusedGoesToQuarantine(t *testing.T) {
	inBubble(t, func(context.Context, int, call) error { return errEntities }, func(t *testing.T, b *bench) {
		require.NoError(t, b.Post(t.Context(), say(5, "x")))
		b.idle(time.Minute)
		assert.Empty(t, files(t, b.posts.folder.Path))
		assert.Len(t, files(t, filepath.Join(b.dir, "quarantine")), 2, "the message and the reason")
		var refused *Refused
		assert.ErrorAs(t, b.Post(t.Context(), say(5, " ")), &refused)
	})
}

func TestPostFormattingRefused(t *testing.T) {
	inBubble(t, func(_ context.Context, _ int, c call) error {
		if c.entities > 0 {
			return errEntities
		}
		return nil
	}, func(t *testing.T, b *bench) {
		require.NoError(t, b.Post(t.Context(), Message{To: to(5), Text: render.Bold("x")}))
		b.idle(time.Minute)
		assert.Equal(t, []string{"x"}, texts(b.seen("send", true)))
		assert.Empty(t, files(t, b.posts.folder.Path))
	})
}

func TestForeignFilesDoNotBlock(t *testing.T) {
	dir := t.TempDir()
	outbox := filepath.Join(dir, "outbox")
	require.NoError(t, os.MkdirAll(outbox, 0o700))
	for name, text := range map[string]string{"0.json": "{", "1.json": `{"version":99}`, "2.json": "null", "x": `{"version":1,"message":{"to":{"chat_id":5}}}`, ".tmp": "x"} {
		require.NoError(t, os.WriteFile(filepath.Join(outbox, name), []byte(text), 0o600))
	}
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(outbox, "3.json")))
	later := fmt.Sprintf("%020d.json", time.Now().Add(24*365*100*time.Hour).UnixNano())
	require.NoError(t, os.WriteFile(filepath.Join(outbox, later), []byte(`{"version":1,"message":{"to":{"chat_id":5},"text":{"text":"old"}}}`), 0o600))
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, dir, nil)
		b.run(t)
		synctest.Wait()
		require.NoError(t, b.Post(t.Context(), say(5, "new"))) // the clock went back: still after the old one
		b.idle(time.Minute)
		assert.Equal(t, []string{"old", "new"}, texts(b.seen("send", true)))
		assert.Equal(t, []string{".tmp"}, files(t, outbox))
		assert.Len(t, files(t, filepath.Join(dir, "quarantine")), 15)
	})
}

func TestPostWhenTheDiskFails(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "outbox"), nil, 0o600)) // a file where the folder should be
	b := newBench(t, dir, nil)
	assert.Error(t, b.Post(t.Context(), say(5, "x")))
	assert.Error(t, b.Run(t.Context()))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, b.Post(ended, say(5, "x")), context.Canceled)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}
