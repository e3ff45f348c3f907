package appserver

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

var _ agent.Asks = Asks{}

func asked(t *testing.T, input string) talk.Request {
	t.Helper()
	q := talk.Request{ID: strings.Repeat("a", 22), Session: uuid.New(), Agent: "1", Hook: "2", Tool: "exec_command", Cwd: "/home/me", Input: json.RawMessage(input), RequestedAt: time.Now()}
	require.NoError(t, q.Check())
	q.Ask = Asks{}.Of(q)
	return q
}

func TestRequestShowsAllOfIt(t *testing.T) {
	a := asked(t, `{"call":"c","command":"/bin/bash -lc 'touch x'","reason":"why"}`).Ask
	assert.Equal(t, []talk.Block{{Kind: talk.BlockCommand, Text: "/bin/bash -lc 'touch x'"}, {Kind: talk.BlockNote, Text: "why"}}, a.Blocks)
	assert.Equal(t, []talk.Detail{{Name: "tool", Text: "exec_command"}, {Name: "command", Text: "/bin/bash -lc 'touch x'"}, {Name: "reason", Text: "why"}, {Name: "cwd", Text: "/home/me"}}, a.Details)
	assert.True(t, a.Whole && a.Wordless)
	a = asked(t, `{"call":"c","patch":"*** Begin Patch\n"}`).Ask
	assert.Equal(t, talk.TitleEdit, a.Title)
	assert.Equal(t, []talk.Block{{Kind: talk.BlockText, Text: "*** Begin Patch\n"}}, a.Blocks)
}

// A decision carries only what a person could see.
func TestP7_AnswerFitsRequest(t *testing.T) {
	for choice, want := range map[talk.ChoiceID]string{talk.ChoiceAllow: `"accept"`, talk.ChoiceDeny: `"decline"`, talk.ChoiceStop: `"cancel"`} {
		q := asked(t, `{"call":"c","command":"ls"}`)
		output, err := Asks{}.Decide(q, talk.Answer{Choice: choice, Shown: q.Ask.Digest()})
		require.NoError(t, err)
		assert.Equal(t, want, string(output))
	}
	q := asked(t, `{"call":"c","command":"ls"}`)
	for _, a := range []talk.Answer{{Choice: talk.ChoiceAllow, Shown: asked(t, `{"call":"c","command":"rm"}`).Ask.Digest()},
		{Choice: talk.ChoiceAllowSession, Shown: q.Ask.Digest()}, {Choice: talk.ChoiceAllow}} {
		_, err := Asks{}.Decide(q, a)
		assert.True(t, refusal.Is(err, refusal.Changed))
	}
	assert.False(t, asked(t, `{"call":"c","command":"ls \u202e"}`).Ask.Whole, "a part is invisible")
	for _, input := range []string{`{"command":3}`, `{"command":"` + strings.Repeat("x", maxInput) + `"}`} {
		q := asked(t, input)
		assert.False(t, q.Ask.Whole && q.Ask.Details != nil, "a part is not shown")
		_, err := Asks{}.Decide(q, talk.Answer{Choice: talk.ChoiceAllow, Shown: q.Ask.Digest()})
		require.Error(t, err)
		_, err = Asks{}.Decide(q, talk.Answer{Choice: talk.ChoiceDeny, Shown: q.Ask.Digest()})
		require.NoError(t, err)
	}
}
