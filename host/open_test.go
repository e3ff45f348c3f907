package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/port/folders"
	"ccbot/port/refusal"
)

// records has one session.
type records struct{ one session.Record }

func (r *records) Shared() []session.Record { return []session.Record{r.one} }

func (r *records) Get(id uuid.UUID) (session.Record, bool) { return r.one, id == r.one.ID }

// opens is a machine with a session whose folder exists, and folders next to it.
type opens struct {
	*Machine
	records        *records
	dir, elsewhere string
}

func newOpens(t *testing.T) *opens {
	t.Helper()
	home := tree(t, []string{"api", "elsewhere", ".ccbot"}, nil)
	d := &opens{records: &records{session.Record{ID: uuid.New(), Dir: filepath.Join(home, "api")}},
		dir: filepath.Join(home, "api"), elsewhere: filepath.Join(home, "elsewhere")}
	d.Machine = &Machine{Home: home, Own: Own{Dir: filepath.Join(home, ".ccbot")}, Records: d.records, Tickets: new(Tickets)}
	d.write(t, filepath.Join(d.Own.Dir, "ccbot.env"), "a secret")
	return d
}

func (d *opens) write(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func (d *opens) inside(t *testing.T, name, text string) string {
	t.Helper()
	return d.write(t, filepath.Join(d.dir, name), text)
}

func (d *opens) outside(t *testing.T, name, text string) string {
	t.Helper()
	return d.write(t, filepath.Join(d.elsewhere, name), text)
}

// workIn sets another folder for the session.
func (d *opens) workIn(dir string) { d.records.one.Dir = dir }

// open opens a file of the session.
func (d *opens) open(t *testing.T, path string) folders.File {
	t.Helper()
	f, err := d.Open(t.Context(), d.records.one.ID, path)
	require.NoError(t, err, path)
	t.Cleanup(func() { assert.NoError(t, d.Tickets.Close(context.Background(), f.Ticket)) })
	return f
}

// refusal returns why a file is refused.
func (d *opens) refusal(t *testing.T, path string) refusal.Code {
	t.Helper()
	_, err := d.Open(t.Context(), d.records.one.ID, path)
	require.ErrorAs(t, err, new(*refusal.Error), path)
	return refusal.In(err).Code
}

// TestP9_OnlyRegularFilesAreSent: everything else is refused.
func TestP9_OnlyRegularFilesAreSent(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, d *opens, path string) string // returns the path to open
		why  refusal.Code                                     // of the refusal
	}{
		{"a FIFO", func(t *testing.T, _ *opens, path string) string {
			require.NoError(t, syscall.Mkfifo(path, 0o600))
			return path
		}, refusal.FileIrregular},
		{"a directory", func(_ *testing.T, d *opens, _ string) string { return d.dir }, refusal.FileIrregular},
		{"a device", func(*testing.T, *opens, string) string { return "/dev/zero" }, refusal.FileOutside},
		{"a link to a device", func(t *testing.T, _ *opens, path string) string {
			require.NoError(t, os.Symlink("/dev/zero", path))
			return path
		}, refusal.FileOutside},
		{"with two names, of which one may be ccbot's", func(t *testing.T, d *opens, path string) string {
			require.NoError(t, os.Link(filepath.Join(d.Own.Dir, "ccbot.env"), path))
			return path
		}, refusal.FileNamed},
		{"empty", func(t *testing.T, d *opens, _ string) string { return d.inside(t, "x", "") }, refusal.FileEmpty},
		{"not there", func(_ *testing.T, _ *opens, path string) string { return path }, refusal.FileMissing},
		{"below a file", func(t *testing.T, d *opens, _ string) string {
			return filepath.Join(d.inside(t, "x", "x"), "y")
		}, refusal.FileUnreadable},
		{"relative", func(t *testing.T, d *opens, _ string) string {
			d.inside(t, "x", "x")
			return "x"
		}, refusal.FileRelative},
		{"elsewhere", func(t *testing.T, d *opens, _ string) string { return d.outside(t, "x", "x") }, refusal.FileOutside},
		{"a link that leads out", func(t *testing.T, d *opens, path string) string {
			require.NoError(t, os.Symlink(d.outside(t, "x", "x"), path))
			return path
		}, refusal.FileOutside},
		{"a link of a folder that leads out", func(t *testing.T, d *opens, path string) string {
			d.outside(t, "x", "x")
			require.NoError(t, os.Symlink(d.elsewhere, path))
			return filepath.Join(path, "x")
		}, refusal.FileOutside},
		{"up and out", func(t *testing.T, d *opens, _ string) string {
			d.outside(t, "x", "x")
			return d.dir + "/../elsewhere/x"
		}, refusal.FileOutside},
		{"a folder whose name begins like the session's", func(t *testing.T, d *opens, _ string) string {
			return d.write(t, d.dir+"-2/x", "x")
		}, refusal.FileOutside},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newOpens(t)
			path := tt.make(t, d, filepath.Join(d.dir, "made"))
			assert.Equal(t, tt.why, d.refusal(t, path))
		})
	}
}

// A file that is reached through a link is the session's own where it lies counts.
func TestOpenThroughTheFoldersOwnLinks(t *testing.T) {
	d := newOpens(t)
	path := d.inside(t, "a.txt", "hello")
	link := d.dir + "-link"
	require.NoError(t, os.Symlink(d.dir, link))
	require.NoError(t, os.Symlink("a.txt", filepath.Join(d.dir, "newest")))
	for _, p := range []string{filepath.Join(link, "a.txt"), filepath.Join(d.dir, "newest"), path} {
		f := d.open(t, p)
		assert.Equal(t, "a.txt 5", fmt.Sprint(f.Name, " ", f.Size))
	}
	d.workIn(d.dir + "/")
	d.open(t, path)
	_, err := d.Open(t.Context(), uuid.New(), path)
	require.Error(t, err, "a session that is not known has no folder")
}

// TestP9_OpenRefusesLinkedDirectory: the agent puts a link in the place of its
// directory, or of one above, so that all there is would be inside.
func TestP9_OpenRefusesLinkedDirectory(t *testing.T) {
	tests := []struct {
		name string
		swap func(t *testing.T, d *opens)
	}{
		{"the directory", func(t *testing.T, d *opens) {
			require.NoError(t, os.Rename(d.dir, d.dir+"-real"))
			require.NoError(t, os.Symlink(filepath.Dir(d.dir), d.dir))
		}},
		{"one above", func(t *testing.T, d *opens) {
			d.workIn(filepath.Join(d.dir, "x"))
			require.NoError(t, os.Symlink(filepath.Dir(d.dir), filepath.Join(d.dir, "up")))
			require.NoError(t, os.Symlink("up", filepath.Join(d.dir, "x")))
		}},
		{"it was one when the session began", func(t *testing.T, d *opens) { // not distinguishable
			require.NoError(t, os.Symlink(d.elsewhere, d.dir+"-link"))
			d.workIn(d.dir + "-link")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newOpens(t)
			path := d.outside(t, "a.txt", "hello")
			tt.swap(t, d)
			assert.Equal(t, refusal.FileLinked, d.refusal(t, path))
		})
	}
}

// TestP9_CcbotsOwnFilesAreNeverSent covers a session's folder above or in ccbot's folder.
func TestP9_CcbotsOwnFilesAreNeverSent(t *testing.T) {
	tests := []struct {
		name string
		path func(t *testing.T, d *opens) string
	}{
		{"by its name", func(_ *testing.T, d *opens) string { return filepath.Join(d.Own.Dir, "ccbot.env") }},
		{"up and down", func(_ *testing.T, d *opens) string { return d.dir + "/../.ccbot/ccbot.env" }},
		{"by a link", func(t *testing.T, d *opens) string {
			require.NoError(t, os.Symlink(filepath.Join(d.Own.Dir, "ccbot.env"), filepath.Join(d.dir, "x")))
			return filepath.Join(d.dir, "x")
		}},
		{"by a link of the folder", func(t *testing.T, d *opens) string {
			require.NoError(t, os.Symlink(d.Own.Dir, filepath.Join(d.dir, "x")))
			return filepath.Join(d.dir, "x", "ccbot.env")
		}},
		{"where the state folder is a link itself", func(t *testing.T, d *opens) string {
			real := d.Own.Dir
			d.Own.Dir = real + "-link"
			require.NoError(t, os.Symlink(real, d.Own.Dir))
			return filepath.Join(real, "ccbot.env")
		}},
		{"of a session that works there", func(_ *testing.T, d *opens) string {
			d.workIn(d.Own.Dir)
			return filepath.Join(d.Own.Dir, "ccbot.env")
		}},
		{"of a session that works above", func(_ *testing.T, d *opens) string {
			d.workIn(filepath.Dir(d.Own.Dir))
			return filepath.Join(d.Own.Dir, "ccbot.env")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newOpens(t)
			assert.Equal(t, refusal.FileOwn, d.refusal(t, tt.path(t, d)))
		})
	}
	t.Run("nothing is sent where the state folder is not known", func(t *testing.T) {
		d := newOpens(t)
		path := d.inside(t, "x", "x")
		for _, dir := range []string{"", filepath.Join(d.elsewhere, "gone")} {
			d.Own.Dir = dir
			_, err := d.Open(t.Context(), d.records.one.ID, path)
			require.Error(t, err)
		}
	})
}

// TestP9_CcbotsEnvironmentIsNeverSent: in /proc/self lies the bot's own, with the token in it.
func TestP9_CcbotsEnvironmentIsNeverSent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc here")
	}
	d := newOpens(t)
	link := filepath.Join(d.dir, "x")
	require.NoError(t, os.Symlink("/proc/self/environ", link))
	for _, path := range []string{"/proc/self/environ", "/proc/thread-self/environ", fmt.Sprintf("/proc/%d/environ", os.Getpid()), link} {
		assert.Equal(t, refusal.FileOutside, d.refusal(t, path))
	}
	d.workIn(WithoutLinks("/proc/self"))
	assert.Equal(t, refusal.FileEmpty, d.refusal(t, "/proc/self/environ"))
}

// TestP9_CheckedFileIsSent: another file takes its name between the check and the
// upload.
func TestP9_CheckedFileIsSent(t *testing.T) {
	d := newOpens(t)
	path := d.inside(t, "a.txt", "good")
	f := d.open(t, path)
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Symlink(filepath.Join(d.Own.Dir, "ccbot.env"), path))
	data, err := d.Tickets.ReadPart(t.Context(), f.Ticket, 0)
	require.NoError(t, err)
	assert.Equal(t, "good", string(data))
}
