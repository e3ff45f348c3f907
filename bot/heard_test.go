package bot

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// whoAndWhere is the table of P9: a person, a chat, and whether they are heard.
var whoAndWhere = []struct {
	name  string
	from  int64
	chat  models.Chat
	heard bool
}{
	{"an allowed person in private", alice, privateChat(alice), true},
	{"an allowed person in an allowed group", alice, groupChat(ours), true},
	{"an allowed person in an allowed plain group", alice, models.Chat{ID: ours, Type: models.ChatTypeGroup}, true},
	{"an allowed person in another group", alice, groupChat(-200), false},
	{"a stranger in private", eve, privateChat(eve), false},
	{"a stranger in an allowed group", eve, groupChat(ours), false},
	{"a stranger in another group", eve, groupChat(-200), false},
	{"an allowed person in a channel", alice, models.Chat{ID: -300, Type: models.ChatTypeChannel}, false},
	{"a chat that does not say what it is", alice, models.Chat{ID: -200}, false},
}

func TestP9_OnlyAllowedPeopleAreHeard(t *testing.T) {
	for _, tt := range whoAndWhere {
		for _, text := range []string{"/list", "/start", "/new x /tmp", "/kill", "a prompt", "//clear", ""} {
			t.Run(tt.name+": "+text, func(t *testing.T) {
				w := newWorld(t)
				r := w.session(t, "api", session.Running)
				require.NoError(t, w.Chats.SetCurrent(session.Conversation{ChatID: tt.chat.ID}, r.ID))
				key, u := w.accept(t, &models.Message{From: &models.User{ID: tt.from}, Chat: tt.chat, Text: text})
				require.NoError(t, w.Handle(t.Context(), key, u))
				if !tt.heard {
					w.silent(t)
					return
				}
				assert.NotEmpty(t, w.sender.done())
			})
		}
	}
}

func TestP9_OnlyAllowedPeopleMayTap(t *testing.T) {
	for _, tt := range whoAndWhere {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.session(t, "api", session.Running)
			e := w.prompt(t, r, "text", inbox.Unproven)
			for _, data := range []string{"open:" + ref(r.ID), "res:" + ref(r.ID), "try:" + ref(r.ID), "again:" + e.Key, "drop:" + e.Key, "what", ""} {
				require.NoError(t, w.Handle(t.Context(), "1", tapOn(tt.from, &models.Message{ID: 5, Chat: tt.chat}, data)))
			}
			if !tt.heard {
				w.silent(t)
				return
			}
			assert.NotEmpty(t, w.sender.done())
		})
	}
}

func TestP9_WhatNobodySaysIsNotHeard(t *testing.T) {
	w := newWorld(t)
	for name, u := range map[string]*models.Update{
		"nothing":            nil,
		"an empty update":    {},
		"no sender":          {Message: &models.Message{Chat: groupChat(ours), Text: "/list"}},
		"a channel post":     {ChannelPost: &models.Message{Chat: models.Chat{ID: ours, Type: models.ChatTypeChannel}, Text: "/list"}},
		"an edited message":  {EditedMessage: &models.Message{From: &models.User{ID: alice}, Chat: privateChat(alice), Text: "/list", EditDate: 5}},
		"an anonymous admin": {Message: &models.Message{From: &models.User{ID: 1087968824}, SenderChat: &models.Chat{ID: ours}, Chat: groupChat(ours), Text: "/list"}},
		"an inline tap":      {CallbackQuery: &models.CallbackQuery{From: models.User{ID: alice}, InlineMessageID: "x", Data: "no:7"}},
	} {
		require.NoError(t, w.Handle(t.Context(), "1", u), name)
	}
	w.silent(t)
}

func TestP9_OnlyAllowedPeopleAreToldOfFailures(t *testing.T) {
	for _, tt := range whoAndWhere {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			f := inbox.Failure{From: tt.from, Conversation: session.Conversation{ChatID: tt.chat.ID}, Unreadable: true, Err: errors.New("no")}
			require.NoError(t, w.UpdateFailed(t.Context(), f))
			if !tt.heard {
				w.silent(t)
				return
			}
			assert.Equal(t, warning+w.word(i18n.Unreadable), w.sender.last(t).Text.Text)
		})
	}
}

func TestP4_AFailedUpdateIsToldDurablyOrStays(t *testing.T) {
	w := newWorld(t)
	f := inbox.Failure{From: alice, Conversation: atAlice, MessageID: 77, Update: &models.Update{}, Err: errors.New("no")}
	require.NoError(t, w.UpdateFailed(t.Context(), f))
	assert.Equal(t, []string{warning + w.word(i18n.UpdateFailed)}, w.sender.texts())
	assert.Equal(t, []any{77, reactionNone}, []any{w.sender.last(t).ReplyTo, w.sender.reaction(77)})
	f.Deadly, f.Update, f.MessageID = true, nil, 78
	require.NoError(t, w.UpdateFailed(t.Context(), f))
	assert.Equal(t, warning+w.word(i18n.UpdateFailed), w.sender.last(t).Text.Text, "it was readable")
	f.Deadly, f.Update, f.MessageID = false, &models.Update{EditedMessage: &models.Message{}}, 79
	require.NoError(t, w.UpdateFailed(t.Context(), f))
	assert.Equal(t, 79, w.sender.last(t).ReplyTo)
	assert.Equal(t, "none yet", w.sender.reaction(79), "the message itself may have arrived")
	w.sender.post = refuse
	assert.ErrorIs(t, w.UpdateFailed(t.Context(), f), errDisk)
	f.Tap, f.Update = true, tapOn(alice, &models.Message{}, "x")
	assert.NoError(t, w.UpdateFailed(t.Context(), f), "a person taps again")
	assert.Len(t, w.sender.texts(), 3)
	assert.Contains(t, w.sender.done(), "answer query: "+w.word(i18n.InternalError))
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
			w := newWorld(t)
			m := &models.Message{From: &models.User{ID: alice}, Chat: groupChat(ours), Text: "/help",
				IsTopicMessage: tt.topic, MessageThreadID: tt.thread}
			key, u := w.accept(t, m)
			require.NoError(t, w.Handle(t.Context(), key, u))
			want := session.Conversation{ChatID: ours, ThreadID: tt.want}
			assert.Equal(t, want, w.sender.last(t).To)
			assert.Equal(t, want, inbox.ConversationOf(m), "the inbox sees it the same way")

			r := w.session(t, "api", session.Running)
			require.NoError(t, w.Handle(t.Context(), "1", tapOn(alice, m, "open:"+ref(r.ID))))
			current, err := w.Chats.Current(want)
			require.NoError(t, err)
			assert.Equal(t, r.ID, current)
		})
	}
}

func TestServiceMessagesAreNotAnswered(t *testing.T) {
	for name, m := range map[string]models.Message{
		"a pin":         {PinnedMessage: &models.MaybeInaccessibleMessage{InaccessibleMessage: &models.InaccessibleMessage{}, Type: 1}},
		"a new member":  {NewChatMembers: []models.User{{ID: eve}}},
		"one who left":  {LeftChatMember: &models.User{ID: eve}},
		"a title":       {NewChatTitle: "x"},
		"a topic":       {ForumTopicCreated: &models.ForumTopicCreated{Name: "x"}},
		"a topic ended": {ForumTopicClosed: &models.ForumTopicClosed{}},
		"a migration":   {MigrateToChatID: -5},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			m.From, m.Chat = &models.User{ID: alice}, groupChat(ours)
			require.NoError(t, w.Handle(t.Context(), "1", &models.Update{Message: &m}))
			w.silent(t)
		})
	}
}

// A tap on a message that Telegram does not show to the bot any more.
func TestATapOnAnOldMessageIsAnswered(t *testing.T) {
	var q models.CallbackQuery
	require.NoError(t, json.Unmarshal([]byte(`{"id":"query","from":{"id":7},"data":"res:x",
		"message":{"chat":{"id":7,"type":"private"},"message_id":5,"date":0}}`), &q))
	w := newWorld(t)
	require.NoError(t, w.Handle(t.Context(), "1", &models.Update{CallbackQuery: &q}))
	assert.Contains(t, w.sender.done(), "answer query: "+w.word(i18n.StaleButton))
	q.From.ID = eve
	w = newWorld(t)
	require.NoError(t, w.Handle(t.Context(), "1", &models.Update{CallbackQuery: &q}))
	w.silent(t)
}
