package ask

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/render"
	"ccbot/port/talk"
)

// TestP9_HugeInputCannotBeAllowed: an input far above maxAll is not laid out to be drawn or tapped.
func TestP9_HugeInputCannotBeAllowed(t *testing.T) {
	huge := strings.Repeat("0123456789\n", 60_000)
	for name, st := range map[string]State{
		"a file":      stateOf("Write", object("file_path", "/a", "content", huge)),
		"an edit":     stateOf("Edit", object("file_path", "/a", "old_string", huge, "new_string", "x")),
		"a plan":      stateOf("ExitPlanMode", object("plan", huge)),
		"a question":  stateOf("AskUserQuestion", object("questions", []any{map[string]any{"question": huge, "options": []any{map[string]any{"label": "x"}}}})),
		"many fields": stateOf("X", "{"+strings.Repeat(`"a":1,`, 100_000)+`"b":2}`),
	} {
		t.Run(name, func(t *testing.T) {
			seen := viewer(t, "en").View(st, "work")
			assert.LessOrEqual(t, seen.Text.Length(), render.Limit)
			assert.Contains(t, seen.Text.Text, "only be allowed in the terminal")
			assert.False(t, allowable(st))
			st.AllShown = true
			assert.False(t, allowable(st))
			_, err := Tap(st, person, "ok", noon)
			assert.Error(t, err)
		})
	}
}

func TestP8_EndedRequestIsStoredShort(t *testing.T) {
	st, _ := open(t, t.TempDir())
	s := numbered("a", noon)
	s.Prompt = "u-1"
	s.Request.Tool, s.Request.Input = "ExitPlanMode", json.RawMessage(object("plan", strings.Repeat("0123456789\n", 3000)))
	s.Request.Suggestions = []json.RawMessage{json.RawMessage(object("x", strings.Repeat("y", 30_000)))}
	s = described(s)
	s.Stage, s.Answer = StageSent, &talk.Answer{Choice: talk.ChoiceApproveEdits}
	require.NoError(t, st.Save(s))
	got, ok := st.ByPrompt("u-1")
	require.True(t, ok)
	assert.Len(t, got.Request.Input, len(s.Request.Input), "before that all of it counts")
	over := settle(s, talk.RequestOutcome{Done: true, ByHook: "allow"}, true, false, noon)
	v := viewer(t, "en")
	before := v.View(over, "w")
	require.NoError(t, st.Save(over))
	got, _ = st.Get(s.Request.ID)
	data, err := json.Marshal(got)
	require.NoError(t, err)
	assert.Less(t, len(data), 8<<10)
	assert.Equal(t, s.Request, over.Request, "the given one is left alone")
	assert.Equal(t, before.Text.Text, v.View(got, "w").Text.Text, "and it looks the same")
	assert.Contains(t, before.Text.Text, "…\n\n✅ Approved in the chat")
	assert.LessOrEqual(t, before.Text.Length(), 500)
	assert.Empty(t, st.Unsettled())
}

func TestStore_FindsTheReason(t *testing.T) {
	dir := t.TempDir()
	st, _ := open(t, dir)
	s := numbered("a", noon)
	s, err := denyWith(s, person, "no", "u-7", noon)
	require.NoError(t, err)
	require.NoError(t, st.Save(s))
	again, _ := open(t, dir)
	for _, st := range []*Store{st, again} {
		got, ok := st.ByPrompt("u-7")
		assert.True(t, ok)
		assert.Equal(t, s.Request.ID, got.Request.ID)
		_, ok = st.ByPrompt("u-8")
		assert.False(t, ok)
		assert.Len(t, st.Unsettled(), 1)
	}
	undone := s
	undone.Stage, undone.Answer, undone.Prompt = StageOpen, nil, ""
	require.NoError(t, st.Save(undone))
	_, ok := st.ByPrompt("u-7")
	assert.False(t, ok, "the text waits again")
	require.NoError(t, again.Forget(s.Request.Session))
	_, ok = again.ByPrompt("u-7")
	assert.False(t, ok)
	assert.Empty(t, again.Unsettled())
}

// A request with an explanation is no longer than one without may be, so nothing else of it is cut.
func TestP7_ExplanationCutsNothing(t *testing.T) {
	text := strings.Repeat("y", maxExplanation)
	of := func(length int) State { return stateOf("Bash", object("command", strings.Repeat("x", length))) }
	assert.True(t, of(100).hasRoomFor(text))
	assert.False(t, of(maxBody-maxExplanation).hasRoomFor(text))
	assert.False(t, stateOf("AskUserQuestion", object("questions", []any{map[string]any{"question": "?", "options": []any{map[string]any{"label": "x"}}}})).hasRoomFor(text))
	st := of(maxBody - maxExplanation - 10)
	require.True(t, st.hasRoomFor(text))
	st.Explanation = text
	assert.True(t, allowable(st))
	seen := viewer(t, "en").View(st, "work").Text
	assert.True(t, strings.HasPrefix(seen.Text, text+"\n\n"))
	assert.Contains(t, seen.Text, strings.Repeat("x", maxBody-maxExplanation-10))
}
