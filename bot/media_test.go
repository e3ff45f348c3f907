package bot

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/port/files"
	"ccbot/bot/prompt"
	"ccbot/host"
	"ccbot/host/received"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

var errNet = errors.New("connection reset by peer")

// fakeDownloads gives each file its own id as its bytes. Those of fails it does not.
type fakeDownloads struct {
	mu     sync.Mutex
	asked  []string
	fails  map[string]error
	during func(id string)
}

func (f *fakeDownloads) Download(_ context.Context, id string, to io.Writer) (string, error) {
	f.mu.Lock()
	f.asked = append(f.asked, id)
	err, during := f.fails[id], f.during
	f.mu.Unlock()
	if during != nil {
		during(id)
	}
	if _, writeErr := io.WriteString(to, "bytes of "+id); writeErr != nil {
		return "", writeErr
	}
	return ".png", err
}

func (f *fakeDownloads) fail(id string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fails[id] = err
}

func (f *fakeDownloads) done() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

// mediaWorld is a world with a current session whose directory exists.
type mediaWorld struct {
	*world
	r         session.Record
	dir       string
	downloads *fakeDownloads
}

func newMediaWorld(t *testing.T) *mediaWorld {
	t.Helper()
	w := newWorld(t)
	d := &mediaWorld{world: w, dir: t.TempDir(), downloads: &fakeDownloads{fails: make(map[string]error)}}
	store, err := received.Open(filepath.Join(w.dir, "received"), w.Now, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	w.Files, w.Downloader = &host.Machine{Records: w.records, Received: store}, d.downloads
	w.Connect(w.sessions, w.windows)
	d.r = w.currentSession(t, "api", session.Running)
	w.records.change(d.r.ID, func(r *session.Record) { r.Dir = d.dir })
	return d
}

// get handles a message of Alice's in her chat and returns its key.
func (d *mediaWorld) get(t *testing.T, m models.Message) (key string, err error) {
	t.Helper()
	m.From, m.Chat, m.Date = &models.User{ID: alice}, privateChat(alice), int(time.Now().Unix())
	key, u := d.accept(t, &m)
	return key, d.Handle(t.Context(), key, u)
}

func (d *mediaWorld) mustGet(t *testing.T, m models.Message) inbox.Entry {
	t.Helper()
	key, err := d.get(t, m)
	require.NoError(t, err)
	e, err := d.entries.Load(key)
	require.NoError(t, err)
	return e
}

// received are the names in the session's folder.
func (d *mediaWorld) received(t *testing.T) (names []string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(d.dir, files.Folder))
	if err != nil {
		return nil
	}
	for _, f := range files {
		if f.Name() != ".gitignore" {
			names = append(names, f.Name())
		}
	}
	return names
}

func document(id, name string) models.Message {
	return models.Message{Document: &models.Document{FileID: id, FileName: name, FileSize: 100}}
}

func TestAFileIsAPromptThatNamesIt(t *testing.T) {
	photo := []models.PhotoSize{{FileID: "small", Width: 90, Height: 60}, {FileID: "large", Width: 1280, Height: 960}, {FileID: "middle", Width: 320, Height: 240}}
	for _, tt := range []struct {
		name string
		m    models.Message
		want string // id and name
	}{
		{"a document", document("d", "отчёт 2.pdf"), "d отчёт_2.pdf"},
		{"a document without a name", models.Message{Document: &models.Document{FileID: "d"}}, "d file-1001.png"},
		{"a photo, the largest", models.Message{Photo: photo}, "large photo-1001.png"},
		{"a video", models.Message{Video: &models.Video{FileID: "v", FileName: "a.mov"}}, "v a.mov"},
		{"a video without a name", models.Message{Video: &models.Video{FileID: "v"}}, "v video-1001.png"},
		{"an animation, which is a document, too", models.Message{Animation: &models.Animation{FileID: "a", FileName: "a.mp4"},
			Document: &models.Document{FileID: "d", FileName: "d.mp4"}}, "a a.mp4"},
		{"an audio", models.Message{Audio: &models.Audio{FileID: "m", FileName: "song.mp3"}}, "m song.mp3"},
		{"a voice message", models.Message{Voice: &models.Voice{FileID: "o"}}, "o voice-1001.png"},
		{"a video note", models.Message{VideoNote: &models.VideoNote{FileID: "n"}}, "n video-note-1001.png"},
	} {
		for _, caption := range []string{"", "look at this"} {
			t.Run(tt.name+caption, func(t *testing.T) {
				d := newMediaWorld(t)
				tt.m.Caption = caption
				e := d.mustGet(t, tt.m)
				id, name, _ := strings.Cut(tt.want, " ")
				want := "Attached file: .ccbot-inbox/" + name
				if caption != "" {
					want = caption + "\n" + want
				}
				assert.Equal(t, want, e.Text)
				assert.Equal(t, []any{inbox.Held, d.r.ID, []string{name}, string(lifecycle.ClassPrompt)}, []any{e.State, e.Session, e.Files, e.Class})
				data, err := os.ReadFile(filepath.Join(d.dir, files.Folder, name))
				require.NoError(t, err)
				assert.Equal(t, "bytes of "+id, string(data))
				assert.Equal(t, []string{"queue " + e.Key + " for " + d.r.ID.String()}, d.sessions.done())
				assert.Contains(t, d.sender.done(), "react 👀 to 1001 in 7")
				assert.Empty(t, d.sender.texts())
			})
		}
	}
}

func TestOtherKindsGetOnePoliteSentence(t *testing.T) {
	for name, m := range map[string]models.Message{
		"a sticker":  {Sticker: &models.Sticker{FileID: "s"}},
		"a place":    {Location: &models.Location{}},
		"a contact":  {Contact: &models.Contact{}},
		"a poll":     {Poll: &models.Poll{}},
		"a dice":     {Dice: &models.Dice{}},
		"a game":     {Game: &models.Game{}},
		"a venue":    {Venue: &models.Venue{}},
		"a story":    {Story: &models.Story{}},
		"paid media": {PaidMedia: &models.PaidMediaInfo{}, Caption: "!ls"},
		"a list":     {Checklist: &models.Checklist{}},
		"rich text":  {RichMessage: &models.RichMessage{}},
		"an unknown": {},
	} {
		t.Run(name, func(t *testing.T) {
			d := newMediaWorld(t)
			_, err := d.get(t, m)
			require.NoError(t, err)
			assert.Equal(t, []string{warning + lines(d.word(i18n.MediaUnknown), d.word(i18n.NotDelivered))}, d.sender.texts())
			assert.Equal(t, 1001, d.sender.last(t).ReplyTo)
			assert.Empty(t, d.sessions.done())
			assert.Empty(t, d.downloads.done())
		})
	}
}

func TestP4_AFileThatGoesNowhereIsTold(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(t *testing.T, d *mediaWorld)
		m       models.Message
		want    func(d *mediaWorld) string
		asked   int // downloads
	}{
		{"no session", func(t *testing.T, d *mediaWorld) { require.NoError(t, d.Chats.SetCurrent(atAlice, uuid.Nil)) }, document("d", "a"),
			func(d *mediaWorld) string { return d.word(i18n.NoSession) }, 0},
		{"a session that is not cleaned up", func(t *testing.T, d *mediaWorld) {
			d.records.change(d.r.ID, func(r *session.Record) { r.State = session.CleanupFailed })
		}, document("d", "a"), func(d *mediaWorld) string {
			r, _ := d.records.Get(d.r.ID)
			return d.NotCleanText(host.View(r))
		}, 0},
		{"too big", func(_ *testing.T, d *mediaWorld) { d.downloads.fail("d", prompt.ErrFileTooBig) }, document("d", "../big.zip"),
			func(d *mediaWorld) string { return d.word(i18n.FileTooBig, i18n.Args{"Name": "big.zip"}) }, 1},
		{"a link in the folder's place", func(t *testing.T, d *mediaWorld) {
			require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(d.dir, files.Folder)))
		}, document("d", "a"), func(d *mediaWorld) string {
			return d.word(i18n.InboxNotOurs, i18n.Args{"Path": filepath.Join(d.dir, files.Folder)})
		}, 0},
		{"a directory that is gone", func(t *testing.T, d *mediaWorld) { require.NoError(t, os.Remove(d.dir)) }, document("d", "a"),
			func(d *mediaWorld) string {
				return d.word(i18n.InboxUnwritable, i18n.Args{"Path": filepath.Join(d.dir, files.Folder), "Reason": "no such file or directory"})
			}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newMediaWorld(t)
			if tt.prepare != nil {
				tt.prepare(t, d)
			}
			tt.m.Caption = "do this"
			_, err := d.get(t, tt.m)
			require.NoError(t, err)
			assert.Equal(t, []string{warning + lines(tt.want(d), d.word(i18n.NotDelivered))}, d.sender.texts())
			assert.Equal(t, 1001, d.sender.last(t).ReplyTo)
			assert.Empty(t, d.sessions.done(), "nothing is typed")
			assert.Len(t, d.downloads.done(), tt.asked)
			assert.Empty(t, d.received(t))
		})
	}
}

func TestP4_ADownloadThatFailsIsTriedAgainThenTold(t *testing.T) {
	d := newMediaWorld(t)
	d.downloads.fail("d", errNet)
	synctest.Test(t, func(t *testing.T) { d.mustGet(t, document("d", "a.txt")) })
	assert.Len(t, d.downloads.done(), 3)
	assert.Empty(t, d.received(t), "no half file")
	assert.Empty(t, d.sessions.done())
	told := warning + lines(d.word(i18n.FileNotFetched, i18n.Args{"Name": "a.txt"}), d.word(i18n.NotDelivered))
	assert.Equal(t, []string{told}, d.sender.texts())

	tries := 0
	d.downloads.during = func(string) {
		if tries++; tries == 2 {
			d.downloads.fail("d", nil)
		}
	}
	synctest.Test(t, func(t *testing.T) { d.mustGet(t, document("d", "a.txt")) })
	assert.Equal(t, []string{"a.txt"}, d.received(t))
	assert.Equal(t, []string{told}, d.sender.texts())
}

// A crash after any step: the update comes again, and there is one file and one prompt.
func TestP4_AFileIsFetchedOnceHoweverOftenItsUpdateComes(t *testing.T) {
	d := newMediaWorld(t)
	save := errors.New("no space left on device")
	d.entries.save = func(inbox.Entry) error { return save }
	key, u := d.accept(t, &models.Message{From: &models.User{ID: alice}, Chat: privateChat(alice), Date: int(time.Now().Unix()), Document: &models.Document{FileID: "d", FileName: "a.txt"}})
	for range 3 {
		require.ErrorIs(t, d.Handle(t.Context(), key, u), save)
		d.again()
	}
	d.entries.save = nil
	require.NoError(t, d.Handle(t.Context(), key, u))
	assert.Equal(t, []string{"a.txt"}, d.received(t))
	assert.Equal(t, []string{"d"}, d.downloads.done())
	e, err := d.entries.Load(key)
	require.NoError(t, err)
	assert.Equal(t, []string{"a.txt"}, e.Files)
}

// A file for a session that is over waits like a text does.
func TestAFileForASessionThatIsOverWaitsForIt(t *testing.T) {
	d := newMediaWorld(t)
	d.records.change(d.r.ID, func(r *session.Record) { r.State = session.Archived })
	m := document("d", "a.txt")
	m.Caption = "read it"
	e := d.mustGet(t, m)
	assert.Equal(t, []any{inbox.Asked, d.r.ID, "read it\nAttached file: .ccbot-inbox/a.txt"}, []any{e.State, e.Session, e.Text})
	assert.NotEmpty(t, data(d.lastSent(t)))
	assert.Equal(t, []string{"a.txt"}, d.received(t))
	awaited, err := d.Prompts.Awaited()
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{"a.txt": true}, awaited)
}

// A reply to a message of another session takes its file there.
func TestAFileInAReplyGoesToTheSessionOfTheMessage(t *testing.T) {
	d := newMediaWorld(t)
	d.Sent(outbox.Message{To: atAlice, Session: d.r.ID}, 500)
	d.currentSession(t, "web", session.Running)
	for _, group := range []string{"", "g"} {
		m := document("d", "a.txt")
		m.ReplyToMessage, m.MediaGroupID = &models.Message{ID: 500}, group
		e := d.mustGet(t, m)
		assert.Equal(t, d.r.ID, e.Session)
	}
	assert.Equal(t, []string{"a-2.txt", "a.txt"}, d.received(t))
}

// A person taps another session while a file is on its way.
func TestAFileGoesWhereItLies(t *testing.T) {
	d := newMediaWorld(t)
	d.downloads.during = func(string) { d.currentSession(t, "web", session.Running) }
	e := d.mustGet(t, document("d", "a.txt"))
	assert.Equal(t, d.r.ID, e.Session)
}

// fakeVoice says what is said.
type fakeVoice struct {
	text string
	err  error
	got  []string
	then func()
}

func (f *fakeVoice) Text(_ context.Context, name string, recording []byte) (string, error) {
	f.got = append(f.got, name+": "+string(recording))
	if f.then != nil {
		f.then()
	}
	return f.text, f.err
}

func TestAVoiceMessageIsItsTextAndItsFile(t *testing.T) {
	const file = "Attached file: .ccbot-inbox/voice-1001.png"
	for _, tt := range []struct {
		name          string
		voice         *fakeVoice
		caption, want string
		warned        bool
	}{
		{"without a command", nil, "", file, false},
		{"with one", &fakeVoice{text: " fix the bug\n"}, "", "Transcript of a voice message:\n> fix the bug \n" + file, false},
		{"with one, and a caption", &fakeVoice{text: "fix the bug"}, "now", "now\nTranscript of a voice message:\n> fix the bug \n" + file, false},
		{"that fails", &fakeVoice{err: errNet}, "now", "now\n" + file, true},
		{"that writes nothing", &fakeVoice{text: " \n"}, "", file, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newMediaWorld(t)
			if tt.voice != nil {
				d.Voice = tt.voice
				d.Connect(d.sessions, d.windows)
				tt.voice.then = func() { assert.Empty(t, d.received(t), "the agent has no recording yet") }
			}
			e := d.mustGet(t, models.Message{Caption: tt.caption, Voice: &models.Voice{FileID: "v"}})
			assert.Equal(t, tt.want, e.Text)
			if tt.voice != nil {
				assert.Equal(t, []string{"voice-1001.png: bytes of v"}, tt.voice.got)
			}
			data, err := os.ReadFile(filepath.Join(d.dir, files.Folder, "voice-1001.png"))
			require.NoError(t, err)
			assert.Equal(t, "bytes of v", string(data))
			var want []string
			if tt.warned {
				want = []string{warning + d.word(i18n.VoiceFailed)}
			}
			assert.Equal(t, want, d.sender.texts())
		})
	}
	t.Run("not a recording of many hours", func(t *testing.T) {
		d := newMediaWorld(t)
		d.Voice = &fakeVoice{err: errNet}
		d.Connect(d.sessions, d.windows)
		e := d.mustGet(t, models.Message{Voice: &models.Voice{FileID: "v", FileSize: prompt.MaxRecording + 1}})
		assert.Equal(t, file, e.Text)
		assert.Empty(t, d.sender.texts())
	})
	t.Run("only what is spoken", func(t *testing.T) {
		d := newMediaWorld(t)
		d.Voice = &fakeVoice{err: errNet}
		d.Connect(d.sessions, d.windows)
		e := d.mustGet(t, models.Message{Audio: &models.Audio{FileID: "a", FileName: "song.mp3"}})
		assert.Equal(t, "Attached file: .ccbot-inbox/song.mp3", e.Text)
		assert.Empty(t, d.sender.texts())
	})
}

func link(offset, length int, url string) models.MessageEntity {
	return models.MessageEntity{Type: models.MessageEntityTypeTextLink, Offset: offset, Length: length, URL: url}
}

func TestAForwardedTextKeepsItsLinks(t *testing.T) {
	d := newMediaWorld(t)
	e := d.mustGet(t, models.Message{Text: "read this", Entities: []models.MessageEntity{link(5, 4, "https://a.b")},
		ForwardOrigin: &models.MessageOrigin{Type: models.MessageOriginTypeHiddenUser, MessageOriginHiddenUser: &models.MessageOriginHiddenUser{}}})
	assert.Equal(t, "Forwarded message from somebody:\n> read this (https://a.b) ", e.Text)
	m := document("d", "a.txt")
	m.Caption, m.CaptionEntities = "and this", []models.MessageEntity{link(4, 4, "https://c.d")}
	assert.Equal(t, "and this (https://c.d)\nAttached file: .ccbot-inbox/a.txt", d.mustGet(t, m).Text)
}
