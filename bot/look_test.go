package bot_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// watched is a session that Alice reads in a place, with an answer in its transcript.
func watched(t *testing.T, w *chattest.World, at session.Conversation) session.Record {
	t.Helper()
	r := w.Session(t, "api", session.Running, chattest.TranscriptOf(t, "t.jsonl", chattest.PromptLine("first"), chattest.Says("the salary is 900"), chattest.TurnEnd))
	w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = at })
	require.NoError(t, w.Chats.SetCurrent(at, r.ID))
	w.Running(t)
	waittest.Until(t, func() bool { return wasShown(w, 0, at, "the salary is 900") })
	return w.Record(t, r.ID)
}

// wasShown reports whether a place has a message with these words, sent after another one; 0: any.
func wasShown(w *chattest.World, after int, at session.Conversation, words string) bool {
	w.Telegram.Mu.Lock()
	defer w.Telegram.Mu.Unlock()
	return slices.ContainsFunc(w.Telegram.Sent[after:], func(m outbox.Message) bool {
		return m.To == at && strings.Contains(m.Text.Text+m.Rich, words)
	})
}

// opens taps the button that opens a session, in a place, and returns what the tap answers.
func opens(t *testing.T, w *chattest.World, from int64, at session.Conversation, id uuid.UUID) string {
	t.Helper()
	shown := func() (all []outbox.Message) {
		w.Telegram.Mu.Lock()
		defer w.Telegram.Mu.Unlock()
		return slices.DeleteFunc(slices.Clone(w.Telegram.Posted), func(m outbox.Message) bool { return m.Text.Text != "here" })
	}
	before := len(shown())
	require.NoError(t, w.Post(t.Context(), card.Content{To: at, Session: id, Text: render.Plain("here"),
		Options: w.In(at).Link(i18n.ButtonOpen, chat.OpenLink, id, "")}))
	waittest.Until(t, func() bool { // the bot runs, and may be sending something else there
		w.Telegram.Deliver(t.Context())
		return len(shown()) > before
	})
	require.NoError(t, w.TapShown(t, from, shown()[before], i18n.ButtonOpen))
	return strings.Join(w.Telegram.Done(), "\n")
}

// A colleague who looks at a session sees its last answer. The session, its next answers and what
// the colleague writes to stay where they are.
func TestP5_LookingIsNotTaking(t *testing.T) {
	for _, at := range []session.Conversation{chattest.AtAlice, chattest.InGroup, {ChatID: chattest.Ours, ThreadID: 5}} {
		w := chattest.NewWorld(t)
		own := w.Session(t, "own", session.Running)
		w.Records.Change(own.ID, func(r *session.Record) { r.Conversation = atBob })
		require.NoError(t, w.Chats.SetCurrent(atBob, own.ID))
		r := watched(t, w, at)

		for range 2 {
			looked := w.Telegram.LastID()
			opens(t, w, chattest.Bob, atBob, r.ID)
			waittest.Until(t, func() bool { return wasShown(w, looked, atBob, "the salary is 900") })
		}
		assert.Contains(t, w.Telegram.Texts(), w.Word(i18n.ShownElsewhere, i18n.Args{"Name": "api"})+"\n"+w.Word(i18n.LookBeside, i18n.Args{"Name": "api", "Current": "own"}))
		assert.Equal(t, at, w.Record(t, r.ID).Conversation, "it stays where Alice reads it")
		assert.Equal(t, own.ID, w.CurrentID(atBob, 0), "the next plain text goes where it went before")

		chattest.Grow(t, w.Cursors(r)[0], chattest.PromptLine("second"), chattest.Says("the second answer"), chattest.TurnEnd)
		waittest.Until(t, func() bool { return wasShown(w, 0, at, "the second answer") })
		assert.False(t, wasShown(w, 0, atBob, "the second answer"))
	}
}

// The words of a session of another chat do not come before the members of a group.
func TestP9_LookFromGroupShowsNoWords(t *testing.T) {
	w := chattest.NewWorld(t)
	r := watched(t, w, chattest.AtAlice)
	said := opens(t, w, chattest.Bob, chattest.InGroup, r.ID)
	assert.Contains(t, said, w.Word(i18n.ShownElsewhere, i18n.Args{"Name": "api"}))
	assert.False(t, wasShown(w, 0, chattest.InGroup, "the salary is 900"))
	assert.Equal(t, chattest.AtAlice, w.Record(t, r.ID).Conversation)
	assert.Equal(t, uuid.Nil, w.CurrentID(chattest.InGroup, 0))
}

// One person alone has no colleague who reads it: the tap takes the session along, as ever.
func TestOnePersonTakesSessionWithOneTap(t *testing.T) {
	w := chattest.NewWorld(t)
	r := watched(t, w, chattest.InGroup)
	w.Admit(conversation.Lists{People: map[int64]bool{chattest.Alice: true}, Groups: map[int64]bool{chattest.Ours: true}})
	opens(t, w, chattest.Alice, chattest.AtAlice, r.ID)
	assert.Equal(t, chattest.AtAlice, w.Record(t, r.ID).Conversation)
	assert.Equal(t, r.ID, w.CurrentID(chattest.AtAlice, 0))
}

// Bob's text moves the session only when it is typed, and what Alice's turn says after that is hers.
func TestP5_LateAnswerStaysWithItsTurn(t *testing.T) {
	w := chattest.NewWorld(t)
	r := watched(t, w, chattest.AtAlice)
	require.NoError(t, w.Chats.SetCurrent(atBob, r.ID))
	end := w.Cursors(r)[0]
	info, err := os.Stat(end.Path)
	require.NoError(t, err)
	end.Offset, end.Block, end.Part = info.Size(), 0, 0
	w.Records.Change(r.ID, func(r *session.Record) { r.GoOn(atBob, end) })
	require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), news.Typed{Prompt: talk.Prompt{Key: "1"}}))

	chattest.Grow(t, end, chattest.Says("late, for Alice"), chattest.TurnEnd)
	waittest.Until(t, func() bool { return wasShown(w, 0, chattest.AtAlice, "late, for Alice") })
	chattest.Grow(t, end, chattest.PromptLine("second"), chattest.Says("for Bob"), chattest.TurnEnd)
	waittest.Until(t, func() bool { return wasShown(w, 0, atBob, "for Bob") })
	assert.False(t, wasShown(w, 0, atBob, "late, for Alice"))
	assert.False(t, wasShown(w, 0, chattest.AtAlice, "for Bob"))

	w.Records.Change(r.ID, func(r *session.Record) { r.GoOn(chattest.InGroup, talk.Cursor{Path: end.Path, Offset: 1 << 30}) })
	w.Admit(conversation.Lists{People: map[int64]bool{chattest.Alice: true}, Groups: map[int64]bool{chattest.Ours: true}})
	require.NoError(t, w.Chats.SetCurrent(chattest.InGroup, r.ID))
	require.NoError(t, w.OnShown(chattest.ViewOf(w.Record(t, r.ID))))
	chattest.Grow(t, end, chattest.Says("of a place that is gone"), chattest.TurnEnd)
	waittest.Until(t, func() bool { return wasShown(w, 0, chattest.InGroup, "of a place that is gone") })
}
