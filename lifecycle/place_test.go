package lifecycle

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/internal/hookwire"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// The places of Alice, who started the session, and of Bob, who writes to it.
var (
	atAlice = session.Conversation{ChatID: 1001}
	atBob   = session.Conversation{ChatID: 1003}
)

// offers offers a prompt that was written in a place.
func (w *world) offers(r session.Record, key, text string, to session.Conversation) {
	w.t.Helper()
	w.offersFrom(true, r, key, text, to)
}

// offersFrom is offers of a chat that asks at the border of a group, or not.
func (w *world) offersFrom(asks bool, r session.Record, key, text string, to session.Conversation) {
	w.t.Helper()
	w.prompts.put(typing.Prompt{Key: key, Text: text, Class: talk.ClassPlain, State: typing.Held, To: to, Asks: asks})
	require.NoError(w.t, w.prompts.HoldPrompt(key, r.ID))
	require.NoError(w.t, w.SettlePrompts(w.ctx, r.ID, []string{key}))
}

// placeOnDisk is where the file of a session has it.
func (w *world) placeOnDisk(r session.Record) session.Conversation {
	data, err := os.ReadFile(filepath.Join(w.base, "state", "sessions", r.ID.String()+".json"))
	require.NoError(w.t, err)
	var disk session.Record
	require.NoError(w.t, json.Unmarshal(data, &disk))
	return disk.Conversation
}

// A prompt that waits for a running turn leaves the session where it is: the answer is for the
// person who asked. It moves before Enter is pressed, and what the transcript has by then keeps its place.
func TestP5_PromptMovesSessionWhenItIsTyped(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		require.NoError(t, w.Move(t.Context(), r.ID, atAlice, port.AtOnce))
		a.set(func(a *agent) { a.onEnter = works })
		w.offers(r, "first", viewtest.Said, session.Conversation{})
		w.pass(time.Second)
		w.write(r, userLine(viewtest.Said))
		w.hook(r, hookwire.UserPromptSubmit, prompted(viewtest.Said))
		w.offers(r, "second", "mine", atBob)
		w.pass(time.Minute)
		require.Len(t, a.heard(), 1)
		assert.Equal(t, atAlice, w.get(r.ID).Conversation, "the turn of the first prompt runs")

		var seen session.Conversation
		a.set(func(a *agent) {
			a.status = presence.Idle
			a.onEnter = func(a *agent) {
				seen = w.placeOnDisk(r)
				works(a)
			}
		})
		w.pass(time.Minute)
		require.Len(t, a.heard(), 2)
		assert.Equal(t, atBob, seen, "it is on disk before Enter is pressed")
		now := w.get(r.ID)
		assert.Equal(t, atBob, now.Conversation)
		require.Len(t, now.Earlier, 1)
		assert.Equal(t, atAlice, now.Earlier[0].In)
	})
}

// A person who shows a session elsewhere gets it from its next turn on: what the running one says, asks
// and ends with stays with the person who asked for it.
func TestP5_SessionMovesAfterItsTurn(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		require.NoError(t, w.Move(t.Context(), r.ID, atAlice, port.AtOnce))
		a.set(func(a *agent) { a.onEnter = works })
		w.offers(r, "first", viewtest.Said, session.Conversation{})
		w.pass(time.Second)
		w.write(r, userLine(viewtest.Said))
		w.hook(r, hookwire.UserPromptSubmit, prompted(viewtest.Said))

		require.NoError(t, w.Move(t.Context(), r.ID, atBob, port.NextTurn))
		w.pass(time.Minute)
		assert.Equal(t, atAlice, w.placeOnDisk(r), "the turn is Alice's")
		require.NoError(t, w.Move(t.Context(), r.ID, atAlice, port.NextTurn))
		assert.Zero(t, w.get(r.ID).Next, "she has taken it back")
		require.NoError(t, w.Move(t.Context(), r.ID, atBob, port.NextTurn))

		w.restart()
		w.comeBack()
		assert.Equal(t, atBob, w.get(r.ID).Next)
		w.ends(r, a)
		w.pass(time.Minute)
		now := w.get(r.ID)
		assert.Equal(t, atBob, now.Conversation)
		assert.Zero(t, now.Next)
		require.Len(t, now.Earlier, 1)
		assert.Equal(t, atAlice, now.Earlier[0].In, "late lines of the turn are Alice's")
	})
}

// A text of a group begins no turn of a session that has said something in a private chat meanwhile,
// until a person has agreed: its members could read all of it then.
func TestP9_TextOfGroupIsNotTypedAtBorder(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		group := session.Conversation{ChatID: -100}
		require.NoError(t, w.Move(t.Context(), r.ID, atAlice, port.AtOnce))
		w.offers(r, "nothing was said", viewtest.Said, group)
		w.pass(time.Minute)
		require.Len(t, a.heard(), 1)
		require.Equal(t, group, w.get(r.ID).Conversation)
		w.write(r, userLine(viewtest.Said))
		w.ends(r, a)
		w.offers(r, "private", "mine", atAlice)
		w.pass(time.Minute)
		require.Len(t, a.heard(), 2)
		w.write(r, userLine("mine"))
		w.ends(r, a)

		w.offers(r, "of the group", "ours", group)
		w.pass(time.Minute)
		assert.Len(t, a.heard(), 2, "it is not typed")
		assert.Equal(t, atAlice, w.placeOnDisk(r))
		assert.Empty(t, w.get(r.ID).Prompts, "it holds up no other text")
		assert.Equal(t, 1, w.news.count(func(h heard) bool {
			n, is := h.news.(news.TakenBack)
			return is && n.AtBorder && n.Key == "of the group"
		}))

		require.NoError(t, w.Move(t.Context(), r.ID, group, port.NextTurn)) // a person has agreed
		w.offers(r, "agreed", "ours, agreed", group)
		w.pass(time.Minute)
		assert.Len(t, a.heard(), 3)
	})
}

// A chat of an earlier version cannot ask: its texts are typed, as are those of one person alone.
func TestTextIsTypedAtBorderOfChatThatDoesNotAsk(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.saidInPrivate()
		w.ends(r, a)
		w.offersFrom(false, r, "of the group", "ours", session.Conversation{ChatID: -100})
		w.pass(time.Minute)
		assert.Len(t, a.heard(), 2)
	})
}

// saidInPrivate is a session in a turn of Alice's private chat.
func (w *world) saidInPrivate() (session.Record, *agent) {
	w.t.Helper()
	r, a := w.started()
	require.NoError(w.t, w.Move(w.ctx, r.ID, atAlice, port.AtOnce))
	a.set(func(a *agent) { a.onEnter = works })
	w.offers(r, "private", viewtest.Said, atAlice)
	w.pass(time.Minute)
	w.write(r, userLine(viewtest.Said))
	w.hook(r, hookwire.UserPromptSubmit, prompted(viewtest.Said))
	return r, a
}

// [Interrupt and send] of a text that a person is asked about first interrupts nothing.
func TestP9_NothingIsInterruptedAtBorder(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.saidInPrivate()
		group := session.Conversation{ChatID: -100}
		w.offers(r, "of the group", "ours", group)
		require.NoError(t, sendNow(w, r, "of the group"))
		assert.Zero(t, a.escapes)
		assert.Equal(t, []string{"of the group"}, asked(w))

		require.NoError(t, w.Move(t.Context(), r.ID, group, port.NextTurn)) // a person has agreed
		w.offers(r, "agreed", "ours, agreed", group)
		require.NoError(t, sendNow(w, r, "agreed"))
		assert.Equal(t, 1, a.escapes)
	})
}

// A turn runs also while its agent repeats a request that failed.
func TestP5_RepeatedRequestIsOfTurn(t *testing.T) {
	assert.True(t, mayWork(talk.Activity{Phase: talk.PhaseAPIError, Until: time.Unix(1, 0)}))
	assert.False(t, mayWork(talk.Activity{Phase: talk.PhaseAPIError}), "the turn has failed")
	assert.True(t, mayWork(talk.Activity{Phase: talk.PhaseUnknown}))
	assert.False(t, mayWork(talk.Activity{Phase: talk.PhaseIdle}))
}

// A prompt that comes back into the queue, because a turn began before Enter, leaves the session where it was.
func TestP5_PromptThatIsHeldAgainMovesNothing(t *testing.T) {
	r := session.Record{Conversation: atAlice, Cursors: []talk.Cursor{{Path: "/p/a.jsonl"}}}
	mark := talk.Mark{Path: "/p/a.jsonl", Offset: 9}
	assert.False(t, r.Stay(atBob, mark.Cursor()), "it has not moved")
	r.GoOn(atBob, mark.Cursor())
	assert.Equal(t, atBob, r.Conversation)
	assert.False(t, r.Stay(atBob, talk.Cursor{Path: "/p/a.jsonl", Offset: 8}), "another prompt's move")
	assert.True(t, r.Stay(atBob, mark.Cursor()))
	assert.Equal(t, atAlice, r.Conversation)
	assert.Empty(t, r.Earlier)
}
