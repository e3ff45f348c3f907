package bot_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/bot/port/files"
	"ccbot/internal/session"
)

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
			d := chattest.NewFileWorld(t)
			require.NoError(t, d.SendFile(t.Context(), d.R.ID, d.Inside(t, tt.file, "hello"), tt.caption))
			assert.Equal(t, []string{tt.want}, d.Telegram.Done())
		})
	}
	t.Run("of a session that is not the current one", func(t *testing.T) {
		d := chattest.NewFileWorld(t)
		d.NewCurrentSession(t, "web", session.Running)
		path := d.Inside(t, "a.txt", "hello")
		require.NoError(t, d.SendFile(t.Context(), d.R.ID, path, "look"))
		require.NoError(t, d.SendFile(t.Context(), d.R.ID, path, strings.Repeat("x", 1024)), "a caption that fits alone is sent alone")
		assert.Equal(t, []string{"file a.txt to 7: hello (api\nlook)",
			"file a.txt to 7: hello (" + strings.Repeat("x", 1024) + ")"}, d.Telegram.Done())
	})
}

// A file that grows meanwhile is sent as long as it was.
func TestAFileThatGrowsIsSentAsItWas(t *testing.T) {
	d := chattest.NewFileWorld(t)
	path := d.Inside(t, "a.log", "good")
	d.Sends.Before = func() error {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString(" and more")
		return errors.Join(err, f.Close())
	}
	require.NoError(t, d.SendFile(t.Context(), d.R.ID, path, ""))
	assert.Equal(t, []string{"file a.log to 7: good ()"}, d.Telegram.Done())
}

func TestSendFileIsRefused(t *testing.T) {
	tests := []struct {
		name   string
		change func(d *chattest.FileWorld)
		want   string
		cap    string
	}{
		{"the session is over", func(d *chattest.FileWorld) {
			d.Records.Change(d.R.ID, func(r *session.Record) { r.State = session.Archived })
		}, "the session is over", ""},
		{"nobody is allowed there any more", func(d *chattest.FileWorld) {
			d.Records.Change(d.R.ID, func(r *session.Record) { r.Conversation = session.Conversation{ChatID: chattest.Eve} })
		}, "nobody is allowed any more in the chat that the session is shown in", ""},
		{"a caption that is too long", func(*chattest.FileWorld) {}, "the caption has more than 1024 characters", strings.Repeat("😀", 512) + "x"},
		{"a file of elsewhere", func(d *chattest.FileWorld) {
			d.Records.Change(d.R.ID, func(r *session.Record) { r.Dir = d.Elsewhere })
		}, "it lies outside of the session's folder: copy it into the folder first", ""},
		{"a file that is too large", func(d *chattest.FileWorld) {
			if err := os.Truncate(filepath.Join(d.Dir, "a.txt"), outbox.MaxFile+1); err != nil {
				panic(err)
			}
		}, "it has more than the 50 MB that Telegram takes", ""},
		{"telegram is slow", func(d *chattest.FileWorld) {
			d.Sends.Before = func() error { return fmt.Errorf("send file: %w: %w", outbox.ErrUnsure, context.DeadlineExceeded) }
		}, "Telegram did not take it in ten minutes, and I gave up", ""},
		{"telegram says no", func(d *chattest.FileWorld) {
			d.Sends.Before = func() error { return fmt.Errorf("send: %w", &outbox.Refused{Err: errors.New("too big")}) }
		}, "Telegram does not take it: too big", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := chattest.NewFileWorld(t)
			path := d.Inside(t, "a.txt", "hello")
			tt.change(d)
			refusal := (*files.Refusal)(nil)
			require.ErrorAs(t, d.SendFile(t.Context(), d.R.ID, path, tt.cap), &refusal)
			assert.Equal(t, tt.want, refusal.Text)
			assert.Empty(t, d.Telegram.Done())
		})
	}
}
