package botapi_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

const team = -1_001_000_000_042

// two are two bots in one forum, and a person there.
func two(t *testing.T) (first, second *botapi.Server, p *botapi.Person) {
	first, p = started(t, botapi.Options{BotUsername: "first_bot"})
	second, _ = started(t, botapi.Options{BotUsername: "second_bot", Beside: first})
	first.Group(team, "Team", true)
	return first, second, p
}

// texts are the texts of the updates that a bot gets.
func texts(t *testing.T, srv *botapi.Server) (all []string) {
	t.Helper()
	for _, u := range updates(t, srv) {
		all = append(all, u.Message.Text)
	}
	return all
}

func sends(t *testing.T, srv *botapi.Server, text string) (id int) {
	t.Helper()
	require.True(t, call(t, srv, "sendMessage", map[string]string{"chat_id": strconv.Itoa(team), "text": text}).OK)
	all := srv.Messages(team)
	return all[len(all)-1].ID
}

func TestBotsOfOneGroup(t *testing.T) {
	first, second, p := two(t)
	p.Send(team, "hello")
	own := sends(t, first, "an answer")
	assert.Equal(t, []string{"hello"}, texts(t, first))
	assert.Equal(t, []string{"hello"}, texts(t, second), "no bot sees the message of another")
	assert.Equal(t, first.Messages(team), second.Messages(team))
	edit := map[string]string{"chat_id": strconv.Itoa(team), "message_id": strconv.Itoa(own), "text": "changed"}
	assert.Equal(t, "Bad Request: message can't be edited", call(t, second, "editMessageText", edit).Description)
	assert.True(t, call(t, first, "editMessageText", edit).OK)
	p.Send(p.ID(), "private")
	assert.Equal(t, []string{"hello", "private"}, texts(t, first))
	assert.Equal(t, []string{"hello"}, texts(t, second), "a private chat is with one bot")
}

func TestPrivacyMode(t *testing.T) {
	first, second, p := two(t)
	first.SetPrivacy(true)
	second.SetPrivacy(true)
	p.Send(team, "a text")
	p.Send(team, "/nobody")
	answer := sends(t, first, "an answer")
	p.Send(team, "/last")
	p.Send(team, "/list@second_bot now")
	p.Reply(team, answer, "a reply")
	second.SetPrivacy(false)
	p.Send(team, "an administrator sees it")
	assert.Equal(t, []string{"/last", "a reply"}, texts(t, first))
	assert.Equal(t, []string{"/list@second_bot now", "an administrator sees it"}, texts(t, second))
	p.OpenTopic(team, "blog")
	assert.Len(t, updates(t, first), 3, "service messages reach all")
}

// TestTopicsMessagesAnswerItsOpening: in a forum Telegram gives each message what has opened its
// topic.
func TestTopicsMessagesAnswerItsOpening(t *testing.T) {
	first, second, p := two(t)
	require.True(t, call(t, first, "createForumTopic", map[string]string{"chat_id": strconv.Itoa(team), "name": "blog"}).OK)
	p.SendIn(team, first.Topic(team, "blog"), "hello")
	for _, srv := range []*botapi.Server{first, second} {
		got := updates(t, srv)
		require.Len(t, got, 1)
		to := got[0].Message.ReplyToMessage
		require.NotNil(t, to)
		assert.NotNil(t, to.ForumTopicCreated)
		assert.Equal(t, "first_bot", to.From.Username)
	}
}
