package chattest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
	"unicode"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/attachment"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/host"
	"ccbot/host/received"
	"ccbot/internal/session"
	"ccbot/port/folders"
	"ccbot/port/talk"
)

// Part is one message of an album.
func Part(group, id, caption string) models.Message {
	return models.Message{MediaGroupID: group, Caption: caption, Photo: []models.PhotoSize{{FileID: id, Width: 1, Height: 1}}}
}

// AlbumOf puts the messages of an album of Alice's into the inbox, with one entry as the intake
// makes it. handle handles them, at the first try and after that.
func (d *MediaWorld) AlbumOf(t *testing.T, parts ...models.Message) (key string, handle func(context.Context) error) {
	t.Helper()
	var all []*models.Update
	for i, m := range parts {
		m.From, m.Chat, m.Date = &models.User{ID: Alice}, PrivateChat(Alice), int(time.Now().Unix())
		k, u := d.Accept(t, &m)
		all = append(all, u)
		if i == 0 {
			key = k
			continue
		}
		raw, err := json.Marshal(u)
		require.NoError(t, err)
		require.NoError(t, d.Inbox.Change(key, func(e *inbox.Entry) error { e.Rest = append(e.Rest, raw); return nil }))
		require.NoError(t, d.Inbox.Finish(k))
	}
	return key, func(ctx context.Context) error { return d.Handle(ctx, key, all[0], all[1:]...) }
}

// Album is albumOf with three messages.
func (d *MediaWorld) Album(t *testing.T, caption string) (key string, handle func(context.Context) error) {
	t.Helper()
	return d.AlbumOf(t, Part("g", "a", caption), Part("g", "b", ""), Part("g", "c", ""))
}

func (d *MediaWorld) Restart() {
	d.Again()
	d.Telegram.Posted = nil
}

// IsOnePrompt requires that an album is one prompt, of its first entry, and nothing else of it is
// left.
func (d *MediaWorld) IsOnePrompt(t *testing.T, first, want string) {
	t.Helper()
	entries, err := d.Inbox.List()
	require.NoError(t, err)
	require.Len(t, entries, 1)
	e := entries[0]
	assert.Equal(t, []any{first, want, inbox.Held, d.R.ID}, []any{e.Key, Shortened(e), e.State, e.Session})
	assert.Contains(t, d.Lifecycle.Done(), "queue "+first+" for "+d.R.ID.String())
}

// Queued does a start's work for a held prompt.
func (d *MediaWorld) Queued(key string) error {
	return d.Lifecycle.Queue(context.Background(), d.R.ID, talk.Offer{Key: key})
}

var ErrNet = errors.New("connection reset by peer")

// fakeDownloads returns each file's id as its bytes, followed by More bytes. Files of fails have an
// error.
type fakeDownloads struct {
	mu     sync.Mutex
	asked  []string
	fails  map[string]error
	During func(id string)
	More   int
}

func (f *fakeDownloads) Open(_ context.Context, id string) (io.ReadCloser, string, error) {
	f.mu.Lock()
	f.asked = append(f.asked, id)
	err, during := f.fails[id], f.During
	f.mu.Unlock()
	if during != nil {
		during(id)
	}
	body := io.Reader(strings.NewReader("bytes of " + id + strings.Repeat("x", f.More)))
	if err != nil {
		body = io.MultiReader(body, iotest.ErrReader(err))
	}
	return io.NopCloser(body), ".png", nil
}

func (f *fakeDownloads) Fail(id string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fails[id] = err
}

func (f *fakeDownloads) Done() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

// MediaWorld is a world with a current session whose directory exists.
type MediaWorld struct {
	*World
	R         session.Record
	Dir       string
	Downloads *fakeDownloads
}

func NewMediaWorld(t *testing.T) *MediaWorld {
	t.Helper()
	w := NewWorld(t)
	d := &MediaWorld{World: w, Dir: t.TempDir(), Downloads: &fakeDownloads{fails: make(map[string]error)}}
	store, err := received.Open(filepath.Join(w.Dir, "received"), w.Now, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	ended := func(string) (time.Time, bool) { return time.Time{}, false }
	w.machine.Received, w.Downloader = &host.Machine{Records: w.Records, Received: store, Tickets: &w.Tickets, Ended: ended}, d.Downloads
	w.Connect(w.Lifecycle, w.Windows)
	d.R = w.NewCurrentSession(t, "api", session.Running)
	w.Records.Change(d.R.ID, func(r *session.Record) { r.Dir = d.Dir })
	return d
}

// Get handles a message of Alice's in her chat and returns its key.
func (d *MediaWorld) Get(t *testing.T, m models.Message) (key string, err error) {
	t.Helper()
	m.From, m.Chat, m.Date = &models.User{ID: Alice}, PrivateChat(Alice), int(time.Now().Unix())
	key, u := d.Accept(t, &m)
	return key, d.Handle(t.Context(), key, u)
}

func (d *MediaWorld) MustGet(t *testing.T, m models.Message) inbox.Entry {
	t.Helper()
	key, err := d.Get(t, m)
	require.NoError(t, err)
	e, err := d.Inbox.Load(key)
	require.NoError(t, err)
	return e
}

// Shortened is the text of a prompt with its files as they are named below their folder, which is another one in each run.
func Shortened(e inbox.Entry) string {
	text := e.Text
	for _, file := range e.Files {
		text = strings.ReplaceAll(text, file, filepath.Join(folders.InboxName, filepath.Base(file)))
	}
	return text
}

// Received are the names in the session's folder.
func (d *MediaWorld) Received(t *testing.T) (names []string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(d.Dir, folders.InboxName))
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

func Document(id, name string) models.Message {
	return models.Message{Document: &models.Document{FileID: id, FileName: name, FileSize: 100}}
}

// FakeVoice returns the words of a recording.
type FakeVoice struct {
	Says string
	Err  error
	Got  []string
	Then func()
}

func (f *FakeVoice) Text(_ context.Context, name string, recording []byte) (string, error) {
	f.Got = append(f.Got, name+": "+string(recording))
	if f.Then != nil {
		f.Then()
	}
	return f.Says, f.Err
}

func Link(offset, length int, url string) models.MessageEntity {
	return models.MessageEntity{Type: models.MessageEntityTypeTextLink, Offset: offset, Length: length, URL: url}
}

// fileSender is a sender that notes the content of files. A function of the test is called before
// it is read.
type fileSender struct {
	*FakeSender
	Before func() error
}

func (f *fileSender) SendFile(_ context.Context, file outbox.File) (int, error) {
	if f.Before != nil {
		if err := f.Before(); err != nil {
			return 0, err
		}
	}
	body, err := io.ReadAll(io.NewSectionReader(file.Body, 0, file.Size))
	if err != nil {
		return 0, err
	}
	f.Mu.Lock()
	f.Files = append(f.Files, file)
	f.Mu.Unlock()
	f.Add("file %s to %d: %s (%s)", file.Name, file.To.ChatID, body, file.Caption.Text)
	return 1, nil
}

// FileWorld is a world with a session whose directory exists, and folders next to it.
type FileWorld struct {
	*World
	R              session.Record
	Sends          *fileSender
	Dir, Elsewhere string
}

func NewFileWorld(t *testing.T) *FileWorld {
	t.Helper()
	w := NewWorld(t)
	home, err := filepath.EvalSymlinks(t.TempDir()) // a session's directory counts only where no link leads to it
	require.NoError(t, err)
	d := &FileWorld{World: w, Sends: &fileSender{FakeSender: w.Telegram}, Dir: filepath.Join(home, "api"), Elsewhere: filepath.Join(home, "elsewhere")}
	w.setSender(d.Sends)
	w.StateDir = filepath.Join(home, ".ccbot")
	for _, dir := range []string{d.Dir, d.Elsewhere, w.StateDir} {
		require.NoError(t, os.Mkdir(dir, 0o700))
	}
	d.R = w.NewCurrentSession(t, "api", session.Running)
	w.Records.Change(d.R.ID, func(r *session.Record) { r.Dir = d.Dir })
	d.write(t, filepath.Join(w.StateDir, "ccbot.env"), "a secret")
	return d
}

func (d *FileWorld) write(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func (d *FileWorld) Inside(t *testing.T, name, text string) string {
	t.Helper()
	return d.write(t, filepath.Join(d.Dir, name), text)
}

// Nasty has a meaning in formats, templates, Markdown and HTML.
const Nasty = "%s%n<b>*_[x](tg:user?id=1){{.Name}}"

// SendOne sends a file with such a name.
func (d *FileWorld) SendOne(t *testing.T) {
	t.Helper()
	require.NoError(t, d.SendFile(t.Context(), d.R.ID, d.Inside(t, Nasty, "text"), Nasty))
	assert.True(t, slices.ContainsFunc(d.Telegram.Done(), func(line string) bool {
		return strings.HasPrefix(line, "file "+Nasty+" to 7: text (") && strings.HasSuffix(line, Nasty+")")
	}))
}

// Sly has each kind of invisible character, and begins a new line.
const Sly = "x\u202e\u202a\u2066\u2069\u200e\u200f\u061c\u200b\u200c\u200d\u2060\ufeff\u00ad\u3164\u2800\u115f\u2028\u2029\U000E0041\ufe0f\x1b\x7f\u0085\r\t\ny"

// hiding is the first character of a message that cannot be seen and is not one of the bot's own.
func hiding(text string) (rune, bool) {
	before := ' '
	for _, r := range text {
		switch {
		case r == '\n', r == '\uFE0F' && unicode.Is(unicode.So, before), // our lines and our emoji
			r == '\u00A0' && unicode.IsDigit(before): // and our units
		case r != ' ' && unicode.IsSpace(r), strings.ContainsRune("\u3164\u2800\u115f", r),
			unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Zl, unicode.Zp):
			return r, true
		}
		before = r
	}
	return 0, false
}

// SlyNews reports all news of sessions.
func (d *FileWorld) SlyNews(t *testing.T, r, old session.Record) {
	t.Helper()
	w := d.World
	e := w.Prompt(t, r, "hello", inbox.Unproven)
	writer := InWindow(t, 4123)
	writer.Cwd, writer.Pane.WindowName, writer.Args, writer.Session = r.Dir, Sly, []string{Sly}, Sly
	w.TellsAll(t, r, old, Sample{Prompt: talk.Prompt{Key: e.Key, Text: "hello"}, Screen: "the screen", Draft: "a draft", Writer: writer})
}

// SlyFiles sends files with that name out and in.
func (d *FileWorld) SlyFiles(t *testing.T, r session.Record) {
	t.Helper()
	for _, id := range []uuid.UUID{r.ID, d.R.ID} { // one of them is not the current one, and is above its file
		dir := d.Record(t, id).Dir
		require.NoError(t, d.SendFile(t.Context(), id, d.write(t, filepath.Join(dir, Sly), "text"), ""))
	}
	in := models.Update{Message: &models.Message{ID: 77, From: &models.User{ID: Alice}, Chat: PrivateChat(Alice),
		Document: &models.Document{FileID: "d", FileName: Sly + ".txt"}}}
	store, err := received.Open(filepath.Join(t.TempDir(), "received"), d.Now, d.Log)
	require.NoError(t, err)
	d.machine.Received = &host.Machine{Records: d.Records, Received: store, Tickets: &d.Tickets}
	d.Downloader = &fakeDownloads{fails: map[string]error{"d": attachment.ErrFileTooBig}}
	d.Connect(d.Lifecycle, d.Windows)
	require.NoError(t, d.Handle(t.Context(), "777", &in))
}

// ShowsAll looks at all that went out, buttons and short answers included.
func (d *FileWorld) ShowsAll(t *testing.T) {
	t.Helper()
	all := slices.Concat(d.Telegram.Posted, d.Telegram.Sent, d.Telegram.Edited, d.Telegram.Ended)
	texts := d.Telegram.Done()
	for _, m := range all {
		texts = append(append(texts, m.Text.Text, m.Rich), Words(m)...)
	}
	for _, row := range d.Telegram.Buttons {
		for _, b := range row {
			texts = append(texts, b.Text)
		}
	}
	require.Greater(t, len(texts), 100)
	dots := 0
	for _, text := range texts {
		r, hides := hiding(text)
		assert.False(t, hides, "%U in %q", r, text)
		assert.NotContains(t, text, "\ny", "a name takes one line")
		dots += strings.Count(text, "x····")
	}
	assert.Greater(t, dots, 100, "the names are there")
}
