package rollout

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port/talk"
)

// The result of a call, in real turns, ends its request.
func TestOutcomeOfRealRequests(t *testing.T) {
	f := home(t)
	file := path(t, f, turns)
	end, err := f.End(file)
	require.NoError(t, err)
	allow, deny := &talk.Answer{Choice: talk.ChoiceAllow}, &talk.Answer{Choice: talk.ChoiceStop}
	for name, tt := range map[string]struct {
		call   string
		offset int64
		answer *talk.Answer
		want   talk.RequestOutcome
		found  bool
	}{
		"allowed in the chat":      {"call_5d83e85f550b4bec84739bff", 0, allow, talk.RequestOutcome{Done: true, Quoted: true}, true},
		"allowed at the terminal":  {"call_5d83e85f550b4bec84739bff", 0, nil, talk.RequestOutcome{Done: true}, true},
		"denied in the chat":       {"call_33d20c7d54434478866e236f", 0, deny, talk.RequestOutcome{Done: true, Quoted: true, Denial: "user-rejected"}, true},
		"denied before the tap":    {"call_33d20c7d54434478866e236f", 0, allow, talk.RequestOutcome{Done: true, Denial: "user-rejected"}, true},
		"stopped in the chat":      {"call_x", 0, deny, talk.RequestOutcome{Interrupted: true, Quoted: true}, true},
		"interrupted, of no call":  {"call_x", 0, nil, talk.RequestOutcome{Interrupted: true}, true},
		"not yet":                  {"call_x", end.Offset, nil, talk.RequestOutcome{}, false},
		"the terminal's own words": {"", end.Offset, nil, talk.RequestOutcome{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			input, err := json.Marshal(map[string]string{"call": tt.call})
			require.NoError(t, err)
			o, found, err := f.Outcome(t.Context(), talk.Request{Transcript: file, Offset: tt.offset, Input: input}, tt.answer)
			require.NoError(t, err)
			o.Text, tt.want.ToolID = "", tt.call
			assert.Equal(t, tt.want, o)
			assert.Equal(t, tt.found, found)
		})
	}
	_, found, err := f.Outcome(t.Context(), talk.Request{Input: json.RawMessage("{}")}, nil)
	require.NoError(t, err)
	assert.False(t, found, "a request before the first line")
}

func TestPatchOfCall(t *testing.T) {
	f := home(t)
	assert.Contains(t, f.Patch(t.Context(), turns, "call_43b5d03ad2d84a7b9cc464df"), "*** Add File: b.txt\n+scripted\n")
	assert.Equal(t, "echo tool-output", f.Patch(t.Context(), turns, "call_05fbc923f98f4a4d9ebf4d4c"))
	assert.Empty(t, f.Patch(t.Context(), turns, "call_x"))
}
