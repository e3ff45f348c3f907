package bot_test

import (
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// bold are the parts of a message that are bold.
func bold(m outbox.Message) (all []string) {
	for _, part := range m.Text.Entities {
		if part.Type == models.MessageEntityTypeBold {
			units := []rune(m.Text.Text) // the test's texts have no character of two units
			all = append(all, string(units[part.Offset:part.Offset+part.Length]))
		}
	}
	return all
}

func TestRenameByCommand(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	w.MustHear(t, "/rename my *new* api")
	m := w.Telegram.Last(t)
	assert.Equal(t, w.Word(i18n.Renamed, i18n.Args{"Name": "my-*new*-api"}), m.Text.Text)
	assert.Equal(t, []string{"my-*new*-api"}, bold(m), "markup in a name is text")
	assert.Equal(t, "my-*new*-api", w.Record(t, r.ID).Name)
	w.MustHear(t, "/why api")
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "my-*new*-api", "the former name leads there")
}

func TestRenameAsksForTheName(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       string
	}{
		{"a text", "web", "web"},
		{"several lines are a prompt", "web\nand more", "api"},
		{"bash is a prompt", "!ls", "api"},
		{"a long text is a prompt", "please rewrite the whole of the login page in another language", "api"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Running)
			w.MustHear(t, "/rename")
			assert.Equal(t, []string{"api"}, bold(w.LastSent(t)))
			w.MustHear(t, tt.text)
			assert.Equal(t, tt.want, w.Record(t, r.ID).Name)
			w.MustHear(t, "next")
			assert.Equal(t, tt.want, w.Record(t, r.ID).Name, "a question takes one text")
		})
	}
}

// A text that starts like a path is a path wherever a name is allowed: /new and /resume would not
// find such a session.
func TestPathIsNotName(t *testing.T) {
	for _, name := range []string{".", "/tmp/x", "~", "\".config\""} {
		w := chattest.NewWorld(t)
		r := w.NewCurrentSession(t, "api", session.Running)
		w.MustHear(t, "/rename "+name)
		assert.Equal(t, w.Word(i18n.RenamePath, i18n.Args{"Name": "api"}), w.Telegram.Last(t).Text.Text, name)
		w.MustHear(t, "/rename")
		w.MustHear(t, name)
		assert.Equal(t, "api", w.Record(t, r.ID).Name, "a text that begins so is a prompt")
	}
}

// The agent has no such command: it is meant for the question.
func TestCancelOnlyEndsRename(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	w.MustHear(t, "/rename")
	w.Work(t)
	asked := w.Telegram.LastID()
	w.MustHear(t, "/cancel")
	assert.Equal(t, "api", w.Record(t, r.ID).Name)
	assert.Empty(t, w.Lifecycle.Done())
	w.Work(t)
	assert.Equal(t, w.Word(i18n.Cancelled), w.Shows(t, asked).Text.Text)
	key := w.MustHear(t, "/cancel")
	assert.Equal(t, []string{"queue " + key + " for " + r.ID.String()}, w.Lifecycle.Done(), "nothing is asked any more")
}

func TestRenameIsNotAskedForEver(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	w.MustHear(t, "/rename")
	require.NoError(t, w.Book.MakeCurrent(t.Context(), chattest.AtAlice, 0, w.Session(t, "web", session.Running).ID))
	w.MustHear(t, "other")
	assert.Equal(t, "api", w.Record(t, r.ID).Name, "the person has switched to another session")
}

func TestRenameFromStatus(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	w.MustHear(t, "/status")
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Last(t), i18n.ButtonRename))
	w.MustHear(t, "web")
	assert.Equal(t, "web", w.Record(t, r.ID).Name)
}

// labels are the words on the buttons of a message.
func labels(m outbox.Message) (all []string) {
	for _, row := range m.Buttons {
		for _, button := range row {
			all = append(all, button.Text)
		}
	}
	return all
}

// TestP8_NameQuestionSurvivesRestart, and so does its answer if the bot died before the rename.
func TestP8_NameQuestionSurvivesRestart(t *testing.T) {
	for _, dies := range []string{"", "asked", "named"} {
		t.Run("dies "+dies, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Running)
			w.MustHear(t, "/rename")
			w.Work(t)
			w.Restart(t)
			key, u := w.AcceptText(t, "web")
			if dies != "" {
				w.Lifecycle.OnRename = func(id uuid.UUID, name string) error {
					if dies == "named" {
						w.Records.Change(id, func(r *session.Record) { r.Rename(name, "") })
					}
					panic("kill -9")
				}
				assert.Panics(t, func() { _ = w.Handle(t.Context(), key, u) })
				w.Lifecycle.OnRename = nil
				w.Restart(t)
			}
			require.NoError(t, w.HandleText(t, key, u))
			w.Work(t)
			assert.Equal(t, "web", w.Record(t, r.ID).Name)
			assert.Equal(t, w.Word(i18n.Renamed, i18n.Args{"Name": "web"}), w.Shows(t, 1).Text.Text)
			assert.Empty(t, w.Shows(t, 1).Buttons)
			w.MustHear(t, "next")
			assert.Equal(t, "web", w.Record(t, r.ID).Name, "a question takes one text")
		})
	}
}
