package bot_test

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

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/port/talk"
)

// literal requires that a text shows the name as it is, wherever it shows a part of it, and that
// nothing in it can be tapped or is hidden.
func literal(t *testing.T, text string, entities []models.MessageEntity) {
	t.Helper()
	assert.Equal(t, strings.Count(text, "user?id=1"), strings.Count(text, chattest.Nasty), text)
	for _, wrong := range []string{"%!", "(?)", "(MISSING)", "(EXTRA", "&lt;", `\*`, `\_`, `\[`} {
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
	d := chattest.NewFileWorld(t)
	d.Starts(t)
	w := d.World
	dir := filepath.Join(filepath.Dir(d.Dir), chattest.Nasty)
	require.NoError(t, os.MkdirAll(dir, 0o700))

	w.MustHear(t, "/new "+chattest.Nasty+" "+dir)
	assert.Contains(t, w.Lifecycle.Done(), `start "`+chattest.Nasty+`" in `+dir, "it is opened there, under this name")
	old := w.Session(t, chattest.Nasty, session.Archived)
	r := w.Session(t, chattest.Nasty, session.Running)
	for _, id := range []session.Record{old, r} {
		w.Records.Change(id.ID, func(r *session.Record) { r.Dir = dir })
	}
	r, old = w.Record(t, r.ID), w.Record(t, old.ID)
	window := chattest.AgentWindow(t, "@21", 4123)
	window.Pane.WindowName, window.Pane.Path, window.Agent.Cwd = chattest.Nasty, dir, dir
	w.Windows.All = []evidence.Window{window}
	for _, text := range []string{"/list", "/list " + chattest.Nasty, "/kill " + chattest.Nasty, "/done " + chattest.Nasty, "/why " + chattest.Nasty, "/resume " + chattest.Nasty, "/resume",
		"/kill no-" + chattest.Nasty, "/new " + chattest.Nasty + " " + dir + "/" + chattest.Nasty + "/none", "/stop " + chattest.Nasty, "/unknown " + chattest.Nasty} {
		w.MustHear(t, text)
	}
	e := w.Prompt(t, r, chattest.Nasty, inbox.Unproven)
	writer := chattest.InWindow(t, 4123)
	writer.Cwd, writer.Pane.WindowName, writer.Args = dir, chattest.Nasty, []string{"claude", chattest.Nasty}
	w.TellsAll(t, r, old, chattest.Sample{Prompt: talk.Prompt{Key: e.Key, Text: chattest.Nasty}, Screen: chattest.Nasty, Draft: chattest.Nasty, Writer: writer})
	w.AsksFor(t, r, "Write", `{"file_path":"`+dir+`/`+chattest.Nasty+`","content":"x"}`)
	w.AsksFor(t, r, "mcp__"+chattest.Nasty, `{"a":"`+chattest.Nasty+`"}`)
	w.AsksFor(t, r, "AskUserQuestion", `{"questions":[{"question":"`+chattest.Nasty+`","header":"`+chattest.Nasty+`","multiSelect":false,"options":[{"label":"`+chattest.Nasty+`"},{"label":"b"}]}]}`)
	d.SendOne(t)

	all := slices.Concat(w.Telegram.Posted, w.Telegram.Sent, w.Telegram.Edited)
	require.Greater(t, len(all), 20)
	for _, m := range all {
		literal(t, m.Text.Text, m.Text.Entities)
		for _, word := range chattest.Words(m) {
			assert.NotContains(t, word, "%!")
			assert.NotContains(t, word, "(?)")
		}
	}
	shown := slices.ContainsFunc(all, func(m outbox.Message) bool {
		return slices.ContainsFunc(chattest.Words(m), func(word string) bool { return strings.Contains(word, chattest.Nasty) })
	})
	assert.True(t, shown, "buttons have the name, too")
	for _, line := range w.Telegram.Done() {
		assert.NotContains(t, line, "%!")
	}
	heading := render.Entities("**"+render.Literal(chattest.Nasty)+"**", 0) // above a rich message, which is Markdown
	require.Len(t, heading, 1)
	assert.Equal(t, chattest.Nasty, strings.TrimSpace(heading[0].Text.Text))
	literal(t, heading[0].Text.Text, heading[0].Text.Entities)
}
