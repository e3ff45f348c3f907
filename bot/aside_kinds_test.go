package bot_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
)

// TestP4_TalkAboutAnyRequestIsAside: also about one that a text cannot decide.
func TestP4_TalkAboutAnyRequestIsAside(t *testing.T) {
	for name, change := range map[string]func(q *chattest.Asked){
		"denied without words": func(q *chattest.Asked) { q.Ask.Wordless = true },
		"of a subagent":        func(q *chattest.Asked) { q.SubagentID, q.Subagent = "a1", "general-purpose" },
	} {
		chattest.RunsAs(t, name, func(t *testing.T, w *chattest.World) {
			a := newAsking(t, w, "Bash", chattest.Bash)
			a.allows(t)
			a.q = w.Request(t, a.r, "Bash", chattest.Bash)
			change(&a.q)
			w.Dials(a.q)
			require.NoError(t, w.OnRequest(t.Context(), a.q.Request))
			w.Work(t)
			require.NotZero(t, w.Message(t, a.q))

			talk, _ := a.says(t, 0, bob, "is that safe?")
			own, _ := a.says(t, 0, alice, "then write the notes")
			assert.Equal(t, inbox.Asked, a.EntryState(talk))
			assert.False(t, a.isQueued(talk))
			assert.True(t, a.isQueued(own))
		})
	}
}

// TestListOfAsideAloneSaysWhatFollows: the line that ends the list counts what goes to the session.
func TestListOfAsideAloneSaysWhatFollows(t *testing.T) {
	for own, want := range map[string]string{
		"":                     "1 message was written while api asked something. You are asked about it below.",
		"then write the notes": "1 message waited while api asked something.",
	} {
		chattest.RunsAs(t, want, func(t *testing.T, w *chattest.World) {
			a := newAsking(t, w, "Bash", chattest.Bash)
			a.says(t, 0, bob, "is that safe?")
			list := a.lastID()
			if own != "" {
				a.says(t, 0, alice, own)
			}
			a.allows(t)
			w.Work(t)
			assert.Equal(t, want, w.Shows(t, list).Text.Text)
			require.Len(t, a.askedAside(), 1)
		})
	}
}
