package bot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/bot/port/files"
	"ccbot/bot/prompt"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// part is one message of an album.
func part(group, id, caption string) models.Message {
	return models.Message{MediaGroupID: group, Caption: caption, Photo: []models.PhotoSize{{FileID: id, Width: 1, Height: 1}}}
}

// albumOf puts the messages of an album of Alice's into the inbox, where they have one entry as the
// intake makes it. handle handles them, at the first try and after that.
func (d *mediaWorld) albumOf(t *testing.T, parts ...models.Message) (key string, handle func(context.Context) error) {
	t.Helper()
	var all []*models.Update
	for i, m := range parts {
		m.From, m.Chat, m.Date = &models.User{ID: alice}, privateChat(alice), int(time.Now().Unix())
		k, u := d.accept(t, &m)
		all = append(all, u)
		if i == 0 {
			key = k
			continue
		}
		require.NoError(t, d.entries.Finish(k))
	}
	return key, func(ctx context.Context) error { return d.Handle(ctx, key, all[0], all[1:]...) }
}

// album is albumOf with three messages.
func (d *mediaWorld) album(t *testing.T, caption string) (key string, handle func(context.Context) error) {
	t.Helper()
	return d.albumOf(t, part("g", "a", caption), part("g", "b", ""), part("g", "c", ""))
}

func (d *mediaWorld) restart() {
	d.again()
	d.sender.posted = nil
}

const albumText = "compare\nAttached file: .ccbot-inbox/photo-1001.png\nAttached file: .ccbot-inbox/photo-1002.png\nAttached file: .ccbot-inbox/photo-1003.png"

// isOnePrompt requires that an album is one prompt, of its first entry, and nothing else of it is
// left.
func (d *mediaWorld) isOnePrompt(t *testing.T, first, want string) {
	t.Helper()
	entries, err := d.entries.List()
	require.NoError(t, err)
	require.Len(t, entries, 1)
	e := entries[0]
	assert.Equal(t, []any{first, want, inbox.Held, d.r.ID}, []any{e.Key, e.Text, e.State, e.Session})
	assert.Contains(t, d.sessions.done(), "queue "+first+" for "+d.r.ID.String())
}

func TestAnAlbumIsOnePrompt(t *testing.T) {
	d := newMediaWorld(t)
	key, handle := d.album(t, "compare")
	require.NoError(t, handle(t.Context()))
	d.isOnePrompt(t, key, albumText)
	assert.Equal(t, []string{"queue " + key + " for " + d.r.ID.String()}, d.sessions.done())
	assert.Contains(t, d.sender.done(), "react 👀 to 1001 in 7")
	assert.NotContains(t, d.sender.done(), "react 👀 to 1002 in 7")
	assert.Empty(t, d.sender.texts())
	for _, id := range []int{1001, 1002, 1003} {
		of, ok := d.Chats.SessionOf(atAlice, id)
		assert.True(t, ok && of == d.r.ID, "a reply to message %d goes to the session", id)
	}
}

// A message of an album that comes after the others were handled has nobody to go with.
func TestALateMessageOfAnAlbumIsAPromptOfItsOwn(t *testing.T) {
	d := newMediaWorld(t)
	key, handle := d.albumOf(t, part("g", "d", "and this"))
	require.NoError(t, d.entries.Change(key, func(e *inbox.Entry) error { e.Late = true; return nil }))
	require.NoError(t, handle(t.Context()))
	d.isOnePrompt(t, key, "and this\nAttached file: .ccbot-inbox/photo-1001.png")
	assert.Equal(t, []string{warning + d.word(i18n.AlbumLate)}, d.sender.texts())
	assert.Equal(t, 1001, d.sender.last(t).ReplyTo)
}

var errCrash = errors.New("crash")

// TestP4_ACrashMakesNoSecondPromptOfAnAlbum stops the program at each write that makes a prompt of
// an album, and starts it again. Either the prompt was on disk or it is made then, and no file is
// there twice.
func TestP4_ACrashMakesNoSecondPromptOfAnAlbum(t *testing.T) {
	for at := 1; ; at++ {
		reached := false
		for _, typed := range []bool{false, true} {
			t.Run(fmt.Sprintf("write %d, typed %t", at, typed), func(t *testing.T) {
				d := newMediaWorld(t)
				key, handle := d.album(t, "compare")
				writes := 0
				crash := func() error {
					if writes++; writes == at {
						reached = true
						panic(errCrash)
					}
					return nil
				}
				d.Deps.Entries = crashing{d.entries, crash}
				d.restart()
				func() {
					defer func() { _ = recover() }()
					_ = handle(t.Context())
				}()
				d.Deps.Entries = d.entries
				d.restart()
				if d.entryState(key) == inbox.Accepted {
					require.NoError(t, handle(t.Context()), "the intake hands on what was not handled")
				}
				require.NoError(t, d.queued(key))
				d.isOnePrompt(t, key, albumText)
				assert.Len(t, d.received(t), 3)
				assert.Len(t, d.downloads.done(), 3)
			})
		}
		if !reached {
			require.Greater(t, at, 1, "no crash was played")
			return
		}
	}
}

// queued does what a start does with a prompt that is held.
func (d *mediaWorld) queued(key string) error {
	return d.sessions.Queue(context.Background(), d.r.ID, key)
}

// crashing dies at a write, before it.
type crashing struct {
	Entries
	crash func() error
}

func (c crashing) Save(e inbox.Entry) error {
	return errors.Join(c.crash(), c.Entries.Save(e))
}

func (c crashing) Change(key string, change func(*inbox.Entry) error) error {
	return errors.Join(c.crash(), c.Entries.Change(key, change))
}

func TestP4_AnAlbumThatCannotBeQueuedIsTriedAgain(t *testing.T) {
	d := newMediaWorld(t)
	key, handle := d.album(t, "compare")
	d.sessions.queue = func(uuid.UUID, string) error { return errNet }
	require.ErrorIs(t, handle(t.Context()), errNet)
	require.ErrorIs(t, handle(t.Context()), errNet)
	d.sessions.queue = nil
	require.NoError(t, handle(t.Context()))
	d.isOnePrompt(t, key, albumText)
	assert.Len(t, d.downloads.done(), 3, "no file is fetched twice")
}

func TestP4_AnAlbumGoesWithoutWhatDoesNotCome(t *testing.T) {
	d := newMediaWorld(t)
	d.downloads.fail("b", errNet)
	d.downloads.fail("c", prompt.ErrFileTooBig)
	key, handle := d.album(t, "compare")
	synctest.Test(t, func(t *testing.T) { require.NoError(t, handle(t.Context())) })
	assert.Equal(t, []string{"a", "b", "b", "b", "c"}, d.downloads.done())
	d.isOnePrompt(t, key, "compare\nAttached file: .ccbot-inbox/photo-1001.png")
	assert.Equal(t, []string{warning + lines(d.word(i18n.FileNotFetched, i18n.Args{"Name": "photo-1002.jpg"}),
		d.word(i18n.FileTooBig, i18n.Args{"Name": "photo-1003.jpg"}), d.word(i18n.AlbumRest))}, d.sender.texts())
	assert.Equal(t, 1001, d.sender.last(t).ReplyTo)
}

// A stop of ccbot is no reason to go without a file.
func TestP4_AStopKeepsAnAlbumWhole(t *testing.T) {
	d := newMediaWorld(t)
	d.downloads.fail("b", errNet)
	key, handle := d.album(t, "compare")
	ctx, stop := context.WithCancel(t.Context())
	d.downloads.during = func(id string) {
		if id == "b" {
			stop()
		}
	}
	require.Error(t, handle(ctx))
	assert.Equal(t, inbox.Accepted, d.entryState(key))
	assert.Empty(t, d.sender.texts())
	d.downloads.fail("b", nil)
	d.restart()
	require.NoError(t, handle(t.Context()))
	d.isOnePrompt(t, key, albumText)
}

func TestP4_AnAlbumThatGoesNowhereIsToldOnce(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(t *testing.T, d *mediaWorld)
		want    func(d *mediaWorld) []string
	}{
		{"no session", func(t *testing.T, d *mediaWorld) { require.NoError(t, d.Chats.SetCurrent(atAlice, uuid.Nil)) },
			func(d *mediaWorld) []string { return []string{d.word(i18n.NoSession)} }},
		{"a session that is not cleaned up", func(t *testing.T, d *mediaWorld) {
			d.records.change(d.r.ID, func(r *session.Record) { r.State = session.CleanupFailed })
		}, func(d *mediaWorld) []string {
			r, _ := d.records.Get(d.r.ID)
			return []string{d.NotCleanText(host.View(r))}
		}},
		{"a folder that is not ours", func(t *testing.T, d *mediaWorld) {
			require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(d.dir, files.Folder)))
		}, func(d *mediaWorld) []string {
			return []string{d.word(i18n.InboxNotOurs, i18n.Args{"Path": filepath.Join(d.dir, files.Folder)})}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newMediaWorld(t)
			tt.prepare(t, d)
			key, handle := d.album(t, "compare")
			require.NoError(t, handle(t.Context()))
			assert.Equal(t, []string{warning + lines(append(tt.want(d), d.word(i18n.NotDelivered))...)}, d.sender.texts())
			assert.Empty(t, d.sessions.done())
			assert.Equal(t, inbox.Accepted, d.entryState(key), "the intake finishes it")
		})
	}
	t.Run("its session ends before it is whole", func(t *testing.T) {
		d := newMediaWorld(t)
		key, handle := d.album(t, "compare")
		d.sessions.queue = func(uuid.UUID, string) error {
			d.records.change(d.r.ID, func(r *session.Record) { r.State = session.CleanupFailed })
			return lifecycle.ErrNoAgent
		}
		require.ErrorIs(t, handle(t.Context()), inbox.ErrLater)
		require.NoError(t, handle(t.Context()), "the inbox hands it on again")
		r, _ := d.records.Get(d.r.ID)
		assert.Equal(t, []string{warning + lines(d.NotCleanText(host.View(r)), d.word(i18n.NotDelivered))}, d.sender.texts())
		assert.Len(t, d.sessions.done(), 1)
		assert.Equal(t, inbox.Accepted, d.entryState(key), "the intake finishes it")
	})
}

func TestP9_AnAlbumOfWhoIsNotAllowedAnyMoreIsForgotten(t *testing.T) {
	d := newMediaWorld(t)
	key, handle := d.album(t, "compare")
	d.restart()
	before := len(d.sender.done())
	delete(d.Allowed, alice)
	require.NoError(t, handle(t.Context()))
	assert.Len(t, d.sender.done(), before)
	assert.Empty(t, d.sessions.done())
	assert.Empty(t, d.downloads.done())
	assert.Equal(t, inbox.Accepted, d.entryState(key), "the intake finishes it")
}

// The edit comes behind the album, when the prompt is made.
func TestACaptionOfAnAlbumMayBeEditedWhileItWaits(t *testing.T) {
	d := newMediaWorld(t)
	key, handle := d.album(t, "compar")
	require.NoError(t, handle(t.Context()))
	edit := part("g", "a", "compare")
	edit.ID, edit.From, edit.Chat, edit.EditDate = 1001, &models.User{ID: alice}, privateChat(alice), 5
	require.NoError(t, d.editAs(t, &edit))
	assert.Contains(t, d.sessions.done(), fmt.Sprintf("reword %s of %s as %s %q", key, d.r.ID, lifecycle.ClassPrompt, albumText))
	edit.ID, edit.Caption = 1002, "too"
	require.NoError(t, d.editAs(t, &edit))
	assert.Equal(t, []string{warning + d.word(i18n.EditIgnored)}, d.sender.texts(), "only the first message has an entry")
}
