package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/internal/session"
)

// fileSender is a sender that notes what is in a file. A function of the test is
// called before it is read.
type fileSender struct {
	*fakeSender
	before func() error
}

func (f *fileSender) SendFile(_ context.Context, file outbox.File) (int, error) {
	if f.before != nil {
		if err := f.before(); err != nil {
			return 0, err
		}
	}
	body, err := io.ReadAll(io.NewSectionReader(file.Body, 0, file.Size))
	if err != nil {
		return 0, err
	}
	f.add("file %s to %d: %s (%s)", file.Name, file.To.ChatID, body, file.Caption.Text)
	return 1, nil
}

// fileWorld is a world with a session whose directory exists, and folders beside it.
type fileWorld struct {
	*world
	r              session.Record
	sends          *fileSender
	dir, elsewhere string
}

func newFileWorld(t *testing.T) *fileWorld {
	t.Helper()
	w := newWorld(t)
	home, err := filepath.EvalSymlinks(t.TempDir()) // a session's directory counts only where no link leads to it
	require.NoError(t, err)
	d := &fileWorld{world: w, sends: &fileSender{fakeSender: w.sender}, dir: filepath.Join(home, "api"), elsewhere: filepath.Join(home, "elsewhere")}
	w.Sender = d.sends
	w.StateDir, w.Home = filepath.Join(home, ".ccbot"), home
	for _, dir := range []string{d.dir, d.elsewhere, w.StateDir} {
		require.NoError(t, os.Mkdir(dir, 0o700))
	}
	d.r = w.currentSession(t, "api", session.Running)
	w.records.change(d.r.ID, func(r *session.Record) { r.Dir = d.dir })
	d.write(t, filepath.Join(w.StateDir, "ccbot.env"), "a secret")
	return d
}

func (d *fileWorld) write(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func (d *fileWorld) inside(t *testing.T, name, text string) string {
	t.Helper()
	return d.write(t, filepath.Join(d.dir, name), text)
}

func (d *fileWorld) outside(t *testing.T, name, text string) string {
	t.Helper()
	return d.write(t, filepath.Join(d.elsewhere, name), text)
}

// nothingSent requires that no file left.
func (d *fileWorld) nothingSent(t *testing.T) {
	t.Helper()
	for _, line := range d.sender.done() {
		assert.False(t, strings.HasPrefix(line, "file "), line)
	}
}

func TestSendFile(t *testing.T) {
	tests := []struct {
		name, file, caption, want string
	}{
		{"a file", "a.txt", "", "file a.txt to 7: hello ()"},
		{"in a folder, with a caption", "out/b c.png", "look", "file b c.png to 7: hello (look)"},
		{"a long caption", "a", strings.Repeat("😀", 512), "file a to 7: hello (" + strings.Repeat("😀", 512) + ")"},
		{"a hidden file", ".env", "", "file .env to 7: hello ()"},
		{"a name that turns around", "a\u202egnp.exe\n", "", "file a·gnp.exe· to 7: hello ()"},
		{"a name that is not seen", "\u2060", "", "file file to 7: hello ()"},
		{"a name that is no text", "\xff.txt", "", "file \uFFFD.txt to 7: hello ()"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newFileWorld(t)
			require.NoError(t, d.SendFile(t.Context(), d.r.ID, d.inside(t, tt.file, "hello"), tt.caption))
			assert.Equal(t, []string{tt.want}, d.sender.done())
		})
	}
	t.Run("of a session that is not the current one", func(t *testing.T) {
		d := newFileWorld(t)
		d.currentSession(t, "web", session.Running)
		path := d.inside(t, "a.txt", "hello")
		require.NoError(t, d.SendFile(t.Context(), d.r.ID, path, "look"))
		require.NoError(t, d.SendFile(t.Context(), d.r.ID, path, strings.Repeat("x", 1024)), "a caption that fits alone is sent alone")
		assert.Equal(t, []string{"file a.txt to 7: hello (api\nlook)",
			"file a.txt to 7: hello (" + strings.Repeat("x", 1024) + ")"}, d.sender.done())
	})
}

// TestP9_OnlyRegularFilesOfTheSessionAreSent: everything else is refused.
func TestP9_OnlyRegularFilesOfTheSessionAreSent(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, d *fileWorld, path string) string // gives the path to ask for
		why  string                                               // of the refusal
	}{
		{"a FIFO", func(t *testing.T, _ *fileWorld, path string) string {
			require.NoError(t, syscall.Mkfifo(path, 0o600))
			return path
		}, "it is not a regular file"},
		{"a directory", func(_ *testing.T, d *fileWorld, _ string) string { return d.dir }, "it is not a regular file"},
		{"a device", func(*testing.T, *fileWorld, string) string { return "/dev/zero" }, outsideFile},
		{"a link to a device", func(t *testing.T, _ *fileWorld, path string) string {
			require.NoError(t, os.Symlink("/dev/zero", path))
			return path
		}, outsideFile},
		{"with two names, of which one may be ccbot's", func(t *testing.T, d *fileWorld, path string) string {
			require.NoError(t, os.Link(filepath.Join(d.StateDir, "ccbot.env"), path))
			return path
		}, "it has more than one name, by a hard link: copy it first"},
		{"empty", func(t *testing.T, d *fileWorld, _ string) string { return d.inside(t, "x", "") }, "it is empty"},
		{"too large", func(t *testing.T, d *fileWorld, _ string) string {
			path := d.inside(t, "x", "x")
			require.NoError(t, os.Truncate(path, outbox.MaxFile+1))
			return path
		}, "it has 50.0 MB, and Telegram takes 50.0 MB"},
		{"not there", func(_ *testing.T, _ *fileWorld, path string) string { return path }, "there is no such file"},
		{"below a file", func(t *testing.T, d *fileWorld, _ string) string {
			return filepath.Join(d.inside(t, "x", "x"), "y")
		}, "not a directory"},
		{"relative", func(t *testing.T, d *fileWorld, _ string) string {
			d.inside(t, "x", "x")
			return "x"
		}, "the path is not absolute"},
		{"elsewhere", func(t *testing.T, d *fileWorld, _ string) string { return d.outside(t, "x", "x") }, outsideFile},
		{"a link that leads out", func(t *testing.T, d *fileWorld, path string) string {
			require.NoError(t, os.Symlink(d.outside(t, "x", "x"), path))
			return path
		}, outsideFile},
		{"a link of a folder that leads out", func(t *testing.T, d *fileWorld, path string) string {
			d.outside(t, "x", "x")
			require.NoError(t, os.Symlink(d.elsewhere, path))
			return filepath.Join(path, "x")
		}, outsideFile},
		{"up and out", func(t *testing.T, d *fileWorld, _ string) string {
			d.outside(t, "x", "x")
			return d.dir + "/../elsewhere/x"
		}, outsideFile},
		{"a folder whose name begins like the session's", func(t *testing.T, d *fileWorld, _ string) string {
			return d.write(t, d.dir+"-2/x", "x")
		}, outsideFile},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newFileWorld(t)
			path := tt.make(t, d, filepath.Join(d.dir, "made"))
			refusal := (*FileRefusal)(nil)
			require.ErrorAs(t, d.SendFile(t.Context(), d.r.ID, path, ""), &refusal)
			assert.Equal(t, tt.why, refusal.Text)
			d.nothingSent(t)
		})
	}
}

// A file that is reached through a link is the session's own where it lies counts.
func TestSendFileThroughTheDirectorysOwnLinks(t *testing.T) {
	d := newFileWorld(t)
	path := d.inside(t, "a.txt", "hello")
	link := d.dir + "-link"
	require.NoError(t, os.Symlink(d.dir, link))
	require.NoError(t, os.Symlink("a.txt", filepath.Join(d.dir, "newest")))
	for _, p := range []string{filepath.Join(link, "a.txt"), filepath.Join(d.dir, "newest"), path} {
		require.NoError(t, d.SendFile(t.Context(), d.r.ID, p, ""))
	}
	d.records.change(d.r.ID, func(r *session.Record) { r.Dir += "/" })
	require.NoError(t, d.SendFile(t.Context(), d.r.ID, path, ""))
	assert.Len(t, d.sender.done(), 4)
}

// TestP9_ADirectoryThatBecameALinkOpensNothing: the agent puts a link in the place
// of its directory, or of one above, so that all there is would be inside.
func TestP9_ADirectoryThatBecameALinkOpensNothing(t *testing.T) {
	tests := []struct {
		name string
		swap func(t *testing.T, d *fileWorld)
	}{
		{"the directory", func(t *testing.T, d *fileWorld) {
			require.NoError(t, os.Rename(d.dir, d.dir+"-real"))
			require.NoError(t, os.Symlink(filepath.Dir(d.dir), d.dir))
		}},
		{"one above", func(t *testing.T, d *fileWorld) {
			d.records.change(d.r.ID, func(r *session.Record) { r.Dir = filepath.Join(d.dir, "x") })
			require.NoError(t, os.Symlink(filepath.Dir(d.dir), filepath.Join(d.dir, "up")))
			require.NoError(t, os.Symlink("up", filepath.Join(d.dir, "x")))
		}},
		{"it was one when the session began", func(t *testing.T, d *fileWorld) { // nobody can tell the two apart
			require.NoError(t, os.Symlink(d.elsewhere, d.dir+"-link"))
			d.records.change(d.r.ID, func(r *session.Record) { r.Dir = d.dir + "-link" })
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newFileWorld(t)
			path := d.outside(t, "a.txt", "hello")
			tt.swap(t, d)
			refusal := (*FileRefusal)(nil)
			require.ErrorAs(t, d.SendFile(t.Context(), d.r.ID, path, ""), &refusal)
			assert.Equal(t, "the session's folder is reached through a link: nothing is sent from there", refusal.Text)
			d.nothingSent(t)
		})
	}
	d := newFileWorld(t)
	root, err := os.OpenRoot(d.dir)
	require.NoError(t, err)
	defer root.Close()
	assert.True(t, isRoot(root, d.dir))
	require.NoError(t, os.Rename(d.dir, d.dir+"-real"))
	assert.False(t, isRoot(root, d.dir), "it went while it was opened")
	require.NoError(t, os.Symlink(d.dir+"-real", d.dir))
	assert.False(t, isRoot(root, d.dir))
}

// TestP9_CcbotsOwnFilesAreNeverSent: whoever asks, and also
// where the session's directory is above or in it.
func TestP9_CcbotsOwnFilesAreNeverSent(t *testing.T) {
	tests := []struct {
		name string
		path func(t *testing.T, d *fileWorld) string
	}{
		{"by its name", func(_ *testing.T, d *fileWorld) string { return filepath.Join(d.StateDir, "ccbot.env") }},
		{"up and down", func(_ *testing.T, d *fileWorld) string { return d.dir + "/../.ccbot/ccbot.env" }},
		{"by a link", func(t *testing.T, d *fileWorld) string {
			require.NoError(t, os.Symlink(filepath.Join(d.StateDir, "ccbot.env"), filepath.Join(d.dir, "x")))
			return filepath.Join(d.dir, "x")
		}},
		{"by a link of the folder", func(t *testing.T, d *fileWorld) string {
			require.NoError(t, os.Symlink(d.StateDir, filepath.Join(d.dir, "x")))
			return filepath.Join(d.dir, "x", "ccbot.env")
		}},
		{"where the state folder is a link itself", func(t *testing.T, d *fileWorld) string {
			real := d.StateDir
			d.StateDir = real + "-link"
			require.NoError(t, os.Symlink(real, d.StateDir))
			return filepath.Join(real, "ccbot.env")
		}},
		{"of a session that works there", func(_ *testing.T, d *fileWorld) string {
			d.records.change(d.r.ID, func(r *session.Record) { r.Dir = d.StateDir })
			return filepath.Join(d.StateDir, "ccbot.env")
		}},
		{"of a session that works above", func(_ *testing.T, d *fileWorld) string {
			d.records.change(d.r.ID, func(r *session.Record) { r.Dir = filepath.Dir(d.StateDir) })
			return filepath.Join(d.StateDir, "ccbot.env")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newFileWorld(t)
			refusal := (*FileRefusal)(nil)
			require.ErrorAs(t, d.SendFile(t.Context(), d.r.ID, tt.path(t, d), ""), &refusal)
			assert.Equal(t, ownFile, refusal.Text)
			assert.Empty(t, d.sender.done())
		})
	}
	t.Run("nothing is sent where the state folder is not known", func(t *testing.T) {
		d := newFileWorld(t)
		path := d.inside(t, "x", "x")
		for _, dir := range []string{"", filepath.Join(d.elsewhere, "gone")} {
			d.StateDir = dir
			require.Error(t, d.SendFile(t.Context(), d.r.ID, path, ""))
		}
		assert.Empty(t, d.sender.done())
	})
}

// TestP9_TheEnvironmentOfCcbotIsNeverSent: in /proc/self lies the bot's own, with
// the token in it.
func TestP9_TheEnvironmentOfCcbotIsNeverSent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc here")
	}
	d := newFileWorld(t)
	link := filepath.Join(d.dir, "x")
	require.NoError(t, os.Symlink("/proc/self/environ", link))
	for _, path := range []string{"/proc/self/environ", "/proc/thread-self/environ", fmt.Sprintf("/proc/%d/environ", os.Getpid()), link} {
		require.Error(t, d.SendFile(t.Context(), d.r.ID, path, ""), path)
	}
	assert.Empty(t, d.sender.done())
}

// TestP9_TheCheckedFileIsTheOneThatIsSent: another file takes its name between
// the check and the upload.
func TestP9_TheCheckedFileIsTheOneThatIsSent(t *testing.T) {
	d := newFileWorld(t)
	path := d.inside(t, "a.txt", "good")
	d.sends.before = func() error {
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.Symlink(filepath.Join(d.StateDir, "ccbot.env"), path))
		return nil
	}
	require.NoError(t, d.SendFile(t.Context(), d.r.ID, path, ""))
	assert.Equal(t, []string{"file a.txt to 7: good ()"}, d.sender.done())
	info, err := os.Stat(d.inside(t, "b", "b"))
	require.NoError(t, err)
	other, err := os.Stat(d.inside(t, "c", "c"))
	require.NoError(t, err)
	assert.Error(t, checkFile(info, other), "a name that was swapped between the two looks")
	assert.NoError(t, checkFile(info, info))
}

// A file that grows meanwhile is sent as long as it was.
func TestAFileThatGrowsIsSentAsItWas(t *testing.T) {
	d := newFileWorld(t)
	path := d.inside(t, "a.log", "good")
	d.sends.before = func() error {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString(" and more")
		return errors.Join(err, f.Close())
	}
	require.NoError(t, d.SendFile(t.Context(), d.r.ID, path, ""))
	assert.Equal(t, []string{"file a.log to 7: good ()"}, d.sender.done())
}

func TestSendFileIsRefused(t *testing.T) {
	tests := []struct {
		name   string
		change func(d *fileWorld)
		want   string
		cap    string
	}{
		{"the session is over", func(d *fileWorld) {
			d.records.change(d.r.ID, func(r *session.Record) { r.State = session.Archived })
		}, "the session is over", ""},
		{"nobody is allowed there any more", func(d *fileWorld) {
			d.records.change(d.r.ID, func(r *session.Record) { r.Conversation = session.Conversation{ChatID: eve} })
		}, "nobody is allowed any more in the chat that the session is shown in", ""},
		{"a caption that is too long", func(*fileWorld) {}, "the caption has more than 1024 characters", strings.Repeat("😀", 512) + "x"},
		{"telegram is slow", func(d *fileWorld) {
			d.sends.before = func() error { return fmt.Errorf("send file: %w: %w", outbox.ErrUnsure, errSlow) }
		}, "Telegram did not take it in ten minutes, and I gave up", ""},
		{"telegram says no", func(d *fileWorld) {
			d.sends.before = func() error { return fmt.Errorf("send: %w", &outbox.Refused{Err: errors.New("too big")}) }
		}, "Telegram does not take it: too big", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newFileWorld(t)
			path := d.inside(t, "a.txt", "hello")
			tt.change(d)
			refusal := (*FileRefusal)(nil)
			require.ErrorAs(t, d.SendFile(t.Context(), d.r.ID, path, tt.cap), &refusal)
			assert.Equal(t, tt.want, refusal.Text)
			assert.Empty(t, d.sender.done())
		})
	}
}

func TestBytesText(t *testing.T) {
	for n, want := range map[int64]string{1: "1 B", 1023: "1023 B", 1536: "1.5 KB", 50 << 20: "50.0 MB"} {
		assert.Equal(t, want, bytesText(n))
	}
}
