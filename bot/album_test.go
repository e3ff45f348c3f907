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

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot"
	"ccbot/bot/attachment"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port/folders"
	"ccbot/port/talk"
)

const albumText = "compare\nAttached file: .ccbot-inbox/photo-1001.png\nAttached file: .ccbot-inbox/photo-1002.png\nAttached file: .ccbot-inbox/photo-1003.png"

func TestAlbumIsOnePrompt(t *testing.T) {
	d := chattest.NewMediaWorld(t)
	key, handle := d.Album(t, "compare")
	require.NoError(t, handle(t.Context()))
	d.IsOnePrompt(t, key, albumText)
	assert.Equal(t, []string{"queue " + key + " for " + d.R.ID.String()}, d.Lifecycle.Done())
	assert.Contains(t, d.Telegram.Done(), "react 👀 to 1001 in 7")
	assert.NotContains(t, d.Telegram.Done(), "react 👀 to 1002 in 7")
	assert.Empty(t, d.Telegram.Texts())
	for _, id := range []int{1001, 1002, 1003} {
		of, ok := d.Chats.SessionOf(chattest.AtAlice, id)
		assert.True(t, ok && of == d.R.ID, "a reply to message %d goes to the session", id)
	}
}

// A message that comes after its album was handled is a separate prompt.
func TestLateAlbumMessageIsSeparatePrompt(t *testing.T) {
	d := chattest.NewMediaWorld(t)
	key, handle := d.AlbumOf(t, chattest.Part("g", "d", "and this"))
	require.NoError(t, d.Inbox.Change(key, func(e *inbox.Entry) error { e.Late = true; return nil }))
	require.NoError(t, handle(t.Context()))
	d.IsOnePrompt(t, key, "and this\nAttached file: .ccbot-inbox/photo-1001.png")
	assert.Equal(t, []string{chattest.Warning + d.Word(i18n.AlbumLate)}, d.Telegram.Texts())
	assert.Equal(t, 1001, d.Telegram.Last(t).ReplyTo)
}

var errCrash = errors.New("crash")

// TestP4_CrashDuplicatesNoAlbumPrompt stops the program at each write that makes a prompt of
// an album, and starts it again. Either the prompt was on disk or it is made then, and no file is
// there twice.
func TestP4_CrashDuplicatesNoAlbumPrompt(t *testing.T) {
	for at := 1; ; at++ {
		reached := false
		for _, typed := range []bool{false, true} {
			t.Run(fmt.Sprintf("write %d, typed %t", at, typed), func(t *testing.T) {
				d := chattest.NewMediaWorld(t)
				key, handle := d.Album(t, "compare")
				writes := 0
				crash := func() error {
					if writes++; writes == at {
						reached = true
						panic(errCrash)
					}
					return nil
				}
				d.Deps.Entries = crashing{d.Inbox, crash}
				d.Restart()
				func() {
					defer func() { _ = recover() }()
					_ = handle(t.Context())
				}()
				d.Deps.Entries = d.Inbox
				d.Restart()
				if d.EntryState(key) == inbox.Accepted {
					require.NoError(t, handle(t.Context()), "the intake hands on what was not handled")
				}
				require.NoError(t, d.Queued(key))
				d.IsOnePrompt(t, key, albumText)
				assert.Len(t, d.Received(t), 3)
				assert.Len(t, d.Downloads.Done(), 3)
			})
		}
		if !reached {
			require.Greater(t, at, 1, "no crash was played")
			return
		}
	}
}

// crashing dies at a write, before it.
type crashing struct {
	bot.Entries
	crash func() error
}

func (c crashing) Change(key string, change func(*inbox.Entry) error) error {
	return errors.Join(c.crash(), c.Entries.Change(key, change))
}

func TestP4_UnqueuedAlbumIsRetried(t *testing.T) {
	d := chattest.NewMediaWorld(t)
	key, handle := d.Album(t, "compare")
	d.Lifecycle.OnQueue = func(uuid.UUID, string) error { return chattest.ErrNet }
	require.ErrorContains(t, handle(t.Context()), chattest.ErrNet.Error())
	require.ErrorContains(t, handle(t.Context()), chattest.ErrNet.Error())
	d.Lifecycle.OnQueue = nil
	require.NoError(t, handle(t.Context()))
	d.IsOnePrompt(t, key, albumText)
	assert.Len(t, d.Downloads.Done(), 3, "no file is fetched twice")
}

func TestP4_AlbumOmitsFailedFiles(t *testing.T) {
	d := chattest.NewMediaWorld(t)
	d.Downloads.Fail("b", chattest.ErrNet)
	d.Downloads.Fail("c", attachment.ErrFileTooBig)
	key, handle := d.Album(t, "compare")
	synctest.Test(t, func(t *testing.T) { require.NoError(t, handle(t.Context())) })
	assert.Equal(t, []string{"a", "b", "b", "b", "c"}, d.Downloads.Done())
	d.IsOnePrompt(t, key, "compare\nAttached file: .ccbot-inbox/photo-1001.png")
	assert.Equal(t, []string{chattest.Warning + chattest.Lines(d.Word(i18n.FileNotFetched, i18n.Args{"Name": "photo-1002.jpg"}),
		d.Word(i18n.FileTooBig, i18n.Args{"Name": "photo-1003.jpg"}), d.Word(i18n.AlbumRest))}, d.Telegram.Texts())
	assert.Equal(t, 1001, d.Telegram.Last(t).ReplyTo)
}

// A stop of ccbot is no reason to go without a file.
func TestP4_StopKeepsAlbumWhole(t *testing.T) {
	d := chattest.NewMediaWorld(t)
	d.Downloads.Fail("b", chattest.ErrNet)
	key, handle := d.Album(t, "compare")
	ctx, stop := context.WithCancel(t.Context())
	d.Downloads.During = func(id string) {
		if id == "b" {
			stop()
		}
	}
	require.Error(t, handle(ctx))
	assert.Equal(t, inbox.Accepted, d.EntryState(key))
	assert.Empty(t, d.Telegram.Texts())
	d.Downloads.Fail("b", nil)
	d.Restart()
	require.NoError(t, handle(t.Context()))
	d.IsOnePrompt(t, key, albumText)
}

func TestP4_AlbumWithoutSessionIsReportedOnce(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(t *testing.T, d *chattest.MediaWorld)
		want    func(d *chattest.MediaWorld) []string
	}{
		{"a session that is not cleaned up", func(t *testing.T, d *chattest.MediaWorld) {
			d.Records.Change(d.R.ID, func(r *session.Record) { r.State = session.CleanupFailed })
		}, func(d *chattest.MediaWorld) []string {
			r, _ := d.Records.Get(d.R.ID)
			return []string{d.In(chattest.AtAlice).NotCleanText(chattest.ViewOf(r)).Text}
		}},
		{"a folder that is not ours", func(t *testing.T, d *chattest.MediaWorld) {
			require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(d.Dir, folders.InboxName)))
		}, func(d *chattest.MediaWorld) []string {
			return []string{d.Word(i18n.InboxNotOurs, i18n.Args{"Path": filepath.Join(d.Dir, folders.InboxName)})}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := chattest.NewMediaWorld(t)
			tt.prepare(t, d)
			key, handle := d.Album(t, "compare")
			require.NoError(t, handle(t.Context()))
			assert.Equal(t, []string{chattest.Warning + chattest.Lines(append(tt.want(d), d.Word(i18n.NotDelivered))...)}, d.Telegram.Texts())
			assert.Empty(t, d.Lifecycle.Done())
			assert.Equal(t, inbox.Accepted, d.EntryState(key), "the intake finishes it")
		})
	}
	t.Run("its session ends before it is whole", func(t *testing.T) {
		d := chattest.NewMediaWorld(t)
		key, handle := d.Album(t, "compare")
		d.Lifecycle.OnQueue = func(uuid.UUID, string) error {
			d.Records.Change(d.R.ID, func(r *session.Record) { r.State = session.CleanupFailed })
			return view.ErrNoAgent
		}
		require.ErrorIs(t, handle(t.Context()), inbox.ErrLater)
		require.NoError(t, handle(t.Context()), "the inbox hands it on again")
		r, _ := d.Records.Get(d.R.ID)
		assert.Equal(t, []string{chattest.Warning + chattest.Lines(d.In(chattest.AtAlice).NotCleanText(chattest.ViewOf(r)).Text, d.Word(i18n.NotDelivered))}, d.Telegram.Texts())
		assert.Len(t, d.Lifecycle.Done(), 1)
		assert.Equal(t, inbox.Accepted, d.EntryState(key), "the intake finishes it")
	})
}

func TestP9_AlbumOfRemovedPersonIsForgotten(t *testing.T) {
	d := chattest.NewMediaWorld(t)
	key, handle := d.Album(t, "compare")
	d.Restart()
	before := len(d.Telegram.Done())
	delete(d.People, chattest.Alice)
	require.NoError(t, handle(t.Context()))
	assert.Len(t, d.Telegram.Done(), before)
	assert.Empty(t, d.Lifecycle.Done())
	assert.Empty(t, d.Downloads.Done())
	assert.Equal(t, inbox.Accepted, d.EntryState(key), "the intake finishes it")
}

// The edit comes after the album, when the prompt is made.
func TestWaitingAlbumsCaptionCanBeEdited(t *testing.T) {
	d := chattest.NewMediaWorld(t)
	key, handle := d.Album(t, "compar")
	require.NoError(t, handle(t.Context()))
	edit := chattest.Part("g", "a", "compare")
	edit.ID, edit.From, edit.Chat, edit.EditDate = 1001, &models.User{ID: chattest.Alice}, chattest.PrivateChat(chattest.Alice), 5
	require.NoError(t, d.EditAs(t, &edit))
	assert.Contains(t, d.Lifecycle.Done(), fmt.Sprintf("reword %s of %s as %s %q", key, d.R.ID, talk.ClassPlain, strings.ReplaceAll(albumText, ".ccbot", d.Dir+"/.ccbot")))
	edit.ID, edit.Caption = 1002, "too"
	require.NoError(t, d.EditAs(t, &edit))
	assert.Equal(t, []string{chattest.Warning + d.Word(i18n.EditIgnored)}, d.Telegram.Texts(), "only the first message has an entry")
}
