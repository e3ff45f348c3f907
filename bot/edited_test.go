package bot

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/bot/port/prompts"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// edit handles an edit of a message of Alice's.
func (w *world) edit(t *testing.T, message int, text string) error {
	t.Helper()
	return w.editAs(t, &models.Message{ID: message, From: &models.User{ID: alice}, Chat: privateChat(alice), Text: text, EditDate: 5})
}

func (w *world) editAs(t *testing.T, m *models.Message) error {
	t.Helper()
	w.updates++
	return w.Handle(t.Context(), inbox.UpdateKey(w.updates), &models.Update{ID: w.updates, EditedMessage: m})
}

func TestP4_AnEditOfAHeldPromptReplacesIt(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	key := w.mustHear(t, "fix it")
	for _, tt := range []struct {
		text, want string
		class      lifecycle.Class
	}{
		{"fix\r\nthat", "fix\nthat", prompts.Plain},
		{" !ls", " !ls", prompts.Plain},
	} {
		require.NoError(t, w.edit(t, 1001, tt.text))
		want := fmt.Sprintf("reword %s of %s as %s %q", key, r.ID, tt.class, tt.want)
		assert.Equal(t, want, w.sessions.done()[len(w.sessions.done())-1])
		assert.Equal(t, reactionStored, w.sender.reaction(1001))
	}
	assert.Empty(t, w.sender.texts(), "no word is needed")
}

func TestP4_AnEditOfAnOldPromptReplacesItBeforeAPersonDecides(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	e := w.prompt(t, r, "fix it", inbox.Asked)
	require.NoError(t, w.edit(t, e.MessageID, "fix that"))
	now, err := w.entries.Load(e.Key)
	require.NoError(t, err)
	assert.Equal(t, []any{"fix that", string(prompts.Plain), inbox.Asked}, []any{now.Text, now.Class, now.State})
	assert.Equal(t, reactionStored, w.sender.reaction(e.MessageID))
	assert.Empty(t, w.sessions.done())
}

func TestP4_AnEditThatChangesNothingIsSilent(t *testing.T) {
	for name, text := range map[string]string{"the same text": "fix it", "nothing to see": "\x1b"} {
		for _, state := range []inbox.State{inbox.Held, inbox.Asked, inbox.Typing, inbox.Unproven} {
			t.Run(name+", "+string(state), func(t *testing.T) {
				w := newWorld(t)
				r := w.currentSession(t, "api", session.Running)
				e := w.prompt(t, r, "fix it", state)
				require.NoError(t, w.edit(t, e.MessageID, text))
				w.silent(t)
			})
		}
	}
}

// A prompt that waits would be typed as it was.
func TestP4_AnEditIntoACommandIsTold(t *testing.T) {
	for _, text := range []string{"/stop", "/kill@cc_bot api"} {
		for _, state := range []inbox.State{inbox.Held, inbox.Asked, inbox.Typing, inbox.Unproven} {
			t.Run(text+", "+string(state), func(t *testing.T) {
				w := newWorld(t)
				r := w.currentSession(t, "api", session.Running)
				e := w.prompt(t, r, "fix it", state)
				require.NoError(t, w.edit(t, e.MessageID, text))
				require.NoError(t, w.edit(t, e.MessageID, text))
				assert.Equal(t, []string{"⚠ " + w.word(i18n.EditIgnored)}, w.sender.texts(), "once")
				assert.Equal(t, e.MessageID, w.sender.last(t).ReplyTo)
				now, err := w.entries.Load(e.Key)
				require.NoError(t, err)
				assert.Equal(t, "fix it", now.Text)
			})
		}
	}
}

func TestP4_AnEditOfATypedPromptIsTold(t *testing.T) {
	for _, tt := range []struct {
		name  string
		state inbox.State
		err   error // of Reword
	}{
		{"being typed", inbox.Typing, nil},
		{"unproven", inbox.Unproven, nil},
		{"typed at this moment", inbox.Held, fs.ErrNotExist},
		{"finished at this moment", inbox.Held, inbox.ErrNoEntry},
		{"of a session that is forgotten", inbox.Held, session.ErrNotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.currentSession(t, "api", session.Running)
			e := w.prompt(t, r, "fix it", tt.state)
			w.sessions.reword = func(string, string) error { return deep(tt.err) }
			for _, text := range []string{"fix that", "fix that", "fix both"} {
				require.NoError(t, w.edit(t, e.MessageID, text))
			}
			told := warning + w.word(i18n.EditIgnored)
			assert.Equal(t, []string{told, told}, w.sender.texts(), "once per edit")
			assert.Equal(t, e.MessageID, w.sender.last(t).ReplyTo)
			assert.Equal(t, "none yet", w.sender.reaction(e.MessageID), "it stays as it is")
		})
	}
}

// Of a message that has left the inbox the conversation's ring knows whether it was a prompt.
func TestP4_AnEditOfAFinishedPromptIsTold(t *testing.T) {
	w := newWorld(t)
	w.currentSession(t, "api", session.Running)
	key := w.mustHear(t, "fix it")
	require.NoError(t, w.entries.Store.Finish(key))
	require.NoError(t, w.editAs(t, &models.Message{ID: 1001, From: &models.User{ID: alice}, Chat: privateChat(alice), Text: "as it was, more or less"}))
	assert.Empty(t, w.sender.texts(), "nobody has edited it")
	told := warning + w.word(i18n.EditIgnored)
	require.NoError(t, w.edit(t, 1001, "fix that"))
	assert.Equal(t, []string{told}, w.sender.texts())
	require.NoError(t, w.edit(t, 1001, "fix it"))
	assert.Equal(t, []string{told, told}, w.sender.texts(), "each edit by itself: what the text was is not known any more")
	w.mustHear(t, "/list")
	w.sender.posted = nil
	require.NoError(t, w.edit(t, 1002, "/stop"))
	require.NoError(t, w.edit(t, 1002, "a prompt"))
	require.NoError(t, w.edit(t, 4711, "nobody knows that one"))
	assert.Empty(t, w.sender.posted, "what was no prompt is none now")
}

func TestP9_AnEditIsHeardOfAllowedPeopleOnly(t *testing.T) {
	for _, tt := range whoAndWhere {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.session(t, "api", session.Running)
			e := inbox.Entry{Key: "900", State: inbox.Held, Session: r.ID, Conversation: session.Conversation{ChatID: tt.chat.ID}, MessageID: 77, Text: "fix it"}
			_, err := w.entries.Add(e)
			require.NoError(t, err)
			require.NoError(t, w.editAs(t, &models.Message{ID: 77, From: &models.User{ID: tt.from}, Chat: tt.chat, Text: "fix that", EditDate: 5}))
			if !tt.heard {
				w.silent(t)
				return
			}
			assert.NotEmpty(t, w.sessions.done())
		})
	}
}

func TestP4_AnEditThatCannotBeKeptIsTriedAgain(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	e := w.prompt(t, r, "fix it", inbox.Held)
	w.sessions.reword = func(string, string) error { return errDisk }
	require.ErrorIs(t, w.edit(t, e.MessageID, "fix that"), errDisk)
	asked := inbox.Entry{Key: "900", State: inbox.Asked, Session: r.ID, Conversation: atAlice, MessageID: 78, Text: "fix it"}
	_, err := w.entries.Add(asked)
	require.NoError(t, err)
	w.entries.save = func(inbox.Entry) error { return errDisk }
	require.ErrorIs(t, w.edit(t, 78, "fix that"), errDisk)
	typing := inbox.Entry{Key: "901", State: inbox.Typing, Session: r.ID, Conversation: atAlice, MessageID: 79, Text: "fix it"}
	_, err = w.entries.Add(typing)
	require.NoError(t, err)
	w.sender.post = refuse
	require.ErrorIs(t, w.edit(t, 79, "fix that"), errDisk)
}

// Telegram reports an edit again where only the looks of the message change later, with the time of
// the edit or none.
func TestARefusedEditIsToldOnce(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	e := w.prompt(t, r, "fix it", inbox.Asked)
	edit := func(date int, text string) {
		t.Helper()
		w.again()
		require.NoError(t, w.editAs(t, &models.Message{ID: e.MessageID, From: &models.User{ID: alice}, Chat: privateChat(alice), Text: text, EditDate: date}))
	}
	edit(0, "/stop")
	assert.Empty(t, w.sender.texts(), "nobody has edited it")
	edit(5, "/stop")
	edit(5, "/stop")
	assert.Len(t, w.sender.texts(), 1, "after a restart too")
	edit(6, "/stop")
	assert.Len(t, w.sender.texts(), 2, "another edit")
	edit(7, "fix that")
	edit(7, "fix that")
	edit(6, "/stop")
	assert.Len(t, w.sender.texts(), 3, "the text was another one meanwhile")
}

// What a file has brought along stays, however often its caption is edited.
func TestP4_AnEditOfACaptionKeepsWhatTheFileBrought(t *testing.T) {
	for _, tt := range []struct{ name, caption, brought string }{
		{"a file", "look", "Attached file: .ccbot-inbox/a.png"},
		{"without a caption", "", "Attached file: .ccbot-inbox/a.png"},
		{"a recording", "a note", "what was said in it\nAttached file: .ccbot-inbox/a.ogg"},
		{"a caption like bash mode", "!look", "Attached file: .ccbot-inbox/a.png"},
		{"a caption that ends with a backslash", `C:\`, "Attached file: .ccbot-inbox/a.png"},
	} {
		for _, state := range []inbox.State{inbox.Held, inbox.Asked} {
			t.Run(tt.name+", "+string(state), func(t *testing.T) {
				w := newWorld(t)
				r := w.currentSession(t, "api", session.Running)
				m := &models.Message{ID: 77, From: &models.User{ID: alice}, Chat: privateChat(alice), Caption: tt.caption, EditDate: 5}
				raw, err := json.Marshal(models.Update{Message: m})
				require.NoError(t, err)
				typed, class, _ := prompts.Normalise(strings.TrimPrefix(tt.caption+"\n"+tt.brought, "\n"))
				e := inbox.Entry{Key: "900", State: state, Session: r.ID, Conversation: atAlice, MessageID: 77, Text: typed, Class: string(class),
					Files: []string{"a"}, Update: raw}
				_, err = w.entries.Add(e)
				require.NoError(t, err)
				w.sessions.reword = func(key, text string) error { // as lifecycle does
					return w.entries.Change(key, func(e *inbox.Entry) error { e.Text = text; return nil })
				}
				for _, caption := range []string{"see", "", "again\nand again", tt.caption} {
					edit := *m
					edit.Caption = caption
					require.NoError(t, w.editAs(t, &edit))
					now, err := w.entries.Load("900")
					require.NoError(t, err)
					want, _, _ := prompts.Normalise(strings.TrimPrefix(caption+"\n"+tt.brought, "\n"))
					assert.Equal(t, want, now.Text)
				}
			})
		}
	}
}
