package transcript

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/history"
	"ccbot/agent/jsonl"
	"ccbot/internal/waittest"
	"ccbot/internal/watch"
	"ccbot/internal/watch/watchtest"
	"ccbot/port/talk"
)

// following runs a follower and passes its items on; an error ends it.
type following struct {
	items chan jsonl.Item
	errs  chan error
	path  string
	f     *jsonl.Follower
}

func follow(t *testing.T, c talk.Cursor, log *slog.Logger) *following {
	return followIn(t, watchtest.Run(t, watch.New(log)), c, log)
}

func followIn(t *testing.T, room *watch.Watcher, c talk.Cursor, log *slog.Logger) *following {
	ctx, cancel := context.WithCancel(t.Context())
	fw := &following{items: make(chan jsonl.Item, 100), errs: make(chan error, 1), path: filepath.Clean(c.Path), f: Form().Follower(c, room, log)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			item, err := fw.f.Next(ctx)
			if err != nil {
				fw.errs <- err
				return
			}
			fw.items <- item
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		require.NoError(t, fw.f.Close())
	})
	return fw
}

func (fw *following) expect(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		select {
		case item := <-fw.items:
			require.Equal(t, text, item.Text)
		case err := <-fw.errs:
			require.NoError(t, err)
		case <-waittest.Context(t).Done():
			require.Fail(t, "nothing came", text)
		}
	}
}

func (fw *following) expectError(t *testing.T, target error) {
	t.Helper()
	require.ErrorIs(t, waittest.Next(t, fw.errs, "an error"), target)
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestFollowerSeesWhatIsAppended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	write(t, path, prompt("one"))
	fw := follow(t, talk.Cursor{Path: path}, quiet())
	fw.expect(t, "one")
	line := prompt("two 👋")
	appendTo(t, path, line[:len(line)/2])
	appendTo(t, path, line[len(line)/2:])
	fw.expect(t, "two 👋")
	for range 50 {
		appendTo(t, path, prompt("more"))
		fw.expect(t, "more")
	}
}

func TestFollowerWaitsForFoldersAndFile(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "config", "projects", "-tmp-x")
	path := filepath.Join(dir, "s.jsonl")
	fw := follow(t, talk.Cursor{Path: path}, quiet())
	write(t, filepath.Join(root, "noise"), "x")
	require.NoError(t, os.Mkdir(filepath.Join(root, "config"), 0o700))
	require.NoError(t, os.MkdirAll(dir, 0o700))
	write(t, filepath.Join(dir, "other.jsonl"), prompt("not mine"))
	write(t, path, prompt("one"))
	fw.expect(t, "one")
	appendTo(t, path, prompt("two"))
	fw.expect(t, "two")
}

func TestFollowerWaitsForFileInFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	fw := follow(t, talk.Cursor{Path: path}, quiet())
	write(t, path, prompt("one"))
	fw.expect(t, "one")
}

func TestFollowerSurvivesFolderReplacement(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "projects")
	require.NoError(t, os.Mkdir(dir, 0o700))
	path := filepath.Join(dir, "s.jsonl")
	fw := follow(t, talk.Cursor{Path: path}, quiet())
	for range 20 {
		require.NoError(t, os.Remove(dir))
		require.NoError(t, os.Mkdir(dir, 0o700))
	}
	write(t, path, prompt("one"))
	fw.expect(t, "one")
}

// The file is made between the first read and the watch, or shortly before or after.
func TestFollowerMissesNothingAsItStarts(t *testing.T) {
	dir := t.TempDir()
	room := watchtest.Run(t, watch.New(quiet()))
	for i := range 300 {
		path := filepath.Join(dir, strconv.Itoa(i), "s.jsonl")
		made := make(chan error, 1)
		go func() {
			made <- errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(prompt("one")), 0o600))
		}()
		f := Form().Follower(talk.Cursor{Path: path}, room, quiet())
		item, err := f.Next(waittest.Context(t))
		require.NoError(t, <-made)
		require.NoError(t, err)
		require.Equal(t, "one", item.Text)
		require.NoError(t, f.Close())
	}
}

// A folder made again under the same name is another folder: the watch on the first one is dead.
func TestFollowerWatchesAFolderMadeAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "projects")
	require.NoError(t, os.Mkdir(dir, 0o700))
	path := filepath.Join(dir, "s.jsonl")
	fw := follow(t, talk.Cursor{Path: path}, quiet())
	require.NoError(t, os.Rename(dir, dir+".away"))
	write(t, filepath.Join(dir+".away", "s.jsonl"), prompt("elsewhere"))
	require.NoError(t, os.Mkdir(dir, 0o700))
	write(t, filepath.Join(dir, "other.jsonl"), prompt("not mine"))
	write(t, path, prompt("one"))
	fw.expect(t, "one")
}

// Linux allows 128 instances for each user by default.
func TestManyFollowersShareOneInstance(t *testing.T) {
	instances := func() (n int) {
		all, err := filepath.Glob("/proc/self/fd/*")
		require.NoError(t, err)
		for _, fd := range all {
			if to, _ := os.Readlink(fd); to == "anon_inode:inotify" {
				n++
			}
		}
		return n
	}
	before, dir, room := instances(), t.TempDir(), watchtest.Run(t, watch.New(quiet()))
	var all []*following
	for i := range 200 {
		path := filepath.Join(dir, strconv.Itoa(i), "s.jsonl")
		require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
		all = append(all, followIn(t, room, talk.Cursor{Path: path}, quiet()))
	}
	for _, fw := range all {
		write(t, fw.path, prompt("one"))
		fw.expect(t, "one")
		appendTo(t, fw.path, prompt("two"))
		fw.expect(t, "two")
	}
	if runtime.GOOS == "linux" {
		assert.Equal(t, before+1, instances())
	}
}

func TestFollowerTellsTruncationAndReplacement(t *testing.T) {
	tests := []struct {
		name string
		then func(t *testing.T, path string)
	}{
		{"truncated", func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 0)) }},
		{"replaced", func(t *testing.T, path string) {
			write(t, path+".new", prompt("other"))
			require.NoError(t, os.Rename(path+".new", path))
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.jsonl")
			write(t, path, prompt("one"))
			fw := follow(t, talk.Cursor{Path: path}, quiet())
			fw.expect(t, "one")
			tc.then(t, path)
			fw.expectError(t, history.ErrTruncated)
		})
	}
}

func TestFollowerEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := Form().Follower(talk.Cursor{Path: filepath.Join(t.TempDir(), "s.jsonl")}, watch.New(quiet()), quiet())
	defer f.Close()
	cancel()
	_, err := f.Next(ctx)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestFollowerLogsBrokenLinesWithoutText(t *testing.T) {
	var log bytes.Buffer
	path := filepath.Join(t.TempDir(), "s.jsonl")
	write(t, path, "secret garbage\n"+prompt("one"))
	f := Form().Follower(talk.Cursor{Path: path}, watch.New(quiet()), slog.New(slog.NewTextHandler(&log, nil)))
	defer f.Close()
	item, err := f.Next(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "one", item.Text)
	assert.Equal(t, 1, strings.Count(log.String(), "transcript_broken_lines"))
	assert.NotContains(t, log.String(), "secret")
}
