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
	w.prompts.put(typing.Prompt{Key: key, Text: text, Class: talk.ClassPlain, State: typing.Held, To: to})
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
		require.NoError(t, w.Move(t.Context(), r.ID, atAlice))
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
