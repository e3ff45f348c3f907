package bot_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/internal/session"
	"ccbot/port/refusal"
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

// A file that grows during the call is sent with its first size.
func TestGrowingFileKeepsFirstSize(t *testing.T) {
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
		want   refusal.Code
		cap    string
	}{
		{"the session is over", func(d *chattest.FileWorld) {
			d.Records.Change(d.R.ID, func(r *session.Record) { r.State = session.Archived })
		}, refusal.WrongState, ""},
		{"nobody is allowed there any more", func(d *chattest.FileWorld) {
			d.Records.Change(d.R.ID, func(r *session.Record) { r.Conversation = session.Conversation{ChatID: chattest.Eve} })
		}, refusal.NotShown, ""},
		{"a caption that is too long", func(*chattest.FileWorld) {}, refusal.CaptionTooLong, strings.Repeat("😀", 512) + "x"},
		{"a file of elsewhere", func(d *chattest.FileWorld) {
			d.Records.Change(d.R.ID, func(r *session.Record) { r.Dir = d.Elsewhere })
		}, refusal.FileOutside, ""},
		{"a file that is too large", func(d *chattest.FileWorld) {
			if err := os.Truncate(filepath.Join(d.Dir, "a.txt"), outbox.MaxFile+1); err != nil {
				panic(err)
			}
		}, refusal.FileTooBig, ""},
		{"telegram is slow", func(d *chattest.FileWorld) {
			d.Sends.Before = func() error { return fmt.Errorf("send file: %w: %w", outbox.ErrUnsure, context.DeadlineExceeded) }
		}, refusal.TookTooLong, ""},
		{"telegram says no", func(d *chattest.FileWorld) {
			d.Sends.Before = func() error { return fmt.Errorf("send: %w", &outbox.Refused{Err: errors.New("too big")}) }
		}, refusal.NotTaken, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := chattest.NewFileWorld(t)
			path := d.Inside(t, "a.txt", "hello")
			tt.change(d)
			err := d.SendFile(t.Context(), d.R.ID, path, tt.cap)
			require.Equal(t, tt.want, refusal.In(err).Code)
			assert.Equal(t, tt.want == refusal.NotTaken, refusal.In(err).Reason == "too big")
			assert.Empty(t, d.Telegram.Done())
		})
	}
}

func TestSendFileIsLimitedPerSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := chattest.NewFileWorld(t)
		path := d.Inside(t, "a.txt", "hello")
		send := func() error { return d.SendFile(t.Context(), d.R.ID, path, "") }
		for range 10 {
			require.NoError(t, send())
			time.Sleep(2 * time.Second)
		}
		refused := (*refusal.Error)(nil)
		require.ErrorAs(t, send(), &refused)
		assert.Equal(t, refusal.SentTooMany, refused.Code)
		assert.Equal(t, "40", refused.Reason, "the first of the ten is 20 s old")
		assert.Len(t, d.Telegram.Done(), 10)

		time.Sleep(40 * time.Second)
		require.NoError(t, send())
		require.Error(t, send(), "the second of the ten is 58 s old")

	})
}

// TestAgentFilesLetRepliesPass: requested messages are sent before waiting files.
func TestAgentFilesLetRepliesPass(t *testing.T) {
	d := chattest.NewFileWorld(t)
	require.NoError(t, d.SendFile(t.Context(), d.R.ID, d.Inside(t, "a.txt", "hello"), ""))
	require.Len(t, d.Sends.Files, 1)
	assert.Greater(t, d.Sends.Files[0].Rank, outbox.Talk)
}
