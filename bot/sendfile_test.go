package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/bot/port/files"
	"ccbot/internal/session"
)

// fileSender is a sender that notes what is in a file. A function of the test is called before it
// is read.
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
	w.setSender(d.sends)
	w.StateDir = filepath.Join(home, ".ccbot")
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

func TestSendFile(t *testing.T) {
	tests := []struct {
		name, file, caption, want string
	}{
		{"a file", "a.txt", "", "file a.txt to 7: hello ()"},
		{"in a folder, with a caption", "out/b c.png", "look", "file b c.png to 7: hello (look)"},
		{"a long caption", "a", strings.Repeat("😀", 512), "file a to 7: hello (" + strings.Repeat("😀", 512) + ")"},
		{"a hidden file", ".env", "", "file .env to 7: hello ()"},
		{"a name that turns around", "a\u202egnp.exe\n", "", "file a·gnp.exe· to 7: hello ()"},
		{"a name that is not seen", "\u2060", "", "file · to 7: hello ()"},
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
		{"a file of elsewhere", func(d *fileWorld) {
			d.records.change(d.r.ID, func(r *session.Record) { r.Dir = d.elsewhere })
		}, "it lies outside of the session's folder: copy it into the folder first", ""},
		{"a file that is too large", func(d *fileWorld) {
			if err := os.Truncate(filepath.Join(d.dir, "a.txt"), outbox.MaxFile+1); err != nil {
				panic(err)
			}
		}, "it has more than the 50 MB that Telegram takes", ""},
		{"telegram is slow", func(d *fileWorld) {
			d.sends.before = func() error { return fmt.Errorf("send file: %w: %w", outbox.ErrUnsure, context.DeadlineExceeded) }
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
			refusal := (*files.Refusal)(nil)
			require.ErrorAs(t, d.SendFile(t.Context(), d.r.ID, path, tt.cap), &refusal)
			assert.Equal(t, tt.want, refusal.Text)
			assert.Empty(t, d.sender.done())
		})
	}
}
