package bot_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
)

func TestP9_OnlyAllowedPeopleAreHeard(t *testing.T) {
	for _, tt := range chattest.WhoAndWhere {
		for _, text := range []string{"/list", "/start", "/new x /tmp", "/kill", "a prompt", "//clear", ""} {
			t.Run(tt.Name+": "+text, func(t *testing.T) {
				w := chattest.NewWorld(t)
				r := w.Session(t, "api", session.Running)
				require.NoError(t, w.Chats.SetCurrent(session.Conversation{ChatID: tt.Chat.ID}, r.ID))
				key, u := w.Accept(t, &models.Message{From: &models.User{ID: tt.From}, Chat: tt.Chat, Text: text})
				require.NoError(t, w.Handle(t.Context(), key, u))
				if !tt.OnItem {
					w.Silent(t)
					return
				}
				assert.NotEmpty(t, w.Telegram.Done())
			})
		}
	}
}

func TestP9_OnlyAllowedPeopleMayTap(t *testing.T) {
	for _, tt := range chattest.WhoAndWhere {
		t.Run(tt.Name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.Session(t, "api", session.Running)
			e := w.Prompt(t, r, "text", inbox.Unproven)
			for _, data := range []string{"open:" + chattest.Ref(r.ID), "res:" + chattest.Ref(r.ID), "try:" + chattest.Ref(r.ID), "again:" + e.Key, "drop:" + e.Key, "what", ""} {
				require.NoError(t, w.Handle(t.Context(), "1", chattest.TapOn(tt.From, &models.Message{ID: 5, Chat: tt.Chat}, data)))
			}
			if !tt.OnItem {
				w.Silent(t)
				return
			}
			assert.NotEmpty(t, w.Telegram.Done())
		})
	}
}

func TestP9_UpdateWithoutPersonIsIgnored(t *testing.T) {
	w := chattest.NewWorld(t)
	for name, u := range map[string]*models.Update{
		"nothing":            nil,
		"an empty update":    {},
		"no sender":          {Message: &models.Message{Chat: chattest.GroupChat(chattest.Ours), Text: "/list"}},
		"a channel post":     {ChannelPost: &models.Message{Chat: models.Chat{ID: chattest.Ours, Type: models.ChatTypeChannel}, Text: "/list"}},
		"an edited message":  {EditedMessage: &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Text: "/list", EditDate: 5}},
		"an anonymous admin": {Message: &models.Message{From: &models.User{ID: 1087968824}, SenderChat: &models.Chat{ID: chattest.Ours}, Chat: chattest.GroupChat(chattest.Ours), Text: "/list"}},
		"an inline tap":      {CallbackQuery: &models.CallbackQuery{From: models.User{ID: chattest.Alice}, InlineMessageID: "x", Data: "no:7"}},
	} {
		require.NoError(t, w.Handle(t.Context(), "1", u), name)
	}
	w.Silent(t)
}

func TestP9_OnlyAllowedPeopleGetFailures(t *testing.T) {
	for _, tt := range chattest.WhoAndWhere {
		t.Run(tt.Name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			f := inbox.Failure{From: tt.From, Conversation: session.Conversation{ChatID: tt.Chat.ID}, Unreadable: true, Err: errors.New("no")}
			require.NoError(t, w.UpdateFailed(t.Context(), f))
			if !tt.OnItem {
				w.Silent(t)
				return
			}
			assert.Equal(t, chattest.Warning+w.Word(i18n.Unreadable), w.Telegram.Last(t).Text.Text)
		})
	}
}

func TestP4_FailedUpdateIsReportedOrStays(t *testing.T) {
	w := chattest.NewWorld(t)
	f := inbox.Failure{From: chattest.Alice, Conversation: chattest.AtAlice, MessageID: 77, Update: &models.Update{}, Err: errors.New("no")}
	require.NoError(t, w.UpdateFailed(t.Context(), f))
	assert.Equal(t, []string{chattest.Warning + w.Word(i18n.UpdateFailed)}, w.Telegram.Texts())
	assert.Equal(t, []any{77, chattest.ReactionNone}, []any{w.Telegram.Last(t).ReplyTo, w.Telegram.Reaction(77)})
	f.Deadly, f.Update, f.MessageID = true, nil, 78
	require.NoError(t, w.UpdateFailed(t.Context(), f))
	assert.Equal(t, chattest.Warning+w.Word(i18n.UpdateFailed), w.Telegram.Last(t).Text.Text, "it was readable")
	f.Deadly, f.Update, f.MessageID = false, &models.Update{EditedMessage: &models.Message{}}, 79
	require.NoError(t, w.UpdateFailed(t.Context(), f))
	assert.Equal(t, 79, w.Telegram.Last(t).ReplyTo)
	assert.Equal(t, "none yet", w.Telegram.Reaction(79), "the message itself may have arrived")
	w.Telegram.OnPost = chattest.Refuse
	assert.ErrorIs(t, w.UpdateFailed(t.Context(), f), chattest.ErrDisk)
	f.Tap, f.Update = true, chattest.TapOn(chattest.Alice, &models.Message{}, "x")
	assert.NoError(t, w.UpdateFailed(t.Context(), f), "a person taps again")
	assert.Len(t, w.Telegram.Texts(), 3)
	assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Word(i18n.InternalError))
}

// A topic is its own conversation; a plain reply carries a thread id too, which is not one.
func TestThreads(t *testing.T) {
	for _, tt := range []struct {
		name   string
		topic  bool
		thread int
		want   int
	}{
		{"no thread", false, 0, 0},
		{"a plain reply", false, 42, 0},
		{"a topic", true, 42, 42},
		{"a topic without an id", true, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			m := &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.GroupChat(chattest.Ours), Text: "/help",
				IsTopicMessage: tt.topic, MessageThreadID: tt.thread}
			key, u := w.Accept(t, m)
			require.NoError(t, w.Handle(t.Context(), key, u))
			want := session.Conversation{ChatID: chattest.Ours, ThreadID: tt.want}
			assert.Equal(t, want, w.Telegram.Last(t).To)
			assert.Equal(t, want, inbox.ConversationOf(m), "the inbox sees it the same way")

			r := w.Session(t, "api", session.Running)
			w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
			m.Text = "/list"
			key, u = w.Accept(t, m)
			require.NoError(t, w.Handle(t.Context(), key, u))
			list := w.Telegram.Last(t)
			id := w.IDOf(chattest.Data(list)[0])
			on := &models.Message{ID: id, From: m.From, Chat: m.Chat, IsTopicMessage: tt.topic, MessageThreadID: tt.thread}
			require.NoError(t, w.Handle(t.Context(), "1", chattest.TapOn(chattest.Alice, on, chattest.DataBehind(t, list, r.Name))))
			current := w.Chats.Current(want)
			assert.Equal(t, r.ID, current)
		})
	}
}

func TestServiceMessagesAreNotAnswered(t *testing.T) {
	for name, m := range map[string]models.Message{
		"a pin":         {PinnedMessage: &models.MaybeInaccessibleMessage{InaccessibleMessage: &models.InaccessibleMessage{}, Type: 1}},
		"a new member":  {NewChatMembers: []models.User{{ID: chattest.Eve}}},
		"one who left":  {LeftChatMember: &models.User{ID: chattest.Eve}},
		"a title":       {NewChatTitle: "x"},
		"a topic":       {ForumTopicCreated: &models.ForumTopicCreated{Name: "x"}},
		"a topic ended": {ForumTopicClosed: &models.ForumTopicClosed{}},
		"a migration":   {MigrateToChatID: -5},
	} {
		t.Run(name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			m.From, m.Chat = &models.User{ID: chattest.Alice}, chattest.GroupChat(chattest.Ours)
			require.NoError(t, w.Handle(t.Context(), "1", &models.Update{Message: &m}))
			w.Silent(t)
		})
	}
}

// Telegram no longer shows the tapped message to the bot.
func TestTapOnOldMessageIsAnswered(t *testing.T) {
	var q models.CallbackQuery
	require.NoError(t, json.Unmarshal([]byte(`{"id":"query","from":{"id":7},"data":"res:x",
		"message":{"chat":{"id":7,"type":"private"},"message_id":5,"date":0}}`), &q))
	w := chattest.NewWorld(t)
	require.NoError(t, w.Handle(t.Context(), "1", &models.Update{CallbackQuery: &q}))
	assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Word(i18n.StaleButton))
	q.From.ID = chattest.Eve
	w = chattest.NewWorld(t)
	require.NoError(t, w.Handle(t.Context(), "1", &models.Update{CallbackQuery: &q}))
	w.Silent(t)
}
