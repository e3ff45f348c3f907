package bot_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/port/talk"
)

func TestP4_EditReplacesHeldPrompt(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	key := w.MustHear(t, "fix it")
	for _, tt := range []struct {
		text, want string
		class      talk.PromptClass
	}{
		{"fix\r\nthat", "fix\nthat", talk.ClassPlain},
		{" !ls", " !ls", talk.ClassPlain},
	} {
		require.NoError(t, w.Edit(t, 1001, tt.text))
		want := fmt.Sprintf("reword %s of %s as %s %q", key, r.ID, tt.class, tt.want)
		assert.Equal(t, want, w.Lifecycle.Done()[len(w.Lifecycle.Done())-1])
		assert.Equal(t, chattest.ReactionStored, w.Telegram.Reaction(1001))
	}
	assert.Empty(t, w.Telegram.Texts(), "no word is needed")
}

func TestP4_EditReplacesUndecidedOldPrompt(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	e := w.Prompt(t, r, "fix it", inbox.Asked)
	require.NoError(t, w.Edit(t, e.MessageID, "fix that"))
	now, err := w.Inbox.Load(e.Key)
	require.NoError(t, err)
	assert.Equal(t, []any{"fix that", talk.ClassPlain, inbox.Asked}, []any{now.Text, now.Class, now.State})
	assert.Equal(t, chattest.ReactionStored, w.Telegram.Reaction(e.MessageID))
	assert.Empty(t, w.Lifecycle.Done())
}

func TestP4_EditWithoutChangeIsSilent(t *testing.T) {
	for name, text := range map[string]string{"the same text": "fix it", "nothing to see": "\x1b"} {
		for _, state := range []inbox.State{inbox.Held, inbox.Asked, inbox.Typing, inbox.Unproven} {
			t.Run(name+", "+string(state), func(t *testing.T) {
				w := chattest.NewWorld(t)
				r := w.NewCurrentSession(t, "api", session.Running)
				e := w.Prompt(t, r, "fix it", state)
				require.NoError(t, w.Edit(t, e.MessageID, text))
				w.Silent(t)
			})
		}
	}
}

// A prompt that waits would be typed as it was.
func TestP4_EditIntoCommandIsReported(t *testing.T) {
	for _, text := range []string{"/stop", "/kill@cc_bot api"} {
		for _, state := range []inbox.State{inbox.Held, inbox.Asked, inbox.Typing, inbox.Unproven} {
			t.Run(text+", "+string(state), func(t *testing.T) {
				w := chattest.NewWorld(t)
				r := w.NewCurrentSession(t, "api", session.Running)
				e := w.Prompt(t, r, "fix it", state)
				require.NoError(t, w.Edit(t, e.MessageID, text))
				require.NoError(t, w.Edit(t, e.MessageID, text))
				assert.Equal(t, []string{"⚠ " + w.Word(i18n.EditIgnored)}, w.Telegram.Texts(), "once")
				assert.Equal(t, e.MessageID, w.Telegram.Last(t).ReplyTo)
				now, err := w.Inbox.Load(e.Key)
				require.NoError(t, err)
				assert.Equal(t, "fix it", now.Text)
			})
		}
	}
}

func TestP4_EditOfTypedPromptIsReported(t *testing.T) {
	for _, tt := range []struct {
		name  string
		state inbox.State
		err   error // of Reword
	}{
		{"being typed", inbox.Typing, nil},
		{"unproven", inbox.Unproven, nil},
		{"typed at this moment", inbox.Held, typing.ErrNoPrompt},
		{"of a session that is forgotten", inbox.Held, session.ErrNotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Running)
			e := w.Prompt(t, r, "fix it", tt.state)
			w.Lifecycle.OnReword = func(string, string) error { return chattest.Deep(tt.err) }
			for _, text := range []string{"fix that", "fix that", "fix both"} {
				require.NoError(t, w.Edit(t, e.MessageID, text))
			}
			reported := chattest.Warning + w.Word(i18n.EditIgnored)
			assert.Equal(t, []string{reported, reported}, w.Telegram.Texts(), "once per edit")
			assert.Equal(t, e.MessageID, w.Telegram.Last(t).ReplyTo)
			assert.Equal(t, "none yet", w.Telegram.Reaction(e.MessageID), "it stays as it is")
		})
	}
}

// Of a message that has left the inbox the conversation's ring knows whether it was a prompt.
func TestP4_EditOfFinishedPromptIsReported(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	key := w.MustHear(t, "fix it")
	require.NoError(t, w.Inbox.Store.Finish(key))
	require.NoError(t, w.EditAs(t, &models.Message{ID: 1001, From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Text: "as it was, more or less"}))
	assert.Empty(t, w.Telegram.Texts(), "nobody has edited it")
	reported := chattest.Warning + w.Word(i18n.EditIgnored)
	require.NoError(t, w.Edit(t, 1001, "fix that"))
	assert.Equal(t, []string{reported}, w.Telegram.Texts())
	require.NoError(t, w.Edit(t, 1001, "fix it"))
	assert.Equal(t, []string{reported, reported}, w.Telegram.Texts(), "each edit by itself: what the text was is not known any more")
	w.MustHear(t, "/list")
	w.Telegram.Posted = nil
	require.NoError(t, w.Edit(t, 1002, "/stop"))
	require.NoError(t, w.Edit(t, 1002, "a prompt"))
	require.NoError(t, w.Edit(t, 4711, "nobody knows that one"))
	assert.Empty(t, w.Telegram.Posted, "what was no prompt is none now")
}

func TestP9_OnlyAllowedPeopleCanEdit(t *testing.T) {
	for _, tt := range chattest.WhoAndWhere {
		t.Run(tt.Name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.Session(t, "api", session.Running)
			e := inbox.Entry{Key: "900", State: inbox.Held, Session: r.ID, Conversation: session.Conversation{ChatID: tt.Chat.ID}, MessageID: 77, Text: "fix it"}
			_, err := w.Inbox.Add(e)
			require.NoError(t, err)
			require.NoError(t, w.EditAs(t, &models.Message{ID: 77, From: &models.User{ID: tt.From}, Chat: tt.Chat, Text: "fix that", EditDate: 5}))
			if !tt.OnItem {
				w.Silent(t)
				return
			}
			assert.NotEmpty(t, w.Lifecycle.Done())
		})
	}
}

func TestP4_UnsavedEditIsRetried(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	e := w.Prompt(t, r, "fix it", inbox.Held)
	w.Lifecycle.OnReword = func(string, string) error { return chattest.ErrDisk }
	require.ErrorContains(t, w.Edit(t, e.MessageID, "fix that"), chattest.ErrDisk.Error())
	asked := inbox.Entry{Key: "900", State: inbox.Asked, Session: r.ID, Conversation: chattest.AtAlice, MessageID: 78, Text: "fix it"}
	_, err := w.Inbox.Add(asked)
	require.NoError(t, err)
	w.Inbox.OnSave = func(inbox.Entry) error { return chattest.ErrDisk }
	require.ErrorIs(t, w.Edit(t, 78, "fix that"), chattest.ErrDisk)
	typing := inbox.Entry{Key: "901", State: inbox.Typing, Session: r.ID, Conversation: chattest.AtAlice, MessageID: 79, Text: "fix it"}
	_, err = w.Inbox.Add(typing)
	require.NoError(t, err)
	w.Telegram.OnPost = chattest.Refuse
	require.ErrorIs(t, w.Edit(t, 79, "fix that"), chattest.ErrDisk)
}

// Telegram reports an edit again if only the message's look changes later, with the time of the
// edit or none.
func TestRefusedEditIsReportedOnce(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	e := w.Prompt(t, r, "fix it", inbox.Asked)
	edit := func(date int, text string) {
		t.Helper()
		w.Again()
		require.NoError(t, w.EditAs(t, &models.Message{ID: e.MessageID, From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Text: text, EditDate: date}))
	}
	edit(0, "/stop")
	assert.Empty(t, w.Telegram.Texts(), "nobody has edited it")
	edit(5, "/stop")
	edit(5, "/stop")
	assert.Len(t, w.Telegram.Texts(), 1, "after a restart too")
	edit(6, "/stop")
	assert.Len(t, w.Telegram.Texts(), 2, "another edit")
	edit(7, "fix that")
	edit(7, "fix that")
	edit(6, "/stop")
	assert.Len(t, w.Telegram.Texts(), 3, "the text was another one meanwhile")
}

// The file stays after any number of edits of its caption.
func TestP4_CaptionEditKeepsFile(t *testing.T) {
	for _, tt := range []struct{ name, caption, brought string }{
		{"a file", "look", "Attached file: .ccbot-inbox/a.png"},
		{"without a caption", "", "Attached file: .ccbot-inbox/a.png"},
		{"a recording", "a note", "what was said in it\nAttached file: .ccbot-inbox/a.ogg"},
		{"a caption like bash mode", "!look", "Attached file: .ccbot-inbox/a.png"},
		{"a caption that ends with a backslash", `C:\`, "Attached file: .ccbot-inbox/a.png"},
	} {
		for _, state := range []inbox.State{inbox.Held, inbox.Asked} {
			t.Run(tt.name+", "+string(state), func(t *testing.T) {
				w := chattest.NewWorld(t)
				r := w.NewCurrentSession(t, "api", session.Running)
				m := &models.Message{ID: 77, From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Caption: tt.caption, EditDate: 5}
				raw, err := json.Marshal(models.Update{Message: m})
				require.NoError(t, err)
				typed, class, _ := talk.Normalise(strings.TrimPrefix(tt.caption+"\n"+tt.brought, "\n"))
				e := inbox.Entry{Key: "900", State: state, Session: r.ID, Conversation: chattest.AtAlice, MessageID: 77, Text: typed, Class: class,
					Files: []string{"a"}, Update: raw}
				_, err = w.Inbox.Add(e)
				require.NoError(t, err)
				w.Lifecycle.OnReword = func(key, text string) error { // as lifecycle does
					return w.Inbox.Change(key, func(e *inbox.Entry) error { e.Text = text; return nil })
				}
				for _, caption := range []string{"see", "", "again\nand again", tt.caption} {
					edit := *m
					edit.Caption = caption
					require.NoError(t, w.EditAs(t, &edit))
					now, err := w.Inbox.Load("900")
					require.NoError(t, err)
					want, _, _ := talk.Normalise(strings.TrimPrefix(caption+"\n"+tt.brought, "\n"))
					assert.Equal(t, want, now.Text)
				}
			})
		}
	}
}
