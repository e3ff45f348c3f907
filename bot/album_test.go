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
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// part is one message of an album.
func part(group, id, caption string) models.Message {
	return models.Message{MediaGroupID: group, Caption: caption, Photo: []models.PhotoSize{{FileID: id, Width: 1, Height: 1}}}
}

// whole makes prompts of all albums, as when nothing more of them came.
func (d *mediaWorld) whole(t *testing.T) {
	t.Helper()
	for _, k := range d.albums.take(func(album, albumWait) bool { return true }) {
		d.albums.complete(t.Context(), k, true)
	}
	d.sender.deliver(t.Context())
}

// album handles three messages of one album and returns their keys.
func (d *mediaWorld) album(t *testing.T, caption string) (keys []string) {
	t.Helper()
	for i, id := range []string{"a", "b", "c"} {
		text := ""
		if i == 0 {
			text = caption
		}
		key, err := d.get(t, part("g", id, text))
		require.NoError(t, err)
		keys = append(keys, key)
	}
	return keys
}

func (d *mediaWorld) restart() {
	d.again()
	d.sender.posted = nil
}

const albumText = "compare\nAttached file: .ccbot-inbox/photo-1001.png\nAttached file: .ccbot-inbox/photo-1002.png\nAttached file: .ccbot-inbox/photo-1003.png"

// isOnePrompt requires that an album is one prompt, of its first entry, and nothing
// else of it is left.
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
	keys := d.album(t, "compare")
	assert.Empty(t, d.sessions.done(), "more of it may come")
	d.whole(t)
	d.isOnePrompt(t, keys[0], albumText)
	assert.Equal(t, []string{"queue " + keys[0] + " for " + d.r.ID.String()}, d.sessions.done())
	assert.Contains(t, d.sender.done(), "react 👀 to 1001 in 7")
	assert.NotContains(t, d.sender.done(), "react 👀 to 1002 in 7")
	assert.Empty(t, d.sender.texts())
	d.whole(t)
	assert.Len(t, d.sessions.done(), 1)
}

func TestAnAlbumIsWholeWhenNothingMoreComes(t *testing.T) {
	d := newMediaWorld(t)
	synctest.Test(t, func(t *testing.T) {
		d.restart() // its timers are of this test's clock
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- d.albums.Run(ctx) }()
		for i, id := range []string{"a", "b", "c"} {
			if i == 2 { // a download may take longer than the pause
				d.downloads.during = func(string) { time.Sleep(3 * albumQuiet) }
			}
			_, err := d.get(t, part("g", id, ""))
			require.NoError(t, err)
			time.Sleep(albumQuiet - time.Millisecond)
			synctest.Wait()
			assert.Empty(t, d.sessions.done())
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		assert.Len(t, d.sessions.done(), 1)
		cancel()
		require.NoError(t, <-done)
	})
}

// What is written after an album does not overtake it, and two albums do not mix.
func TestAnAlbumKeepsItsPlace(t *testing.T) {
	d := newMediaWorld(t)
	first := d.album(t, "compare")[0]
	second, err := d.get(t, part("h", "x", "other"))
	require.NoError(t, err)
	text := d.mustHear(t, "and then this")
	id := " for " + d.r.ID.String()
	assert.Equal(t, []string{"queue " + first + id, "queue " + second + id, "queue " + text + id}, d.sessions.done())
}

func TestP4_AnAlbumSurvivesARestart(t *testing.T) {
	t.Run("between its messages", func(t *testing.T) {
		d := newMediaWorld(t)
		first, err := d.get(t, part("g", "a", "compare"))
		require.NoError(t, err)
		d.restart()
		for _, id := range []string{"b", "c"} {
			_, err := d.get(t, part("g", id, ""))
			require.NoError(t, err)
		}
		d.whole(t)
		d.isOnePrompt(t, first, albumText)
	})
	t.Run("before it is whole", func(t *testing.T) {
		d := newMediaWorld(t)
		keys := d.album(t, "compare")
		d.restart()
		d.currentSession(t, "web", session.Running)
		d.whole(t)
		d.isOnePrompt(t, keys[0], albumText)
	})
	t.Run("while a message of it waits in the inbox", func(t *testing.T) {
		d := newMediaWorld(t)
		first, err := d.get(t, part("g", "a", "compare"))
		require.NoError(t, err)
		_, err = d.get(t, part("g", "b", ""))
		require.NoError(t, err)
		m := part("g", "c", "")
		m.From, m.Chat, m.Date = &models.User{ID: alice}, privateChat(alice), int(time.Now().Unix())
		key, u := d.accept(t, &m)
		d.restart()
		d.whole(t)
		assert.Empty(t, d.sessions.done())
		require.NoError(t, d.Handle(t.Context(), key, u))
		d.whole(t)
		d.isOnePrompt(t, first, albumText)
	})
}

var errCrash = errors.New("crash")

// TestP4_ACrashMakesNoSecondPromptOfAnAlbum stops the program at each write that
// makes a prompt of an album, and starts it again. Either the prompt was on disk or
// it is made then, and no file is in two.
func TestP4_ACrashMakesNoSecondPromptOfAnAlbum(t *testing.T) {
	for at := 1; ; at++ {
		reached := false
		for _, typed := range []bool{false, true} {
			t.Run(fmt.Sprintf("write %d, typed %t", at, typed), func(t *testing.T) {
				d := newMediaWorld(t)
				keys := d.album(t, "compare")
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
					d.whole(t)
				}()
				d.Deps.Entries = d.entries
				e, err := d.entries.Load(keys[0])
				require.NoError(t, err)
				saved := e.State == inbox.Held
				if typed && saved { // before the chat is up: lifecycle types what is held at once
					require.NoError(t, d.entries.Finish(keys[0]))
				}
				d.restart()
				d.whole(t)
				d.whole(t)
				if !typed || !saved {
					require.NoError(t, d.queued(keys[0]))
					d.isOnePrompt(t, keys[0], albumText)
					return
				}
				entries, err := d.entries.List()
				require.NoError(t, err)
				assert.Empty(t, entries)
			})
		}
		if !reached {
			require.Greater(t, at, 5, "no crash was played")
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

func (c crashing) Finish(key string) error {
	return errors.Join(c.crash(), c.Entries.Finish(key))
}

func TestP4_AnAlbumThatCannotBeQueuedIsTriedAgain(t *testing.T) {
	d := newMediaWorld(t)
	keys := d.album(t, "compare")
	d.sessions.queue = func(uuid.UUID, string) error { return errNet }
	d.whole(t)
	d.whole(t)
	d.sessions.queue = nil
	d.whole(t)
	d.isOnePrompt(t, keys[0], albumText)
}

func TestP4_AnAlbumGoesWithoutWhatDoesNotCome(t *testing.T) {
	d := newMediaWorld(t)
	d.downloads.fail("b", errNet)
	m := part("g", "b", "")
	m.From, m.Chat, m.Date = &models.User{ID: alice}, privateChat(alice), int(time.Now().Unix())
	first, err := d.get(t, part("g", "a", "compare"))
	require.NoError(t, err)
	key, u := d.accept(t, &m)
	for range fetchTries - 1 {
		require.ErrorIs(t, d.Handle(t.Context(), key, u), errNet, "the intake tries again")
		d.whole(t)
	}
	assert.Empty(t, d.sessions.done(), "it may still come")
	require.NoError(t, d.Handle(t.Context(), key, u))
	big := part("g", "c", "")
	big.Photo[0].FileSize = 21 << 20
	_, err = d.get(t, big)
	require.NoError(t, err)
	d.whole(t)
	d.isOnePrompt(t, first, "compare\nAttached file: .ccbot-inbox/photo-1001.png")
	assert.Equal(t, []string{warning + lines(d.word(i18n.FileNotFetched, i18n.Args{"Name": "photo-1002.jpg"}),
		d.word(i18n.FileTooBig, i18n.Args{"Name": "photo-1003.jpg"}), d.word(i18n.AlbumRest))}, d.sender.texts())
	assert.Equal(t, 1001, d.sender.last(t).ReplyTo)
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
			return []string{d.NotCleanText(r)}
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
			d.album(t, "compare")
			d.whole(t)
			assert.Equal(t, []string{warning + lines(append(tt.want(d), d.word(i18n.NotDelivered))...)}, d.sender.texts())
			assert.Empty(t, d.sessions.done())
			entries, err := d.entries.List()
			require.NoError(t, err)
			assert.Empty(t, entries)
		})
	}
	t.Run("its session ends before it is whole", func(t *testing.T) {
		d := newMediaWorld(t)
		d.album(t, "compare")
		d.sessions.queue = func(uuid.UUID, string) error { return lifecycle.ErrNoAgent }
		d.whole(t)
		assert.Equal(t, []string{warning + lines(d.named(i18n.AlreadyEnded, "api"), d.word(i18n.NotDelivered))}, d.sender.texts())
		entries, err := d.entries.List()
		require.NoError(t, err)
		assert.Empty(t, entries)
	})
}

func TestP9_AnAlbumOfWhoIsNotAllowedAnyMoreIsForgotten(t *testing.T) {
	d := newMediaWorld(t)
	d.album(t, "compare")
	d.restart()
	before := len(d.sender.done())
	delete(d.Allowed, alice)
	d.whole(t)
	assert.Len(t, d.sender.done(), before)
	assert.Empty(t, d.sessions.done())
	entries, err := d.entries.List()
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestACaptionOfAnAlbumMayBeEditedWhileItIsGathered(t *testing.T) {
	d := newMediaWorld(t)
	keys := d.album(t, "compar")
	edit := part("g", "a", "compare")
	edit.ID, edit.From, edit.Chat, edit.EditDate = 1001, &models.User{ID: alice}, privateChat(alice), 5
	require.NoError(t, d.Handle(t.Context(), "99", &models.Update{EditedMessage: &edit}))
	d.whole(t)
	d.isOnePrompt(t, keys[0], albumText)
	require.ErrorIs(t, d.albums.reword(keys[0], "late"), os.ErrNotExist, "it is a prompt now")
}
