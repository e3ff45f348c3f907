package bot

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// nasty means something to whoever takes it for a format, a template, Markdown or HTML.
const nasty = "%s%n<b>*_[x](tg:user?id=1){{.Name}}"

// literal requires that a text shows the name as it is, wherever it shows a part of it, and that
// nothing in it can be tapped or is hidden.
func literal(t *testing.T, text string, entities []models.MessageEntity) {
	t.Helper()
	assert.Equal(t, strings.Count(text, "user?id=1"), strings.Count(text, nasty), text)
	for _, wrong := range []string{"%!", "<no value>", "(MISSING)", "(EXTRA", "&lt;", `\*`, `\_`, `\[`} {
		assert.NotContains(t, text, wrong)
	}
	for _, e := range entities {
		assert.Contains(t, []string{"code", "pre", "bold", "italic", "blockquote", "expandable_blockquote"}, string(e.Type))
		assert.Empty(t, e.URL)
		assert.Nil(t, e.User)
	}
}

// TestP9_NamesAreData: of sessions, directories, files, windows and tools, through all that the
// chat says about them.
func TestP9_NamesAreData(t *testing.T) { synctest.Test(t, testNamesAreData) }

func testNamesAreData(t *testing.T) {
	d := newFileWorld(t)
	d.starts(t)
	w := d.world
	dir := filepath.Join(d.Home, nasty)
	require.NoError(t, os.MkdirAll(dir, 0o700))

	w.mustHear(t, "/new "+nasty+" "+dir)
	assert.Contains(t, w.sessions.done(), `start "`+nasty+`" in `+dir, "it is opened there, under this name")
	old := w.session(t, nasty, session.Archived)
	r := w.session(t, nasty, session.Running)
	for _, id := range []session.Record{old, r} {
		w.records.change(id.ID, func(r *session.Record) { r.Dir = dir })
	}
	r, old = w.record(t, r.ID), w.record(t, old.ID)
	window := agentWindow(t, "@21", 4123)
	window.Pane.WindowName, window.Pane.Path, window.Agent.Cwd = nasty, dir, dir
	w.windows.all = []lifecycle.Window{window}
	for _, text := range []string{"/list", "/list " + nasty, "/kill " + nasty, "/done " + nasty, "/why " + nasty, "/resume " + nasty, "/resume",
		"/kill no-" + nasty, "/new " + nasty + " " + dir + "/" + nasty + "/none", "/stop " + nasty, "/unknown " + nasty} {
		w.mustHear(t, text)
	}
	e := w.prompt(t, r, nasty, inbox.Unproven)
	writer := inWindow(t, 4123)
	writer.Cwd, writer.Pane.WindowName, writer.Args = dir, nasty, []string{"claude", nasty}
	for _, kind := range noteKinds(t) {
		n := w.news(t, kind)
		n.Session, n.Prompt = r, lifecycle.Prompt{Key: e.Key, Text: nasty}
		n.Screen, n.Draft, n.Writers = nasty, nasty, []lifecycle.Writer{writer}
		if kind == lifecycle.NoteGhost || kind == lifecycle.NoteStopped {
			n.Session = old
		}
		require.NoError(t, w.SessionNews(t.Context(), n))
	}
	w.asksFor(t, r, "Write", `{"file_path":"`+dir+`/`+nasty+`","content":"x"}`)
	w.asksFor(t, r, "mcp__"+nasty, `{"a":"`+nasty+`"}`)
	w.asksFor(t, r, "AskUserQuestion", `{"questions":[{"question":"`+nasty+`","header":"`+nasty+`","multiSelect":false,"options":[{"label":"`+nasty+`"},{"label":"b"}]}]}`)
	d.files(t)

	all := slices.Concat(w.sender.posted, w.sender.sent, w.sender.edited)
	require.Greater(t, len(all), 20)
	for _, m := range all {
		literal(t, m.Text.Text, m.Text.Entities)
		for _, word := range words(m) {
			assert.NotContains(t, word, "%!")
			assert.NotContains(t, word, "<no value>")
		}
	}
	shown := slices.ContainsFunc(all, func(m outbox.Message) bool {
		return slices.ContainsFunc(words(m), func(word string) bool { return strings.Contains(word, nasty) })
	})
	assert.True(t, shown, "buttons have the name, too")
	for _, line := range w.sender.done() {
		assert.NotContains(t, line, "%!")
	}
	heading := render.Entities{}.Render("**"+render.Literal(nasty)+"**", 0) // above a rich message, which is Markdown
	require.Len(t, heading, 1)
	assert.Equal(t, nasty, strings.TrimSpace(heading[0].Text.Text))
	literal(t, heading[0].Text.Text, heading[0].Text.Entities)
}

// files sends a file with such a name.
func (d *fileWorld) files(t *testing.T) {
	t.Helper()
	require.NoError(t, d.SendFile(t.Context(), d.r.ID, d.inside(t, nasty, "text"), nasty))
	assert.True(t, slices.ContainsFunc(d.sender.done(), func(line string) bool {
		return strings.HasPrefix(line, "file "+nasty+" to 7: text (") && strings.HasSuffix(line, nasty+")")
	}))
}
