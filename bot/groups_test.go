package bot_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
)

const theirs = int64(-200) // a group that is not allowed

var theirGroup = models.Chat{ID: theirs, Type: models.ChatTypeGroup, Title: "Friends"}

func joined(by int64, in models.Chat) *models.Update {
	return chattest.Membership(by, in, models.ChatMemberTypeLeft, models.ChatMemberTypeMember)
}

// askedAboutGroup is the question after Alice has added the bot to a group.
func askedAboutGroup(t *testing.T, w *chattest.World) outbox.Message {
	t.Helper()
	require.NoError(t, w.Handle(t.Context(), "9", joined(chattest.Alice, theirGroup)))
	require.NotEmpty(t, w.Telegram.Sent)
	m := w.Telegram.Sent[len(w.Telegram.Sent)-1]
	require.Equal(t, chattest.AtAlice, m.To)
	return m
}

// allows taps [Allow this group], and then the answer to the second question.
func allows(t *testing.T, w *chattest.World, m outbox.Message, answer i18n.Key) {
	t.Helper()
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonAllowGroup))
	second := w.Telegram.LastEdit(t)
	require.Contains(t, second.Text.Text, "Telegram does not list other bots")
	require.NoError(t, w.TapShown(t, chattest.Alice, second, answer))
}

// The person who adds the bot to a group is asked in the private chat; the second answer allows the
// group.
func TestP9_GroupIsAllowedByATap(t *testing.T) {
	w := chattest.NewWorld(t)
	m := askedAboutGroup(t, w)
	assert.Contains(t, m.Text.Text, "Friends (-200)")
	assert.Contains(t, m.Text.Text, "every member will read")
	assert.False(t, w.InGroup(theirs), "a question allows nothing")
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonAllowGroup))
	assert.False(t, w.InGroup(theirs), "whether there are other bots is not known")
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.LastEdit(t), i18n.ButtonOnlyBot))
	assert.True(t, w.InGroup(theirs))
	assert.Equal(t, []int64{theirs}, w.Allowed.Groups)
	last := w.Telegram.LastEdit(t)
	assert.Contains(t, last.Text.Text, "Friends (-200) is allowed")
	assert.Empty(t, chattest.Data(last), "a settled question has no buttons")
	require.NoError(t, w.TapButton(t, chattest.Alice, chattest.Data(m)[1]))
	assert.NotContains(t, w.Telegram.Done(), "leave -200", "a button of the settled question does nothing")
}

func TestGroupIsLeftByATap(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		left bool
	}{
		{"Telegram takes the call", nil, true},
		{"the bot is not there", &outbox.Refused{Err: errors.New("forbidden: bot is not a member")}, true},
		{"no network", errors.New("no network"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			m := askedAboutGroup(t, w)
			w.Telegram.OnTopic = func() error { return tt.err }
			require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonLeaveGroup))
			assert.False(t, w.InGroup(theirs))
			assert.Equal(t, tt.err == nil, strings.Contains(strings.Join(w.Telegram.Done(), "\n"), "leave -200"))
			if tt.left {
				assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, "no longer in the group Friends")
				return
			}
			w.Telegram.OnTopic = nil
			require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonLeaveGroup))
			assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, "no longer in the group Friends", "the button still works")
		})
	}
}

// TestP9_MembershipIsNotHeard: no question is sent for a stranger, an anonymous administrator, a
// channel, a private chat, an allowed group, or a change other than an arrival.
func TestP9_MembershipIsNotHeard(t *testing.T) {
	member, left := models.ChatMemberTypeMember, models.ChatMemberTypeLeft
	for _, tt := range []struct {
		name   string
		update *models.Update
	}{
		{"a stranger", joined(chattest.Eve, theirGroup)},
		{"an anonymous administrator", joined(1087968824, theirGroup)},
		{"a channel", joined(chattest.Alice, models.Chat{ID: -300, Type: models.ChatTypeChannel})},
		{"a private chat", joined(chattest.Alice, chattest.PrivateChat(chattest.Alice))},
		{"an allowed group", joined(chattest.Alice, chattest.GroupChat(chattest.Ours))},
		{"other rights", chattest.Membership(chattest.Alice, theirGroup, member, member)},
		{"a removal", chattest.Membership(chattest.Alice, theirGroup, member, left)},
		{"an unknown state", chattest.Membership(chattest.Alice, theirGroup, left, "visiting")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			require.NoError(t, w.Handle(t.Context(), "9", tt.update))
			w.Silent(t)
		})
	}
}

func TestP9_GroupQuestionIsForItsPerson(t *testing.T) {
	w := chattest.NewWorld(t)
	m := askedAboutGroup(t, w)
	for n := range chattest.Data(m) {
		require.NoError(t, w.TapButton(t, chattest.Bob, chattest.Data(m)[n]))
		require.NoError(t, w.TapButton(t, chattest.Eve, chattest.Data(m)[n]))
	}
	for _, bad := range madeUp(m) {
		require.NoError(t, w.TapButton(t, chattest.Alice, bad))
	}
	assert.False(t, w.InGroup(theirs))
	assert.NotContains(t, w.Telegram.Done(), "leave -200")
	for _, edit := range w.Telegram.Edited {
		assert.Equal(t, chattest.Data(m), chattest.Data(edit), "the question stays")
	}
}

// TestP8_KillAfterGroupIsAllowed: a kill between the write and the message leaves a question that
// the next start closes, and the group is written once.
func TestP8_KillAfterGroupIsAllowed(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		m := askedAboutGroup(t, w)
		require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonAllowGroup))
		second := w.Telegram.LastEdit(t)
		w.Dies(t, "group-allowed", func() error { return w.TapShown(t, chattest.Alice, second, i18n.ButtonOtherBots) })
		assert.Len(t, w.Telegram.Edited, 1, "the message did not report it")
		w.Restart(t)
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, "Friends (-200) is allowed")
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, "/default@cc_bot", "what it acts on")
		assert.Equal(t, []int64{theirs}, w.Allowed.Groups)
	})
}

// TestP8_AddedGroupIsAskedAboutOnce: the same news comes again after a crash; a new arrival asks
// again.
func TestP8_AddedGroupIsAskedAboutOnce(t *testing.T) {
	w := chattest.NewWorld(t)
	m := askedAboutGroup(t, w)
	require.NoError(t, w.Handle(t.Context(), "9", joined(chattest.Alice, theirGroup)))
	assert.Len(t, w.Telegram.Sent, 1)
	require.NoError(t, w.Handle(t.Context(), "10", joined(chattest.Alice, theirGroup)))
	assert.Len(t, w.Telegram.Sent, 2)
	require.NoError(t, w.TapButton(t, chattest.Alice, chattest.Data(m)[0]))
	assert.False(t, w.InGroup(theirs), "the earlier question is closed")
}

func TestRemovedBotAsksNoLonger(t *testing.T) {
	w := chattest.NewWorld(t)
	askedAboutGroup(t, w)
	require.NoError(t, w.Handle(t.Context(), "10",
		chattest.Membership(chattest.Bob, theirGroup, models.ChatMemberTypeMember, models.ChatMemberTypeLeft)))
	last := w.Telegram.LastEdit(t)
	assert.Contains(t, last.Text.Text, "no longer in the group Friends")
	assert.Empty(t, chattest.Data(last))
}

// A group becomes a supergroup as soon as it has topics or an administrator: the question is about
// the new id.
func TestGroupQuestionFollowsItsGroup(t *testing.T) {
	w := chattest.NewWorld(t)
	askedAboutGroup(t, w)
	require.NoError(t, w.NewGroups.Moved(t.Context(), theirs, -1000200))
	w.Telegram.Deliver(t.Context())
	m := w.Telegram.LastEdit(t)
	assert.Contains(t, m.Text.Text, "-1000200")
	allows(t, w, m, i18n.ButtonOnlyBot)
	assert.Equal(t, []int64{-1000200}, w.Allowed.Groups)
}

// The news of a new id can come while a tap is carried out: the tap closes the question first.
func TestMovedGroupWaitsForTap(t *testing.T) {
	w := chattest.NewWorld(t)
	m := askedAboutGroup(t, w)
	moved := make(chan error, 1)
	w.Telegram.OnTopic = func() error {
		go func() { moved <- w.NewGroups.Moved(context.WithoutCancel(t.Context()), theirs, -1000200) }()
		for range 100_000 {
			runtime.Gosched() // a move that does not wait is carried out here
		}
		return nil
	}
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonLeaveGroup))
	require.NoError(t, <-moved)
	w.Telegram.Deliver(t.Context())
	last := w.Telegram.LastEdit(t)
	assert.Contains(t, last.Text.Text, "no longer in the group Friends")
	assert.Empty(t, chattest.Data(last))
}

func TestGroupFromEnvironmentShowsLine(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Allowed.Line = "ALLOWED_CHATS=-100,-200"
	m := askedAboutGroup(t, w)
	assert.True(t, strings.HasSuffix(m.Text.Text, "\n\nALLOWED_CHATS=-100,-200"), m.Text.Text)
	assert.Len(t, chattest.Data(m), 1, "only the button that leaves")
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonLeaveGroup))
	assert.Contains(t, w.Telegram.Done(), "leave -200")
}

func TestUnsavedGroupIsAskedAgain(t *testing.T) {
	w := chattest.NewWorld(t)
	m := askedAboutGroup(t, w)
	w.Allowed.Err = errors.New("ccbot.env is wrong")
	allows(t, w, m, i18n.ButtonOtherBots)
	assert.Contains(t, w.Telegram.Texts(), w.Word(i18n.GroupNotSaved))
	w.Allowed.Err = nil
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.LastEdit(t), i18n.ButtonOtherBots))
	assert.True(t, w.InGroup(theirs))
}

// The others hear that an allowed person is no longer in a group: the list goes on naming the person.
func TestP9_OthersHearThatAPersonLeftTheGroup(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Session(t, "api", session.Running) // in Alice's private chat
	leaves := func(who int64, group models.Chat) []outbox.Message {
		n := len(w.Telegram.Posted)
		require.NoError(t, w.Handle(t.Context(), "9", &models.Update{Message: &models.Message{ID: 9, From: &models.User{ID: who}, Chat: group,
			LeftChatMember: &models.User{ID: who, FirstName: "Ben"}}}))
		return w.Telegram.Posted[n:]
	}
	told := leaves(chattest.Bob, chattest.GroupChat(chattest.Ours))
	require.Len(t, told, 1)
	assert.Equal(t, chattest.AtAlice, told[0].To)
	assert.Contains(t, told[0].Text.Text, "Ben (8) is no longer in")
	assert.Empty(t, leaves(chattest.Eve, chattest.GroupChat(chattest.Ours)), "nobody is to be taken off the list")
	assert.Empty(t, leaves(chattest.Bob, theirGroup))
}
