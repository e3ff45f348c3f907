package bot_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port"
)

const isAsked = "a person is asked"

// goesTo says a text in the plain chat and returns the name of the session that gets it.
func (o team) goesTo(t *testing.T, by int64, text string) string {
	t.Helper()
	who := alice
	if by == chattest.Bob {
		who = bob
	}
	key, _ := o.says(t, 0, who, text)
	e, err := o.Inbox.Load(key)
	require.NoError(t, err)
	if e.State == inbox.Asked {
		return isAsked
	}
	return o.Record(t, e.Session).Name
}

// newPlainTeam is a group without topics.
func newPlainTeam(t *testing.T) team { return newTeam(t, chattest.GroupChat(chattest.Ours)) }

// inFront reports whether everything that a session says is shown.
func (o team) inFront(t *testing.T, r session.Record) bool {
	t.Helper()
	return o.Chat.Book.IsInFront(port.Session{ID: r.ID, Conversation: o.Record(t, r.ID).Conversation})
}

// In a plain chat of several people each text goes to the session of its writer, and a command without
// a name means it too, also after a restart. All of these sessions are in front.
func TestEachPersonHasOwnSessionInPlainChat(t *testing.T) {
	o := newPlainTeam(t)
	o.says(t, 0, alice, "/new shop /")
	o.says(t, 0, bob, "/new api /")
	for range 2 {
		assert.Equal(t, "shop", o.goesTo(t, chattest.Alice, "fix it"))
		assert.Equal(t, "api", o.goesTo(t, chattest.Bob, "fix it"))
		o.says(t, 0, alice, "/kill")
		assert.Contains(t, o.Telegram.Last(t).Text.Text, "shop")
		o.says(t, 0, bob, "/kill")
		assert.Contains(t, o.Telegram.Last(t).Text.Text, "api")
		assert.True(t, o.inFront(t, named(t, o.World, "shop")))
		assert.True(t, o.inFront(t, named(t, o.World, "api")))
		o.StartsAnew(t)
	}
	r := named(t, o.World, "shop")
	heading := o.Answers.Heading(port.Session{ID: r.ID, Name: r.Name, Conversation: r.Conversation})
	assert.Equal(t, "shop\n", heading.Text, "each answer says whose it is")
}

// Who has chosen none gets the only session of the chat, and keeps it.
func TestPersonWithoutSessionGetsOnlyOne(t *testing.T) {
	o := newPlainTeam(t)
	o.says(t, 0, alice, "/new shop /")
	assert.Equal(t, "shop", o.goesTo(t, chattest.Bob, "hello"))
	o.says(t, 0, alice, "/new api /")
	assert.Equal(t, "shop", o.goesTo(t, chattest.Bob, "and now"))
	assert.Equal(t, "api", o.goesTo(t, chattest.Alice, "hello"))
}

// Who has chosen none of several is asked, and what he chooses is his.
func TestPersonWithoutSessionIsAsked(t *testing.T) {
	o := newPlainTeam(t)
	o.says(t, 0, alice, "/new shop /")
	o.says(t, 0, alice, "/new api /")
	require.Equal(t, isAsked, o.goesTo(t, chattest.Bob, "hello"))
	o.says(t, 0, bob, "/kill")
	assert.Equal(t, o.In(chattest.InGroup).Say(i18n.NoCurrent), o.Telegram.Last(t).Text.Text)
	assert.Equal(t, "api", o.goesTo(t, chattest.Alice, "hello"))
	shop := named(t, o.World, "shop")
	opens(t, o.World, chattest.Bob, chattest.InGroup, shop.ID)
	assert.Equal(t, "shop", o.goesTo(t, chattest.Bob, "hello again"))
	assert.Equal(t, "api", o.goesTo(t, chattest.Alice, "hello again"))
}

// The end of a person's session sends nothing to another person's.
func TestEndOfOwnSessionLeavesOthers(t *testing.T) {
	o := newPlainTeam(t)
	o.says(t, 0, alice, "/new shop /")
	o.says(t, 0, bob, "/new api /")
	o.Records.Change(named(t, o.World, "api").ID, func(r *session.Record) { r.State, r.EndedAt = session.Archived, o.Chat.Now() })
	assert.Equal(t, isAsked, o.goesTo(t, chattest.Bob, "hello"))
	assert.Equal(t, "shop", o.goesTo(t, chattest.Alice, "hello"))
}

// What one person chooses takes no reason of a denial from another.
func TestReasonWaitsForItsPersonInPlainChat(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		o := team{w, chattest.GroupChat(chattest.Ours)}
		o.says(t, 0, alice, "/new shop /")
		o.says(t, 0, bob, "/new api /")
		r := named(t, w, "shop")
		q := w.AsksFor(t, r, "Bash", chattest.Bash)
		id := w.Message(t, q)
		w.TapAt(t, chattest.Alice, o.group, id, chattest.DataBehind(t, w.Shows(t, id), w.Word(i18n.AskDenyWhy)))
		o.says(t, 0, bob, "/new web /")
		w.Work(t)
		o.says(t, 0, alice, "use make instead")
		w.Work(t)
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, "Denied by Alice")
	})
}

// One person alone, and a private chat, have one current session, as before.
func TestOnePersonHasOneSession(t *testing.T) {
	o := newPlainTeam(t)
	shop, api := o.Session(t, "shop", session.Running), o.Session(t, "api", session.Running)
	for _, id := range []uuid.UUID{shop.ID, api.ID} {
		o.Records.Change(id, func(r *session.Record) { r.Conversation = chattest.InGroup })
	}
	require.NoError(t, o.Chats.SetCurrent(chattest.InGroup, shop.ID), "of an earlier version")
	assert.Equal(t, "shop", o.goesTo(t, chattest.Alice, "hello"))
	assert.False(t, o.inFront(t, api))
	heading := o.Answers.Heading(port.Session{ID: shop.ID, Name: "shop", Conversation: chattest.InGroup})
	assert.Empty(t, heading.Text)
	opens(t, o.World, chattest.Alice, chattest.InGroup, api.ID)
	assert.Equal(t, "api", o.goesTo(t, chattest.Alice, "hello"))
	assert.False(t, o.inFront(t, shop))

	require.NoError(t, o.Chats.SetCurrentOf(chattest.AtAlice, chattest.Alice, shop.ID))
	require.NoError(t, o.Chats.SetCurrentOf(chattest.AtAlice, chattest.Bob, api.ID))
	assert.True(t, o.Chat.Book.IsCurrent(chattest.AtAlice, chattest.Alice, port.Session{ID: api.ID}))
}
