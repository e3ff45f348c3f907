package bot

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/bot/prompt"
	"ccbot/host"
	"ccbot/host/received"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/recovery"
)

// sly has each kind of character that cannot be seen, and begins a line of its own.
const sly = "x\u202e\u202a\u2066\u2069\u200e\u200f\u061c\u200b\u200c\u200d\u2060\ufeff\u00ad\u3164\u2800\u115f\u2028\u2029\U000E0041\ufe0f\x1b\x7f\u0085\r\t\ny"

// hiding is the first character of a message that cannot be seen and is not one of the bot's own.
func hiding(text string) (rune, bool) {
	before := ' '
	for _, r := range text {
		switch {
		case r == '\n', r == '\uFE0F' && unicode.Is(unicode.So, before): // our lines and our emoji
		case r != ' ' && unicode.IsSpace(r), strings.ContainsRune("\u3164\u2800\u115f", r),
			unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Zl, unicode.Zp):
			return r, true
		}
		before = r
	}
	return 0, false
}

// slyWorld is a world in a language, whose sessions, folders, windows and files all have that name.
func slyWorld(t *testing.T, lang string) (d *fileWorld, r, old session.Record) {
	t.Helper()
	d = newFileWorld(t)
	w := d.world
	w.Lang = lang
	w.again()
	w.Connect(w.sessions, w.windows)
	dir := filepath.Join(d.Home, sly)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	w.sessions.byWindow = true
	w.sessions.start = func(q lifecycle.StartRequest) (session.Record, error) { // as lifecycle names it, after its folder
		r := session.Record{ID: uuid.New(), Name: filepath.Base(q.Dir), Dir: q.Dir, State: session.Running, Conversation: q.Conversation, Owner: q.Owner, Origin: q.Origin}
		w.records.put(r)
		return r, nil
	}
	old, r = w.session(t, sly, session.Archived), w.session(t, sly, session.Running)
	failed := w.session(t, sly, session.CleanupFailed)
	for _, one := range []session.Record{old, r, failed} {
		w.records.change(one.ID, func(r *session.Record) {
			r.Dir, r.Usage, r.Binding = dir, &session.Usage{Model: sly}, &session.Binding{Window: "@4"}
			r.History = []session.Change{{From: session.Running, To: session.Lost, Rule: session.Rule(sly), Why: "in " + dir}}
		})
	}
	window := agentWindow(t, "@21", 4123)
	window.Pane.WindowName, window.Pane.Path, window.Pane.Command, window.Agent.Cwd, window.Agent.Pane.WindowName = sly, dir, sly, dir, sly
	shell := shellWindow(t, "@22")
	shell.Pane.WindowName, shell.Pane.Path, shell.Pane.Command = sly, dir, sly
	w.windows.all = []lifecycle.Window{window, shell}
	return d, w.record(t, r.ID), w.record(t, old.ID)
}

// TestP9_NoNameHidesAnything: of sessions, folders, windows, programs and files, through the doors
// at which people meet them, and in every language.
func TestP9_NoNameHidesAnything(t *testing.T) {
	for _, lang := range i18n.Languages() {
		t.Run(lang, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, r, old := slyWorld(t, lang)
				d.starts(t)
				w, id := d.world, r.ID.String()
				for _, text := range []string{"/list", "/new " + r.Dir, "/new other " + r.Dir, "/new " + r.Dir + "/none", "/list", "/list " + id, "/why " + id,
					"/why", "/resume", "/resume " + old.ID.String(), "/resume " + id, "/kill " + id, "/done " + id, "/stop " + id, "/kill " + sly, "/unknown " + sly, "hello"} {
					w.mustHear(t, text)
				}
				d.slyNews(t, r, old)
				w.asksFor(t, r, "Write", `{"file_path":"x","content":"x"}`)
				w.asksFor(t, r, "Bash", `{"command":"ls"}`)
				d.slyFiles(t, r)
				w.lost(t, sly, session.ClosedReboot)
				w.lost(t, sly, session.ClosedTmux)
				require.NoError(t, w.Recovered(t.Context(), recovery.Report{Notices: []recovery.Notice{{Kind: recovery.Newer}}}))
				for _, m := range slices.Concat(w.sender.posted, w.sender.sent) {
					for _, one := range data(m) {
						_ = w.tap(t, alice, one) // an error is a sentence, too
					}
				}
				d.showsAll(t)
			})
		})
	}
}

// slyNews tells all there is to tell of sessions.
func (d *fileWorld) slyNews(t *testing.T, r, old session.Record) {
	t.Helper()
	w := d.world
	e := w.prompt(t, r, "hello", inbox.Unproven)
	writer := inWindow(t, 4123)
	writer.Cwd, writer.Pane.WindowName, writer.Args, writer.Session = r.Dir, sly, []string{sly}, sly
	for _, kind := range noteKinds(t) {
		n := w.news(t, kind)
		n.Session, n.Prompt, n.Writers = r, lifecycle.Prompt{Key: e.Key, Text: "hello"}, []lifecycle.Writer{writer}
		if kind == lifecycle.NoteGhost || kind == lifecycle.NoteStopped {
			n.Session = old
		}
		require.NoError(t, w.SessionNews(t.Context(), n))
	}
}

// slyFiles sends files with that name out and in.
func (d *fileWorld) slyFiles(t *testing.T, r session.Record) {
	t.Helper()
	for _, id := range []uuid.UUID{r.ID, d.r.ID} { // one of them is not the current one, and stands above its file
		dir := d.record(t, id).Dir
		require.NoError(t, d.SendFile(t.Context(), id, d.write(t, filepath.Join(dir, sly), "text"), ""))
	}
	in := models.Update{Message: &models.Message{ID: 77, From: &models.User{ID: alice}, Chat: privateChat(alice),
		Document: &models.Document{FileID: "d", FileName: sly + ".txt"}}}
	store, err := received.Open(filepath.Join(t.TempDir(), "received"), d.Now, d.Log)
	require.NoError(t, err)
	d.Files = &host.Machine{Records: d.records, Received: store}
	d.Downloader = &fakeDownloads{fails: map[string]error{"d": prompt.ErrFileTooBig}}
	d.Connect(d.sessions, d.windows)
	require.NoError(t, d.Handle(t.Context(), "777", &in))
}

// showsAll looks at all that went out, buttons and short answers included.
func (d *fileWorld) showsAll(t *testing.T) {
	t.Helper()
	all := slices.Concat(d.sender.posted, d.sender.sent, d.sender.edited, d.sender.ended)
	texts := d.sender.done()
	for _, m := range all {
		texts = append(append(texts, m.Text.Text, m.Rich), words(m)...)
	}
	for _, row := range d.sender.buttons {
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
