package bot_test

import (
	"encoding/json"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// group is the forum of the tests as it writes to the bot: each message has the next number.
type group struct {
	t    *testing.T
	w    *chattest.World
	last int
}

// acts reports whether the bot acts on a message of Alice's in a topic; 0: outside of topics.
func (g *group) acts(thread int, m models.Message) bool {
	g.t.Helper()
	g.last++
	m.ID = g.last
	return g.actsAgain(thread, m)
}

// actsAgain is acts for a message that has its number.
func (g *group) actsAgain(thread int, m models.Message) bool {
	g.t.Helper()
	m.Chat, m.From, m.MessageThreadID, m.IsTopicMessage = chattest.Forum(), &models.User{ID: chattest.Alice}, thread, thread != 0
	raw, err := json.Marshal(models.Update{ID: 1, Message: &m})
	require.NoError(g.t, err)
	acts, err := g.w.Several.Acts(g.t.Context(), raw)
	require.NoError(g.t, err)
	return acts
}

func (g *group) says(thread int, text string) bool {
	g.t.Helper()
	return g.acts(thread, models.Message{Text: text})
}

// edits is acts for an edit of a message.
func (g *group) edits(message int, text string) bool {
	g.t.Helper()
	raw, err := json.Marshal(models.Update{ID: 1, EditedMessage: &models.Message{ID: message, Text: text,
		Chat: chattest.Forum(), From: &models.User{ID: chattest.Alice}}})
	require.NoError(g.t, err)
	acts, err := g.w.Several.Acts(g.t.Context(), raw)
	require.NoError(g.t, err)
	return acts
}

func newGroup(t *testing.T, others bool) *group {
	t.Helper()
	w := chattest.NewWorld(t)
	require.NoError(t, w.Chats.ResetBots(chattest.Ours, others))
	return &group{t: t, w: w}
}

func user(name string) *models.User { return &models.User{ID: 99, IsBot: true, Username: name} }

func TestP4_PickedBotActs(t *testing.T) {
	g := newGroup(t, true)
	assert.False(t, g.says(0, "hello"), "no bot is picked")
	assert.False(t, g.says(0, "/list"))
	assert.True(t, g.says(0, "/list@CC_bot"))
	assert.False(t, g.says(0, "/list@other_bot"))
	assert.True(t, g.says(0, "/default@cc_bot"))
	assert.True(t, g.says(0, "hello"))
	assert.False(t, g.says(5, "hello"), "a topic that it was not given")
	assert.False(t, g.says(5, "/here@other_bot"))
	assert.True(t, g.says(0, "still"))
	assert.True(t, g.says(5, "/here@cc_bot"))
	assert.True(t, g.says(5, "hello"))
	assert.False(t, g.says(5, "/default@other_bot"), "which is about what is outside of topics")
	assert.True(t, g.says(5, "hello"))
	assert.False(t, g.says(0, "hello"), "it withdraws")
	assert.True(t, g.acts(0, models.Message{Text: "no", ReplyToMessage: &models.Message{ID: 1, From: user("cc_bot")}}))
	assert.True(t, g.says(7, "/default@cc_bot"))
	assert.False(t, g.acts(0, models.Message{Text: "no", ReplyToMessage: &models.Message{ID: 1, From: user("other_bot")}}))
	assert.Empty(t, g.w.Telegram.Texts(), "what is known is not told")
}

func TestP4_OwnTopicIsActedOn(t *testing.T) {
	g := newGroup(t, true)
	require.NoError(t, g.w.Chats.NoteTopic(session.Conversation{ChatID: chattest.Ours, ThreadID: 5}, conversation.Topic{For: "1"}))
	assert.True(t, g.says(5, "hello"))
	opened := &models.Message{ID: 6, From: user("cc_bot"), ForumTopicCreated: &models.ForumTopicCreated{Name: "api"}}
	assert.True(t, g.acts(6, models.Message{Text: "hello", ReplyToMessage: opened}), "the disk does not know the topic")
	opened.From = user("other_bot")
	assert.False(t, g.acts(7, models.Message{Text: "hello", ReplyToMessage: opened}))
	assert.False(t, g.says(5, "/here@other_bot"))
	assert.False(t, g.says(5, "hello"))
}

// TestP4_OnlyBotWithdrawsFromOthers: it acts on everything until a message shows another bot.
func TestP4_OnlyBotWithdrawsFromOthers(t *testing.T) {
	admin := user("GroupAnonymousBot")
	for _, tt := range []struct {
		name  string
		shows models.Message
		sees  bool
		tells bool
	}{
		{"a command for another bot", models.Message{Text: "/list@other_bot"}, true, true},
		{"a pick of another bot", models.Message{Text: "/default@other_bot"}, true, false},
		{"a topic for another bot", models.Message{Text: "/here@other_bot", IsTopicMessage: true, MessageThreadID: 5}, true, false},
		{"a reply to another bot", models.Message{Text: "x", ReplyToMessage: &models.Message{ID: 1, From: user("other_bot")}}, true, true},
		{"another bot joins", models.Message{NewChatMembers: []models.User{*user("other_bot")}}, true, true},
		{"this bot joins", models.Message{NewChatMembers: []models.User{*user("cc_bot")}}, false, false},
		{"a person joins", models.Message{NewChatMembers: []models.User{{ID: 3}}}, false, false},
		{"a path with an @", models.Message{Text: "/src/x@y"}, false, false},
		{"a forwarded command", models.Message{Text: "/list@other_bot", ForwardOrigin: &models.MessageOrigin{
			Type: models.MessageOriginTypeHiddenUser, MessageOriginHiddenUser: &models.MessageOriginHiddenUser{Type: "hidden_user"}}}, false, false},
		{"a reply to an anonymous administrator", models.Message{Text: "x", ReplyToMessage: &models.Message{ID: 1, From: admin,
			SenderChat: &models.Chat{ID: chattest.Ours}}}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newGroup(t, false)
			assert.True(t, g.says(0, "hello"))
			g.acts(0, tt.shows)
			assert.Equal(t, !tt.sees, g.says(0, "hello"))
			assert.Equal(t, !tt.sees, g.says(5, "hello"))
			reported := g.w.Telegram.Texts()
			require.Equal(t, tt.tells, len(reported) == 1, "%q", reported)
			if tt.tells {
				assert.Contains(t, reported[0], "/default@cc_bot makes it act outside of topics")
			}
			assert.True(t, g.says(0, "/default@cc_bot"))
			assert.True(t, g.says(0, "hello"))
		})
	}
}

// TestP4_PickCountsFromItsMessage: what Telegram sends again, and an edit, go where the message
// went.
func TestP4_PickCountsFromItsMessage(t *testing.T) {
	g := newGroup(t, false)
	mine := models.Message{ID: 1, Text: "hello"}
	assert.True(t, g.acts(0, mine))
	assert.False(t, g.says(0, "/default@other_bot"))
	theirs := models.Message{ID: 3, Text: "hello"}
	assert.False(t, g.acts(0, theirs))
	assert.True(t, g.says(0, "/default@cc_bot"))
	for range 2 {
		assert.True(t, g.actsAgain(0, mine))
		assert.False(t, g.actsAgain(0, models.Message{ID: 2, Text: "/default@other_bot"}))
		assert.False(t, g.actsAgain(0, theirs))
		assert.True(t, g.actsAgain(0, models.Message{ID: 4, Text: "/default@cc_bot"}))
		assert.True(t, g.actsAgain(0, models.Message{ID: 5, Text: "hello"}))
	}
	assert.True(t, g.edits(1, "hello again"))
	assert.False(t, g.edits(3, "hello again"))
	assert.False(t, g.edits(5, "/default@other_bot"))
	assert.True(t, g.says(0, "hello"), "an edit picks no bot")
	group := session.Conversation{ChatID: chattest.Ours}
	assert.Len(t, g.w.Chats.Bots(group).Picks, 2)
	assert.Equal(t, 2, g.w.Chats.Bots(group).Others)
}

// TestP4_UnreadableMessageIsJudged: the decision needs no part of a message that a library does not
// know.
func TestP4_UnreadableMessageIsJudged(t *testing.T) {
	g := newGroup(t, true)
	acts, err := g.w.Several.Acts(t.Context(), json.RawMessage(`{"update_id":1,"message":{"message_id":1,"text":"x",
		"from":{"id":7},"chat":{"id":-100,"type":"supergroup"},"reply_to_message":{"message_id":1,"paid_media":{"type":"odd"}},"checklist":7}}`))
	require.NoError(t, err)
	assert.False(t, acts)
}

// TestP4_FullDiskIgnoresOtherBotsCommand: a full disk makes no bot answer what is for another.
func TestP4_FullDiskIgnoresOtherBotsCommand(t *testing.T) {
	g := newGroup(t, true)
	for text, acts := range map[string]bool{"/list": false, "/list@other_bot": false, "/list@cc_bot": true} {
		m := models.Message{ID: 1, Chat: chattest.Forum(), From: &models.User{ID: chattest.Alice}, Text: text}
		assert.Equal(t, acts, g.w.Unkept(&models.Update{Message: &m}) != nil, text)
	}
}

// TestOwnPickShowsNoOthers: Telegram's apps may add the bot's name to a command that a person
// chooses from the menu, so a pick of the only bot proves no other one.
func TestOwnPickShowsNoOthers(t *testing.T) {
	for _, text := range []string{"/here@cc_bot", "/default@cc_bot"} {
		t.Run(text, func(t *testing.T) {
			g := newGroup(t, false)
			assert.True(t, g.says(5, text))
			for _, thread := range []int{0, 5, 7} {
				assert.True(t, g.says(thread, "hello"), "topic %d", thread)
			}
			assert.Empty(t, g.w.Telegram.Texts())
		})
	}
}

func TestPicksAreAnswered(t *testing.T) {
	w := chattest.NewWorld(t)
	w.MachineName = "tower"
	w.Again()
	require.NoError(t, w.Chats.ResetBots(chattest.Ours, true))
	w.MustSayInForum(t, 0, "/default@cc_bot")
	w.MustSayInForum(t, 5, "/here@cc_bot")
	w.MustHear(t, "/here")
	args := i18n.Args{"Bot": "@cc_bot", "Machine": "tower"}
	assert.Equal(t, []string{w.Word(i18n.SeveralDefault, args), w.Word(i18n.SeveralHere, args), w.Word(i18n.SeveralPrivate, args)}, w.Telegram.Texts())
}

func TestGroupOfSeveralBotsIsAllowed(t *testing.T) {
	w := chattest.NewWorld(t)
	allows(t, w, askedAboutGroup(t, w), i18n.ButtonOtherBots)
	assert.True(t, w.InGroup(theirs))
	assert.Equal(t, 1, w.Chats.Bots(session.Conversation{ChatID: theirs}).Others)
	assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, "/default@cc_bot makes it act outside of topics")
}
