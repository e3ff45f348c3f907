package bot_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// border is a session of Alice's private chat, with 42 turns, in a bot of two people and a group.
type border struct {
	*chattest.World
	r session.Record
}

func newBorder(t *testing.T, state session.State, at session.Conversation) border {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", state)
	w.Records.Change(r.ID, func(r *session.Record) { r.Conversation, r.Progress.Turns = at, 42 })
	require.NoError(t, w.Chats.SetCurrent(at, r.ID))
	return border{w, r}
}

func (b border) place(t *testing.T) session.Conversation { return b.Record(t, b.r.ID).Conversation }

// asked is the question in the group whether its members may read the session.
func (b border) asked() []outbox.Message {
	var all []outbox.Message
	for _, m := range b.Telegram.ShownOnce() {
		if m.To == chattest.InGroup && m.Text.Text == b.Word(i18n.BorderAsk, i18n.Args{"Name": "api", "Count": 42}) {
			all = append(all, m)
		}
	}
	return all
}

// heard reports whether Alice was told that her session goes on elsewhere, without a sound.
func (b border) heard() bool {
	return slices.ContainsFunc(b.Telegram.ShownOnce(), func(m outbox.Message) bool {
		return m.To == chattest.AtAlice && !m.Sounds && strings.HasPrefix(m.Text.Text, b.Word(i18n.GoesOnElsewhere, i18n.Args{"Name": "api"}))
	})
}

// says handles what Bob writes in a chat.
func (b border) says(t *testing.T, text string, at session.Conversation) (key string) {
	t.Helper()
	in := chattest.PrivateChat(at.ChatID)
	if at.ChatID < 0 {
		in = chattest.GroupChat(at.ChatID)
	}
	key, u := b.Accept(t, &models.Message{From: &models.User{ID: chattest.Bob}, Chat: in, Text: text})
	require.NoError(t, b.HandleText(t, key, u))
	return key
}

// link taps a link to the session, as Bob in a place.
func (b border) link(t *testing.T, what string, at session.Conversation) {
	t.Helper()
	require.NoError(t, b.Post(t.Context(), card.Content{To: at, Session: b.r.ID, Text: render.Plain("here"),
		Options: b.In(at).Link(i18n.ButtonOpen, what, b.r.ID, "")}))
	b.Telegram.Deliver(t.Context())
	require.NoError(t, b.TapShown(t, chattest.Bob, b.Telegram.Last(t), i18n.ButtonOpen))
}

// The doors through which a session of a private chat, or of another group, comes into a group. Each
// asks, and moves and types nothing before the answer.
func TestP9_BorderOfGroupAsks(t *testing.T) {
	for _, tt := range []struct {
		door  string
		state session.State
		pass  func(t *testing.T, b border)
	}{
		{"a text", session.Running, func(t *testing.T, b border) {
			require.NoError(t, b.Chats.SetCurrent(chattest.InGroup, b.r.ID))
			b.says(t, "go on", chattest.InGroup)
		}},
		{"/resume NAME, open", session.Running, func(t *testing.T, b border) { b.says(t, "/resume api", chattest.InGroup) }},
		{"/resume NAME, ended", session.Archived, func(t *testing.T, b border) { b.says(t, "/resume api", chattest.InGroup) }},
		{"[Show it here], [Bring it back]", session.Running, func(t *testing.T, b border) { b.link(t, chat.HereLink, chattest.InGroup) }},
		{"[Undo]", session.Archived, func(t *testing.T, b border) { b.link(t, chat.UndoLink, chattest.InGroup) }},
		{"[Continue]", session.Lost, func(t *testing.T, b border) {
			b.Records.Change(b.r.ID, func(r *session.Record) {
				r.Interruption = &session.Interruption{At: chattest.Started, Step: "make test"}
			})
			value := chat.OfLaunch(chat.GoOnLink, chattest.ViewOf(b.Record(t, b.r.ID)))
			require.NoError(t, b.Post(t.Context(), card.Content{To: chattest.InGroup, Session: b.r.ID, Text: render.Plain("here"),
				Options: chat.Rows(1, card.Option{Text: b.Word(i18n.ButtonContinue), Value: value, Session: b.r.ID})}))
			b.Telegram.Deliver(t.Context())
			require.NoError(t, b.TapShown(t, chattest.Bob, b.Telegram.Last(t), i18n.ButtonContinue))
		}},
		{"[Resume]", session.Archived, func(t *testing.T, b border) { b.link(t, chat.ResumeLink, chattest.InGroup) }},
	} {
		for name, from := range map[string]session.Conversation{"private": chattest.AtAlice, "another group": {ChatID: chattest.Ours - 5}} {
			t.Run(tt.door+" from "+name, func(t *testing.T) {
				b := newBorder(t, tt.state, from)
				b.Admit(conversation.Lists{People: b.Bot.Allowed().People, Groups: map[int64]bool{chattest.Ours: true, from.ChatID: true}})
				tt.pass(t, b)
				b.Telegram.Deliver(t.Context())
				require.Len(t, b.asked(), 1)
				assert.Equal(t, from, b.place(t))
				assert.Empty(t, b.Lifecycle.Done(), "nothing is moved, typed or resumed")

				word := i18n.ButtonShowHere
				if tt.door == "a text" {
					word = i18n.ButtonShowAndSend
				}
				require.NoError(t, b.TapShown(t, chattest.Bob, b.asked()[0], word))
				b.Telegram.Deliver(t.Context())
				assert.Equal(t, chattest.InGroup, b.place(t))
				assert.NotEmpty(t, b.Lifecycle.Done())
				if tt.door == "[Continue]" {
					assert.Contains(t, strings.Join(b.Lifecycle.Done(), "; "), "to front", "the work goes on")
				}
				assert.Equal(t, from == chattest.AtAlice, b.heard(), "Alice hears of it")
			})
		}
	}
}

// A session that has said nothing, that comes into a private chat, or back from another topic, is not
// asked about; nor is one person alone.
func TestBorderIsNotAskedAbout(t *testing.T) {
	for name, tt := range map[string]struct {
		from, to session.Conversation
		turns    int
		alone    bool
	}{
		"nothing was said":    {chattest.AtAlice, chattest.InGroup, 0, false},
		"into a private chat": {chattest.InGroup, atBob, 42, false},
		"within the group":    {session.Conversation{ChatID: chattest.Ours, ThreadID: 5}, chattest.InGroup, 42, false},
		"at the desk only":    {session.Conversation{}, chattest.InGroup, 42, false},
		"one person alone":    {chattest.AtAlice, chattest.InGroup, 42, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBorder(t, session.Running, tt.from)
			b.Records.Change(b.r.ID, func(r *session.Record) { r.Progress.Turns = tt.turns })
			if tt.alone {
				b.Admit(conversation.Lists{People: map[int64]bool{chattest.Bob: true}, Groups: map[int64]bool{chattest.Ours: true}})
			}
			require.NoError(t, b.Chats.SetCurrent(tt.to, b.r.ID))
			b.says(t, "go on", tt.to)
			b.says(t, "/resume api", tt.to)
			b.Telegram.Deliver(t.Context())
			assert.Empty(t, b.asked())
			assert.Equal(t, tt.to.ChatID, b.place(t).ChatID)
		})
	}
}

// A text of a group whose session has gone to a private chat meanwhile is taken out of the queue, and
// waits for an answer.
func TestP9_TextOfGroupWaitsAtBorder(t *testing.T) {
	b := newBorder(t, session.Running, chattest.InGroup)
	key := b.says(t, "of the group", chattest.InGroup)
	require.Equal(t, inbox.Held, b.EntryState(key))
	b.Records.Change(b.r.ID, func(r *session.Record) { r.GoOn(chattest.AtAlice, talk.Cursor{}) })
	require.NoError(t, b.SessionNews(t.Context(), b.Record(t, b.r.ID), news.TakenBack{AtBorder: true, Prompt: talk.Prompt{Key: key}}))
	b.Telegram.Deliver(t.Context())
	require.Len(t, b.asked(), 1)
	assert.Equal(t, inbox.Asked, b.EntryState(key))
	require.NoError(t, b.TapShown(t, chattest.Bob, b.asked()[0], i18n.ButtonShowAndSend))
	assert.Equal(t, inbox.Held, b.EntryState(key))
	assert.Equal(t, chattest.InGroup, b.place(t))
}

// [Show it here] counts from the next turn: the running one stays with the person who asked for it, who
// can bring the session back.
func TestP5_ShownHereFromNextTurn(t *testing.T) {
	b := newBorder(t, session.Running, chattest.AtAlice)
	b.Records.Change(b.r.ID, func(r *session.Record) { r.Phase = string(talk.PhaseWorking) })
	opens(t, b.World, chattest.Bob, atBob, b.r.ID)
	b.Telegram.Deliver(t.Context())
	looked := b.Telegram.Posted[slices.IndexFunc(b.Telegram.Posted, func(m outbox.Message) bool {
		return m.To == atBob && slices.Contains(chattest.Words(m), b.Word(i18n.ButtonShowHere))
	})]
	require.Equal(t, uuid.Nil, b.CurrentID(atBob, 0), "a look takes nothing")

	require.NoError(t, b.TapShown(t, chattest.Bob, looked, i18n.ButtonShowHere))
	b.Telegram.Deliver(t.Context())
	now := b.Record(t, b.r.ID)
	assert.Equal(t, chattest.AtAlice, now.Conversation, "the turn is Alice's")
	assert.Equal(t, atBob, now.Next)
	assert.Equal(t, b.r.ID, b.CurrentID(atBob, 0), "Bob's texts go there at once")
	require.True(t, b.heard())
	line := b.Telegram.Posted[slices.IndexFunc(b.Telegram.Posted, func(m outbox.Message) bool {
		return slices.Contains(chattest.Words(m), b.Word(i18n.ButtonBringBack))
	})]
	require.NoError(t, b.TapShown(t, chattest.Alice, line, i18n.ButtonBringBack))
	waittest.Until(t, func() bool { return b.Record(t, b.r.ID).Next == session.Conversation{} })
	assert.Equal(t, chattest.AtAlice, b.place(t))
}

// An end and a look move nothing.
func TestP5_EndMovesNothing(t *testing.T) {
	b := newBorder(t, session.Running, chattest.InGroup)
	b.says(t, "/kill api", atBob)
	require.NoError(t, b.TapShown(t, chattest.Bob, b.Telegram.Last(t), i18n.ButtonKill))
	assert.Equal(t, chattest.InGroup, b.place(t), "the receipt comes there")
}

// An end is not asked about at the border of a group, also if the place of the session is not allowed
// any more. The receipt then comes in private.
func TestP9_EndIsNotStoppedAtBorder(t *testing.T) {
	gone := session.Conversation{ChatID: chattest.Ours - 5}
	b := newBorder(t, session.Running, gone)
	require.NoError(t, b.Chats.SetCurrent(atBob, b.r.ID)) // a private chat that is known
	b.says(t, "/kill api", chattest.InGroup)
	require.NoError(t, b.TapShown(t, chattest.Bob, b.Telegram.Last(t), i18n.ButtonKill))
	b.Telegram.Deliver(t.Context())
	assert.Empty(t, b.asked())
	assert.NotEmpty(t, b.Lifecycle.Done())
	assert.Equal(t, gone, b.place(t))
	require.NoError(t, b.SessionNews(t.Context(), b.Record(t, b.r.ID), news.Stopped{}))
	b.Telegram.Deliver(t.Context())
	last := b.Telegram.Last(t)
	assert.Equal(t, atBob, last.To)
	assert.Contains(t, last.Text.Text, "api")
}

// A text that was sent to a session by a tap does not make the session the current one of the group
// before a person has agreed.
func TestP9_ChosenSessionIsNotCurrentAtBorder(t *testing.T) {
	b := newBorder(t, session.Running, chattest.AtAlice)
	b.Session(t, "web", session.Running)
	key := b.says(t, "for whom", chattest.InGroup)
	b.Telegram.Deliver(t.Context())
	shown := b.Telegram.ShownOnce()
	require.NoError(t, b.TapShown(t, chattest.Bob, shown[len(shown)-1], i18n.Key(b.Named(i18n.ButtonSendTo, "api"))))
	b.Telegram.Deliver(t.Context())
	require.Len(t, b.asked(), 1)
	assert.Equal(t, uuid.Nil, b.CurrentID(chattest.InGroup, 0))
	assert.Equal(t, inbox.Asked, b.EntryState(key))
	assert.Empty(t, b.Lifecycle.Done())
	require.NoError(t, b.TapShown(t, chattest.Bob, b.asked()[0], i18n.ButtonShowAndSend))
	assert.Equal(t, inbox.Held, b.EntryState(key))
	assert.Equal(t, chattest.InGroup, b.place(t))
}

// An agreement names who has given it, to the group and to the people whose chat the session leaves.
func TestP9_AgreementNamesPerson(t *testing.T) {
	b := newBorder(t, session.Running, chattest.AtAlice)
	require.NoError(t, b.Bot.Book.NoteName(chattest.Ours, &models.User{ID: chattest.Bob, FirstName: "Ben"}))
	b.says(t, "/resume api", chattest.InGroup)
	b.Telegram.Deliver(t.Context())
	require.NoError(t, b.TapShown(t, chattest.Bob, b.asked()[0], i18n.ButtonShowHere))
	b.Telegram.Deliver(t.Context())
	by := b.Word(i18n.ByPerson, i18n.Args{"Person": "Ben"})
	assert.True(t, slices.ContainsFunc(b.Telegram.ShownOnce(), func(m outbox.Message) bool { return m.To == chattest.AtAlice && strings.Contains(m.Text.Text, by) }))
	assert.Contains(t, b.Telegram.LastEdit(t).Text.Text, by)
}

// A yes is about what was asked: after many more turns the question comes again.
func TestP9_OldQuestionAtBorderIsAskedAgain(t *testing.T) {
	for door, word := range map[string]i18n.Key{"/resume api": i18n.ButtonShowHere, "go on": i18n.ButtonShowAndSend} {
		t.Run(door, func(t *testing.T) {
			b := newBorder(t, session.Running, chattest.AtAlice)
			require.NoError(t, b.Chats.SetCurrent(chattest.InGroup, b.r.ID))
			b.says(t, door, chattest.InGroup)
			b.Telegram.Deliver(t.Context())
			old := b.asked()[0]
			b.Records.Change(b.r.ID, func(r *session.Record) { r.Progress.Turns = 100 })
			require.NoError(t, b.TapShown(t, chattest.Bob, old, word))
			b.Telegram.Deliver(t.Context())
			assert.Equal(t, chattest.AtAlice, b.place(t))
			said := b.Word(i18n.BorderAsk, i18n.Args{"Name": "api", "Count": 100})
			again := func(m outbox.Message) bool { return m.Text.Text == said }
			all := append(b.Telegram.ShownOnce(), b.Telegram.Edited...)
			at := slices.IndexFunc(all, again)
			require.GreaterOrEqual(t, at, 0)
			require.NoError(t, b.TapShown(t, chattest.Bob, all[at], word))
			assert.Equal(t, chattest.InGroup, b.place(t))
		})
	}
}

// One question stands for all waiting texts of a group to a session, in their order.
func TestP4_OneQuestionAtBorderForAllTexts(t *testing.T) {
	b := newBorder(t, session.Running, chattest.AtAlice)
	require.NoError(t, b.Chats.SetCurrent(chattest.InGroup, b.r.ID))
	keys := []string{b.says(t, "one", chattest.InGroup), b.says(t, "two", chattest.InGroup), b.says(t, "three", chattest.InGroup)}
	b.Telegram.Deliver(t.Context())
	asks := 0
	for _, m := range b.Telegram.ShownOnce() {
		if m.To == chattest.InGroup && strings.HasPrefix(m.Text.Text, b.Word(i18n.BorderAsk, i18n.Args{"Name": "api", "Count": 42})) {
			asks++
		}
	}
	require.Equal(t, 1, asks)
	last := b.Telegram.LastEdit(t) // it shows all three
	require.NoError(t, b.TapShown(t, chattest.Bob, last, i18n.ButtonShowAndSend))
	assert.Equal(t, keys, queuedFor(b.World, b.Record(t, b.r.ID)))
}

// A text for an ended session of another chat waits for one answer: with a yes the session comes back and
// gets it, and is not the current one if another is.
func TestP9_TextThatResumesWaitsAtBorder(t *testing.T) {
	for name, word := range map[string]i18n.Key{"yes": i18n.ButtonShowAndSend, "no": i18n.ButtonDrop} {
		t.Run(name, func(t *testing.T) {
			b := newBorder(t, session.Archived, chattest.AtAlice)
			require.NoError(t, b.Chats.SetCurrent(chattest.InGroup, b.r.ID))
			key := b.says(t, "go on", chattest.InGroup)
			other := b.Session(t, "web", session.Running)
			require.NoError(t, b.Chats.SetCurrent(chattest.InGroup, other.ID))
			b.Telegram.Deliver(t.Context())
			shown := b.Telegram.ShownOnce()
			require.NoError(t, b.TapShown(t, chattest.Bob, shown[len(shown)-1], i18n.ButtonResumeAndSend))
			b.Telegram.Deliver(t.Context())
			require.Len(t, b.asked(), 1)
			assert.Empty(t, b.Lifecycle.Done())
			assert.Equal(t, inbox.Asked, b.EntryState(key))
			require.NoError(t, b.TapShown(t, chattest.Bob, b.asked()[0], word))
			assert.Equal(t, name == "yes", b.place(t) == chattest.InGroup)
			assert.Equal(t, other.ID, b.CurrentID(chattest.InGroup, 0))
			if name == "yes" {
				assert.Equal(t, inbox.Held, b.EntryState(key))
				assert.True(t, b.Record(t, b.r.ID).State.Live())
			} else {
				assert.Empty(t, b.Lifecycle.Done())
			}
		})
	}
}

// After a yes to [Undo] the session that was current stays it.
func TestUndoAtBorderKeepsCurrentSession(t *testing.T) {
	b := newBorder(t, session.Archived, chattest.AtAlice)
	other := b.Session(t, "web", session.Running)
	require.NoError(t, b.Chats.SetCurrent(chattest.InGroup, other.ID))
	b.link(t, chat.UndoLink, chattest.InGroup)
	b.Telegram.Deliver(t.Context())
	require.NoError(t, b.TapShown(t, chattest.Bob, b.asked()[0], i18n.ButtonShowHere))
	assert.Equal(t, chattest.InGroup, b.place(t))
	assert.Equal(t, other.ID, b.CurrentID(chattest.InGroup, 0))
}
