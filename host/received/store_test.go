package received

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/programtest"
)

var errSource = errors.New("the source is gone")

// world is a store, and a session's directory.
type world struct {
	*Store
	records, dir string
	at           time.Time
	ended        Ended
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root := t.TempDir()
	w := &world{ended: never, records: filepath.Join(root, "state", "received"), dir: filepath.Join(root, "work"),
		at: time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)}
	require.NoError(t, os.Mkdir(w.dir, 0o755))
	w.again(t)
	return w
}

// again is the store after a restart.
func (w *world) again(t *testing.T) {
	t.Helper()
	var err error
	w.Store, err = Open(w.records, func() time.Time { return w.at }, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
}

// first is an empty body whose effect comes before the bodies after it.
type first func()

func (f first) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

func (w *world) put(t *testing.T, id, name, text string) string {
	t.Helper()
	name, err := w.Put(w.dir, id, name, strings.NewReader(text))
	require.NoError(t, err)
	return name
}

func (w *world) path(name string) string { return filepath.Join(w.dir, Folder, name) }

// names returns the names in the folder, without .gitignore.
func (w *world) names(t *testing.T) (names []string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(w.dir, Folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	for _, f := range files {
		if f.Name() != ".gitignore" {
			names = append(names, f.Name())
		}
	}
	return names
}

func (w *world) noted(t *testing.T) int {
	t.Helper()
	items, err := w.Store.records.List()
	require.NoError(t, err)
	return len(items)
}

func TestPutFile(t *testing.T) {
	w := newWorld(t)
	assert.Equal(t, "a.txt", w.put(t, "1", "a.txt", "one"))
	assert.Equal(t, "a-2.txt", w.put(t, "2", "a.txt", "two"), "another file keeps its name")
	assert.Equal(t, "passwd", w.put(t, "3", "../../etc/passwd", "three"))
	assert.Equal(t, []string{"a-2.txt", "a.txt", "passwd"}, w.names(t))
	for name, want := range map[string]string{"a.txt": "one", "a-2.txt": "two", ".gitignore": "*\n"} {
		data, err := os.ReadFile(w.path(name))
		require.NoError(t, err)
		assert.Equal(t, want, string(data), name)
		info, err := os.Lstat(w.path(name))
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), info.Mode(), name)
		assert.EqualValues(t, 1, info.Sys().(*syscall.Stat_t).Nlink, name)
	}
	info, err := os.Lstat(filepath.Join(w.dir, Folder))
	require.NoError(t, err)
	assert.Equal(t, fs.ModeDir|0o700, info.Mode())
	assert.Equal(t, 3, w.noted(t))
}

func TestP4_RepeatedPutStoresFileOnce(t *testing.T) {
	w := newWorld(t)
	name := w.put(t, "1", "a.txt", "one")
	w.again(t)
	found, err := w.Has(w.dir, "1")
	require.NoError(t, err)
	assert.Equal(t, name, found)
	again, err := w.Put(w.dir, "1", "a.txt", iotest.ErrReader(errSource))
	require.NoError(t, err, "it is there: the source is not asked")
	assert.Equal(t, name, again)
	assert.Equal(t, []string{name}, w.names(t))

	other := t.TempDir()
	_, err = w.Put(other, "1", "a.txt", strings.NewReader("one"))
	require.NoError(t, err)
	assert.FileExists(t, filepath.Join(other, Folder, "a.txt"), "another directory needs a file of its own")

	require.NoError(t, os.WriteFile(w.path(name), []byte("somebody else's"), 0o600))
	assert.Equal(t, "a-2.txt", w.put(t, "1", "a.txt", "one"), "what has changed is not it any more")
}

// TestP4_CrashLeavesNoPartialFile stops a put at each thing that it does, as a crash would.
func TestP4_CrashLeavesNoPartialFile(t *testing.T) {
	for _, tt := range []struct {
		name  string
		crash func(w *world)
	}{
		{"while it is filled", func(w *world) {
			_, _ = w.Put(w.dir, "1", "a.txt", io.MultiReader(strings.NewReader("half"), first(func() { panic("crash") })))
		}},
		{"before it has its name", func(w *world) {
			w.link = func(box *os.Root, from, to string) error {
				if to == ".gitignore" {
					return box.Link(from, to)
				}
				panic("crash")
			}
			_, _ = w.Put(w.dir, "1", "a.txt", strings.NewReader("one"))
		}},
		{"when it has both names", func(w *world) {
			w.link = func(box *os.Root, from, to string) error {
				if err := box.Link(from, to); err != nil || to == ".gitignore" {
					return err
				}
				panic("crash")
			}
			_, _ = w.Put(w.dir, "1", "a.txt", strings.NewReader("one"))
		}},
		{"while .gitignore is written", func(w *world) {
			w.link = func(box *os.Root, from, to string) error { panic("crash") }
			_, _ = w.Put(w.dir, "1", "a.txt", strings.NewReader("one"))
		}},
	} {
		crashed := func(t *testing.T) *world {
			w := newWorld(t)
			assert.PanicsWithValue(t, "crash", func() { tt.crash(w) })
			w.again(t)
			return w
		}
		t.Run(tt.name+", then tried again", func(t *testing.T) {
			w := crashed(t)
			assert.Equal(t, "a.txt", w.put(t, "1", "a.txt", "one"))
			assert.Equal(t, []string{"a.txt"}, w.names(t))
			data, err := os.ReadFile(w.path("a.txt"))
			require.NoError(t, err)
			assert.Equal(t, "one", string(data))
		})
		t.Run(tt.name+", then swept", func(t *testing.T) {
			w := crashed(t)
			require.NoError(t, w.sweep(time.Hour))
			for _, name := range w.names(t) {
				assert.Equal(t, "a.txt", name, "what is whole has its time, what is not goes at once")
			}
			w.at = w.at.Add(2 * time.Hour)
			require.NoError(t, w.sweep(time.Hour))
			assert.Empty(t, w.names(t))
			assert.Zero(t, w.noted(t))
		})
	}
}

func TestFailedSourceLeavesNothing(t *testing.T) {
	w := newWorld(t)
	_, err := w.Put(w.dir, "1", "a.txt", io.MultiReader(strings.NewReader("half"), iotest.ErrReader(errSource)))
	require.ErrorIs(t, err, errSource)
	assert.Empty(t, w.names(t))
	assert.Zero(t, w.noted(t))
	assert.Equal(t, "a.txt", w.put(t, "1", "a.txt", "one"))

	_, err = w.Put(filepath.Join(w.dir, "gone"), "2", "a.txt", strings.NewReader("one"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.Equal(t, 1, w.noted(t))
}

// A foreign file with the name of a file that is being written stays unchanged.
func TestP9_ExistingNameIsNotReplaced(t *testing.T) {
	w := newWorld(t)
	target := filepath.Join(w.dir, "target")
	require.NoError(t, os.WriteFile(target, []byte("mine"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(w.dir, Folder), 0o755))
	require.NoError(t, os.Symlink(target, w.path(".part-"+keyOf(w.dir, "1"))))
	_, err := w.Put(w.dir, "1", "a.txt", strings.NewReader("one"))
	require.ErrorIs(t, err, fs.ErrExist)
	require.NoError(t, os.Symlink(target, w.path("b.txt")))
	assert.Equal(t, "b-2.txt", w.put(t, "2", "b.txt", "two"))
	data, err := os.ReadFile(target)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(data))
}

func TestP9_ForeignFolderIsRefused(t *testing.T) {
	elsewhere := t.TempDir()
	for _, tt := range []struct {
		name string
		ship func(t *testing.T, folder string)
	}{
		{"a link out of the directory", func(t *testing.T, folder string) { require.NoError(t, os.Symlink(elsewhere, folder)) }},
		{"a link within the directory", func(t *testing.T, folder string) {
			require.NoError(t, os.Mkdir(filepath.Join(filepath.Dir(folder), "src"), 0o755))
			require.NoError(t, os.Symlink("src", folder))
		}},
		{"a link to nothing", func(t *testing.T, folder string) { require.NoError(t, os.Symlink("nothing", folder)) }},
		{"a file", func(t *testing.T, folder string) { require.NoError(t, os.WriteFile(folder, nil, 0o600)) }},
		{"a pipe", func(t *testing.T, folder string) { require.NoError(t, syscall.Mkfifo(folder, 0o600)) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.ship(t, filepath.Join(w.dir, Folder))
			_, err := w.Put(w.dir, "1", "a.txt", strings.NewReader("one"))
			require.ErrorIs(t, err, ErrNotOurs)
			assert.Zero(t, w.noted(t))
			require.NoError(t, w.sweep(time.Nanosecond))
			for _, dir := range []string{elsewhere, filepath.Join(w.dir, "src")} {
				files, _ := os.ReadDir(dir)
				assert.Empty(t, files)
			}
		})
	}
}

func TestP9_ForeignFolderIsRefused_AsRoot(t *testing.T) {
	programtest.RequireRoot(t)
	w := newWorld(t)
	folder := filepath.Join(w.dir, Folder)
	require.NoError(t, os.Mkdir(folder, 0o777))
	require.NoError(t, os.Chown(folder, 12345, 12345))
	_, err := w.Put(w.dir, "1", "a.txt", strings.NewReader("one"))
	require.ErrorIs(t, err, ErrNotOurs)
	assert.Zero(t, w.noted(t))
}

// A folder that replaces the checked one gets nothing.
func TestP9_SwappedFolderGetsNoFile(t *testing.T) {
	for _, tt := range []struct {
		name string
		swap func(w *world) error
	}{
		{"for a link", func(w *world) error {
			return errors.Join(os.Rename(filepath.Join(w.dir, Folder), filepath.Join(w.dir, "old")),
				os.Mkdir(filepath.Join(w.dir, "target"), 0o755), os.Symlink("target", filepath.Join(w.dir, Folder)))
		}},
		{"for another directory", func(w *world) error {
			return errors.Join(os.Rename(filepath.Join(w.dir, Folder), filepath.Join(w.dir, "old")),
				os.Mkdir(filepath.Join(w.dir, Folder), 0o755))
		}},
		{"for nothing", func(w *world) error {
			return os.Rename(filepath.Join(w.dir, Folder), filepath.Join(w.dir, "old"))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			swap := first(func() { require.NoError(t, tt.swap(w)) })
			_, err := w.Put(w.dir, "1", "a.txt", io.MultiReader(swap, strings.NewReader("secret")))
			require.Error(t, err)
			require.NoError(t, filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					assert.Equal(t, ".gitignore", d.Name(), path)
				}
				return err
			}))
			assert.Zero(t, w.noted(t))
		})
	}
}

// Something else replaces it between the check and the call that opens it.
func TestP9_CheckedFileIsOpened(t *testing.T) {
	for _, tt := range []struct {
		name string
		swap func(t *testing.T, dir string)
	}{
		{"a link within the directory", func(t *testing.T, dir string) {
			require.NoError(t, os.Mkdir(filepath.Join(dir, "src"), 0o755))
			require.NoError(t, os.Symlink("src", filepath.Join(dir, Folder)))
		}},
		{"a link out of the directory", func(t *testing.T, dir string) {
			require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(dir, Folder)))
		}},
		{"another directory", func(t *testing.T, dir string) { require.NoError(t, os.Mkdir(filepath.Join(dir, Folder), 0o755)) }},
		{"a file", func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, Folder), nil, 0o600))
		}},
		{"nothing", func(*testing.T, string) {}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(dir, Folder), 0o700))
			root, err := os.OpenRoot(dir)
			require.NoError(t, err)
			defer root.Close()
			named, err := statFolder(root)
			require.NoError(t, err)
			require.NoError(t, os.Rename(filepath.Join(dir, Folder), filepath.Join(dir, "old")))
			tt.swap(t, dir)
			_, err = enter(root, named)
			require.Error(t, err)
			info, err := os.Stat(filepath.Join(dir, "src"))
			if err == nil {
				assert.Equal(t, fs.FileMode(0o755), info.Mode().Perm(), "not even its mode is changed")
			}
		})
	}
}

func TestP9_LinkedGitignoreIsNotFollowed(t *testing.T) {
	for _, target := range []string{"../src.go", "nothing", "/tmp/nothing-of-ours"} {
		t.Run(target, func(t *testing.T) {
			w := newWorld(t)
			source := filepath.Join(w.dir, "src.go")
			require.NoError(t, os.WriteFile(source, []byte("package p"), 0o644))
			require.NoError(t, os.Mkdir(filepath.Join(w.dir, Folder), 0o755))
			require.NoError(t, os.Symlink(target, w.path(".gitignore")))
			w.put(t, "1", "a.txt", "one")
			data, err := os.ReadFile(source)
			require.NoError(t, err)
			assert.Equal(t, "package p", string(data))
			assert.NoFileExists(t, w.path("nothing"))
			assert.NoFileExists(t, "/tmp/nothing-of-ours")
			link, err := os.Readlink(w.path(".gitignore"))
			require.NoError(t, err)
			assert.Equal(t, target, link)
			info, err := os.Lstat(filepath.Join(w.dir, Folder))
			require.NoError(t, err)
			assert.Equal(t, fs.FileMode(0o700), info.Mode().Perm(), "a repository's folder is closed")
		})
	}
}

func TestSweepRemovesOnlyRecordedFiles(t *testing.T) {
	w := newWorld(t)
	later := func(d time.Duration) {
		w.at = w.at.Add(d)
		w.again(t)
		require.NoError(t, w.sweep(24*time.Hour, "waits.txt"))
	}
	for _, name := range []string{"a.txt", "waits.txt", "edited.txt", "replaced.txt", "linked.txt", "gone.txt", "same-size.txt"} {
		w.put(t, name, name, "text of "+name)
	}
	require.NoError(t, os.WriteFile(w.path("foreign.txt"), []byte("a person's"), 0o600))
	require.NoError(t, os.WriteFile(w.path("edited.txt"), []byte("worked on"), 0o600))
	require.NoError(t, os.Chtimes(w.path("same-size.txt"), time.Time{}, time.Now().Add(time.Minute)))
	require.NoError(t, os.WriteFile(w.path("new"), []byte("text of replaced.txt"), 0o600))
	require.NoError(t, os.Rename(w.path("new"), w.path("replaced.txt")))
	require.NoError(t, os.Remove(w.path("linked.txt")))
	require.NoError(t, os.Symlink("foreign.txt", w.path("linked.txt")))
	require.NoError(t, os.Remove(w.path("gone.txt")))

	later(23 * time.Hour)
	assert.Contains(t, w.names(t), "a.txt")
	assert.Equal(t, 7, w.noted(t))
	later(2 * time.Hour)
	left := []string{"edited.txt", "foreign.txt", "linked.txt", "replaced.txt", "same-size.txt", "waits.txt"}
	assert.Equal(t, left, w.names(t))
	assert.Equal(t, 1, w.noted(t), "what is not ours any more is forgotten")
	require.NoError(t, w.sweep(24*time.Hour))
	assert.Contains(t, w.names(t), "waits.txt", "its time begins when its prompt is typed")
	w.at = w.at.Add(25 * time.Hour)
	require.NoError(t, w.sweep(0))
	assert.Contains(t, w.names(t), "waits.txt", "0: never")
	require.NoError(t, w.sweep(24*time.Hour))
	assert.NotContains(t, w.names(t), "waits.txt")
	assert.Zero(t, w.noted(t))
}

// sweep removes what is due, apart from the files that prompts need.
func (w *world) sweep(ttl time.Duration, needed ...string) error {
	return w.Sweep(context.Background(), ttl, w.ended, func(_ context.Context, dir string, names []string) error {
		return w.Discard(dir, slices.DeleteFunc(names, func(name string) bool { return slices.Contains(needed, name) }), w.ended)
	})
}

// never is a directory without a record of a session.
func never(string) (at time.Time, open bool) { return time.Time{}, false }

// TestFileAgeStartsAtSessionEnd: a session that is open keeps the files that it was sent.
func TestFileAgeStartsAtSessionEnd(t *testing.T) {
	w := newWorld(t)
	w.put(t, "1", "a.txt", "one")
	came := w.at
	ended, open := time.Time{}, true
	sweep := func(after time.Duration) {
		w.at = came.Add(after)
		w.ended = func(dir string) (time.Time, bool) {
			assert.Equal(t, w.dir, dir)
			return ended, open
		}
		require.NoError(t, w.sweep(time.Hour))
	}
	sweep(100 * time.Hour)
	assert.Contains(t, w.names(t), "a.txt", "its session is open")
	ended, open = came.Add(100*time.Hour), false
	sweep(100*time.Hour + 59*time.Minute)
	assert.Contains(t, w.names(t), "a.txt")
	sweep(101 * time.Hour)
	assert.Empty(t, w.names(t))
}

func TestSweepOutlivesMissingFolder(t *testing.T) {
	w := newWorld(t)
	w.put(t, "1", "a.txt", "one")
	require.NoError(t, os.RemoveAll(w.dir))
	require.NoError(t, os.WriteFile(filepath.Join(w.records, "bad.json"), []byte(`{"version":1,"dir":"/x","part":"../../y","at":"2026-05-04T10:00:00Z"}`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(w.records, "new.json"), []byte(`{"version":99}`), 0o600))
	w.at = w.at.Add(time.Hour)
	require.NoError(t, w.sweep(time.Minute))
	assert.Zero(t, w.noted(t))
	aside, err := filepath.Glob(filepath.Join(w.records, "..", "quarantine", "*bad.json"))
	require.NoError(t, err)
	assert.NotEmpty(t, aside)
}

func TestSweepSparesFileBeingPut(t *testing.T) {
	w := newWorld(t)
	sweep := first(func() { assert.NoError(t, w.sweep(time.Nanosecond)) })
	name, err := w.Put(w.dir, "1", "a.txt", io.MultiReader(sweep, strings.NewReader("one")))
	require.NoError(t, err)
	assert.FileExists(t, w.path(name))
}

func TestManyAtOnce(t *testing.T) {
	w := newWorld(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			_, err := w.Put(w.dir, string(rune('a'+i)), "a.txt", strings.NewReader("one"))
			assert.NoError(t, err)
		})
	}
	for range 8 {
		all.Go(func() {
			_, err := w.Put(w.dir, "same", "b.txt", strings.NewReader("two"))
			assert.NoError(t, err)
		})
	}
	all.Wait()
	assert.Len(t, w.names(t), 9)
}

func TestWithoutHardLinks(t *testing.T) {
	w := newWorld(t)
	for _, refused := range []error{syscall.EPERM, syscall.ENOTSUP, syscall.EMLINK} {
		w.link = func(*os.Root, string, string) error { return &os.LinkError{Op: "linkat", Err: refused} }
		w.put(t, refused.Error(), "a.txt", "one")
	}
	assert.Equal(t, []string{"a-2.txt", "a-3.txt", "a.txt"}, w.names(t))
	data, err := os.ReadFile(w.path("a-3.txt"))
	require.NoError(t, err)
	assert.Equal(t, "one", string(data))
	w.at = w.at.Add(time.Hour)
	require.NoError(t, w.sweep(time.Minute))
	assert.Empty(t, w.names(t))
}

func TestRunSweepsNowAndWhenDue(t *testing.T) {
	for ttl, every := range map[time.Duration]time.Duration{24 * time.Hour: time.Hour, time.Minute: 5 * time.Second} {
		t.Run(ttl.String(), func(t *testing.T) { testRun(t, ttl, every) })
	}
}

func testRun(t *testing.T, ttl, every time.Duration) {
	w := newWorld(t)
	w.put(t, "1", "a.txt", "one")
	synctest.Test(t, func(t *testing.T) {
		w.again(t) // its locks are of this test's
		ctx, cancel := context.WithCancel(t.Context())
		looks, done := make(chan error), make(chan error, 1)
		w.at = w.at.Add(ttl)
		go func() {
			done <- w.Run(ctx, ttl, never, func(context.Context, string, []string) error { return <-looks })
		}()
		begun := time.Now()
		looks <- errSource // the chat was not asked
		assert.Zero(t, time.Since(begun))
		synctest.Wait()
		looks <- nil
		assert.Equal(t, every, time.Since(begun), "so it is asked again")
		synctest.Wait()
		assert.FileExists(t, w.path("a.txt"), "until the chat has answered")
		cancel()
		require.NoError(t, <-done)
	})
}
