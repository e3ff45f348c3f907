package botapi_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

func TestMigratedGroup(t *testing.T) {
	const old, fresh = -500, -1_000_000_000_500
	srv, p := started(t, botapi.Options{})
	srv.Group(old, "Team", false)
	say := func(chat int64) reply {
		return call(t, srv, "sendMessage", map[string]string{"chat_id": strconv.FormatInt(chat, 10), "text": "x"})
	}
	require.True(t, say(old).OK)
	require.NoError(t, p.Migrate(old, fresh))
	for _, method := range []string{"sendMessage", "sendChatAction", "getChat", "deleteMessage"} {
		r := call(t, srv, method, map[string]string{"chat_id": strconv.Itoa(old), "text": "x", "action": "typing", "message_id": "1"})
		assert.Equal(t, "Bad Request: group chat was upgraded to a supergroup chat", r.Description, method)
		assert.EqualValues(t, fresh, r.Parameters.MigrateTo, method)
	}
	assert.True(t, say(fresh).OK)
	got := updates(t, srv)
	require.Len(t, got, 2)
	assert.EqualValues(t, fresh, got[0].Message.MigrateToChatID)
	assert.EqualValues(t, old, got[1].Message.MigrateFromChatID)
	require.Error(t, p.Migrate(old+1, fresh), "there is no such group")
	require.Error(t, p.Migrate(fresh, fresh-1), "it is one already")
}

func TestTopicsOfPeople(t *testing.T) {
	srv, p := started(t, botapi.Options{})
	thread := p.OpenTopic(alice, "blog")
	p.SendIn(alice, thread, "hello")
	got := updates(t, srv)
	require.Len(t, got, 2)
	assert.Equal(t, "blog", got[0].Message.ForumTopicCreated.Name)
	assert.Equal(t, thread, got[1].Message.MessageThreadID)
	say := func() reply {
		return call(t, srv, "sendMessage", map[string]string{"chat_id": "42", "message_thread_id": strconv.Itoa(thread), "text": "x"})
	}
	require.True(t, say().OK)
	require.NoError(t, p.DeleteTopic(alice, thread))
	assert.Equal(t, "Bad Request: message thread not found", say().Description)
	assert.Empty(t, srv.Messages(alice), "its messages went with it")
	require.Error(t, p.DeleteTopic(alice, thread))
}

func TestTopicChangesByPeople(t *testing.T) {
	const forum = -1_000_000_000_700
	srv, p := started(t, botapi.Options{Forum: forum})
	made := call(t, srv, "createForumTopic", map[string]string{"chat_id": strconv.Itoa(forum), "name": "api", "icon_custom_emoji_id": "5350554349074391003"})
	require.True(t, made.OK, made.Description)
	thread := srv.Topic(forum, "api")
	require.NotZero(t, thread)
	require.Error(t, p.RenameTopic(forum, thread, "api"), "it is called so")
	require.NoError(t, p.RenameTopic(forum, thread, "web"))
	require.NoError(t, p.ShutTopic(forum, thread, true))
	require.NoError(t, p.ShutTopic(forum, thread, false))
	got := updates(t, srv)
	require.Len(t, got, 3, "of what the bot has done it is not told")
	assert.Equal(t, "web", got[0].Message.ForumTopicEdited.Name)
	assert.NotNil(t, got[1].Message.ForumTopicClosed)
	assert.NotNil(t, got[2].Message.ForumTopicReopened)
	assert.True(t, got[2].Message.IsTopicMessage)
	edit := func(key, value string) reply {
		return call(t, srv, "editForumTopic", map[string]string{"chat_id": strconv.Itoa(forum), "message_thread_id": strconv.Itoa(thread), key: value})
	}
	assert.True(t, edit("icon_custom_emoji_id", "5357315181649076022").OK)
	assert.Equal(t, "Bad Request: TOPIC_NOT_MODIFIED", edit("icon_custom_emoji_id", "5357315181649076022").Description)
	assert.Equal(t, "Bad Request: DOCUMENT_INVALID", edit("icon_custom_emoji_id", "1").Description)
	mine := p.OpenTopic(alice, "mine")
	require.Error(t, p.ShutTopic(alice, mine, true), "in a private chat there is nobody to close it for")
}

func TestTopicsWithoutThreadedMode(t *testing.T) {
	srv, _ := started(t, botapi.Options{})
	r := call(t, srv, "createForumTopic", map[string]string{"chat_id": "42", "name": "api"})
	assert.Equal(t, "Bad Request: the chat is not a forum", r.Description)
}

func TestMessageToDeletedTopicStrays(t *testing.T) {
	srv, p := started(t, botapi.Options{Topics: true, Strays: true})
	thread := p.OpenTopic(alice, "api")
	require.NoError(t, p.DeleteTopic(alice, thread))
	require.True(t, call(t, srv, "sendMessage", map[string]string{"chat_id": "42", "message_thread_id": strconv.Itoa(thread), "text": "x"}).OK)
	assert.Zero(t, srv.Messages(alice)[0].Thread)
}
