package lifecycle

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	coding "ccbot/agent"
	"ccbot/agent/claude"
	"ccbot/agent/jsonl"
	"ccbot/internal/session"
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
				path := w.transcript(r.AgentSessionID)
				shownUpTo, err := jsonl.End(path)
				require.NoError(t, err)
				w.write(r, costLine) // text that the chat does not show
				if shown {
					require.NoError(t, w.Advance(w.ctx, r.ID, shownUpTo))
				}
				w.archive(r)
				w.pass(time.Minute)
				h := w.tmux.byHand(resume(r.AgentSessionID)...)
				w.write(r, userLine("at the desk"))
				w.write(r, assistantLine)
				r, err = w.adoptIt(r, h.id)
				require.NoError(t, err)
				want := talk.Cursor{Path: path}
				if shown {
					want, err = jsonl.End(path)
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
		cleared := session.Record{AgentSessionID: uuid.New()}
		h.set(func(a *agent) {
			a.session = cleared.AgentSessionID
			a.onEnter = func(a *agent) { w.write(cleared, userLine(a.said[len(a.said)-1])) }
		})
		w.WakeAgent(h.id.PID)
		w.pass(time.Second)
		got := w.get(r.ID)
		assert.Equal(t, cleared.AgentSessionID, got.AgentSessionID)
		assert.Equal(t, []uuid.UUID{r.AgentSessionID}, got.EarlierSessionIDs)
		c, _ := got.Cursor()
		assert.Equal(t, talk.Cursor{Path: w.transcript(cleared.AgentSessionID)}, c)

		w.held(got, "k", viewtest.Said)
		w.pass(time.Minute)
		assert.Equal(t, []string{viewtest.Said}, h.heard())
		assert.Equal(t, typing.PromptState("finished"), w.prompts.state("k"))

		h.set(func(a *agent) { a.session = r.AgentSessionID }) // and back, through /resume
		w.WakeAgent(h.id.PID)
		w.pass(time.Second)
		got = w.get(r.ID)
		assert.Equal(t, r.AgentSessionID, got.AgentSessionID)
		assert.Equal(t, []uuid.UUID{cleared.AgentSessionID}, got.EarlierSessionIDs)
		c, _ = got.Cursor()
		end, err := jsonl.End(w.transcript(r.AgentSessionID))
		require.NoError(t, err)
		assert.Equal(t, end, c)
	})
}

// If a SessionStart has come, the hooks tell the conversation: a torn or late presence file changes
// nothing.
func TestP1_PresenceChangesNoReportedConversation(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.session = uuid.New() })
		w.WakeAgent(a.id.PID)
		w.pass(time.Minute)
		assert.Equal(t, r.AgentSessionID, w.get(r.ID).AgentSessionID)
	})
}

// No SessionStart has come from the agent in ccbot's own window: the presence file has its
// conversation there too. Text from before the agent is history, an answer that came before the
// look at the file is not.
func TestP5_HooklessAgentIsFollowedThroughClear(t *testing.T) {
	for name, tt := range map[string]struct{ reports, history bool }{
		"/clear": {}, "/resume": {history: true}, "a hook reports": {reports: true},
	} {
		t.Run(name, func(t *testing.T) {
			reports := tt.reports
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.starting()
				if reports {
					w.report(r)
				}
				w.pass(time.Minute)
				r = w.get(r.ID)
				require.Equal(t, session.Running, r.State)
				cleared := session.Record{AgentSessionID: uuid.New()}
				a.set(func(a *agent) { a.session = cleared.AgentSessionID })
				if tt.history {
					w.write(cleared, datedLine(r.Binding.BoundAt.Add(-time.Hour), "long ago"))
				}
				w.write(cleared, userLine("cleared"))
				w.write(cleared, assistantLine)
				w.WakeAgent(a.id.PID)
				w.pass(time.Second)
				got := w.get(r.ID)
				if reports {
					assert.Equal(t, r.AgentSessionID, got.AgentSessionID)
					return
				}
				assert.Equal(t, cleared.AgentSessionID, got.AgentSessionID)
				assert.Equal(t, []uuid.UUID{r.AgentSessionID}, got.EarlierSessionIDs)
				assert.NotEqual(t, ruleFollowed, got.History[len(got.History)-1].Rule, "ccbot knew no conversation that it left")
				want := talk.Cursor{Path: w.transcript(cleared.AgentSessionID)}
				if tt.history {
					end, err := jsonl.End(want.Path)
					require.NoError(t, err)
					want = end
				}
				c, _ := got.Cursor()
				assert.Equal(t, want, c)
			})
		})
	}
}

// datedFiles are transcripts whose names have the time of the first prompt: no file names the next one.
type datedFiles struct{ claude.Transcripts }

func (datedFiles) Sibling(path string, id uuid.UUID) string {
	if filepath.Base(path) != id.String()+".jsonl" {
		return ""
	}
	return path
}

// An agent that chooses its ids makes the file of a conversation at its first prompt, and no file before it
// tells its name. What it answers there reaches the chat, also if the prompt was typed at the desk.
func TestP5_ConversationIsFollowedWhenItsFileAppears(t *testing.T) {
	for name, crash := range map[string]bool{"at once": false, "after a crash": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				dated := func() {
					w.change(func(by *coding.Agent) {
						by.Transcripts = datedFiles{claude.NewTranscripts(filepath.Join(w.base, "projects"))}
					})
				}
				dated()
				r, a := w.starting()
				w.write(r, userLine("first"))
				w.pass(time.Minute)
				r = w.get(r.ID)
				require.Equal(t, session.Running, r.State)
				c, _ := r.Cursor()
				assert.Equal(t, talk.Cursor{Path: w.transcript(r.AgentSessionID)}, c, "the prompt was typed at the desk")

				cleared := session.Record{AgentSessionID: uuid.New()}
				a.set(func(a *agent) { a.session = cleared.AgentSessionID })
				w.WakeAgent(a.id.PID)
				w.pass(time.Second)
				got := w.get(r.ID)
				assert.Equal(t, cleared.AgentSessionID, got.AgentSessionID)
				assert.Len(t, got.Cursors, 1, "there is no file yet")

				if crash {
					w.restart()
					dated()
				}
				w.write(cleared, userLine("second"))
				w.write(cleared, assistantLine)
				if crash {
					w.run()
				}
				w.WakeAgent(a.id.PID)
				w.pass(time.Second)
				got = w.get(r.ID)
				assert.Equal(t, []talk.Cursor{c, {Path: w.transcript(cleared.AgentSessionID)}}, got.Cursors)
				w.WakeAgent(a.id.PID)
				w.pass(time.Minute)
				assert.Equal(t, got.Cursors, w.get(r.ID).Cursors, "once")
			})
		})
	}
}
