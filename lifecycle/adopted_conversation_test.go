package lifecycle

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port/talk"
)

// Earlier text in the terminal is history, unless the chat lacks text from before the session's
// end.
func TestP5_AdoptedConversationContinuesAtCursor(t *testing.T) {
	for name, shown := range map[string]bool{"all of it was shown": true, "an answer was not shown yet": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, _ := w.started()
				w.write(r, assistantLine)
				path := w.transcript(r.ClaudeSessionID)
				shownUpTo, err := transcript.End(path)
				require.NoError(t, err)
				w.write(r, costLine) // text that the chat does not show
				if shown {
					require.NoError(t, w.Advance(w.ctx, r.ID, shownUpTo))
				}
				w.archive(r)
				w.pass(time.Minute)
				h := w.tmux.byHand(resume(r.ClaudeSessionID)...)
				w.write(r, userLine("at the desk"))
				w.write(r, assistantLine)
				r, err = w.adoptIt(r, h.id)
				require.NoError(t, err)
				want := talk.Cursor{Path: path}
				if shown {
					want, err = transcript.End(path)
					require.NoError(t, err)
				}
				assert.Equal(t, []talk.Cursor{want}, r.Cursors, "each file once: two cursors of one file would never be passed")
			})
		})
	}
}

// Its hooks do not report: the presence file has its conversation.
func TestP1_AdoptedAgentIsFollowedThroughClear(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.adopted()
		cleared := session.Record{ClaudeSessionID: uuid.New()}
		h.set(func(a *agent) {
			a.session = cleared.ClaudeSessionID
			a.onEnter = func(a *agent) { w.write(cleared, userLine(a.said[len(a.said)-1])) }
		})
		w.WakeAgent(h.id.PID)
		w.pass(time.Second)
		got := w.get(r.ID)
		assert.Equal(t, cleared.ClaudeSessionID, got.ClaudeSessionID)
		assert.Equal(t, []uuid.UUID{r.ClaudeSessionID}, got.EarlierClaudeIDs)
		c, _ := got.Cursor()
		assert.Equal(t, talk.Cursor{Path: w.transcript(cleared.ClaudeSessionID)}, c)

		w.held(got, "k", viewtest.Said)
		w.pass(time.Minute)
		assert.Equal(t, []string{viewtest.Said}, h.heard())
		assert.Equal(t, typing.PromptState("finished"), w.prompts.state("k"))

		h.set(func(a *agent) { a.session = r.ClaudeSessionID }) // and back, through /resume
		w.WakeAgent(h.id.PID)
		w.pass(time.Second)
		got = w.get(r.ID)
		assert.Equal(t, r.ClaudeSessionID, got.ClaudeSessionID)
		assert.Equal(t, []uuid.UUID{cleared.ClaudeSessionID}, got.EarlierClaudeIDs)
		c, _ = got.Cursor()
		end, err := transcript.End(w.transcript(r.ClaudeSessionID))
		require.NoError(t, err)
		assert.Equal(t, end, c)
	})
}

// Of an agent that we have launched the hooks tell: a torn or late presence file
// changes nothing.
func TestP1_PresenceFollowsOnlyAdoptedAgent(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.session = uuid.New() })
		w.WakeAgent(a.id.PID)
		w.pass(time.Minute)
		assert.Equal(t, r.ClaudeSessionID, w.get(r.ID).ClaudeSessionID)
	})
}
