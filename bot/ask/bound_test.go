package ask

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/port/decisions"
	"ccbot/bot/render"
)

// TestP9_WhatIsCutIsNotWhole: an input of megabytes is not laid out to be drawn or tapped.
func TestP9_WhatIsCutIsNotWhole(t *testing.T) {
	huge := strings.Repeat("0123456789\n", 600_000)
	for name, c := range map[string]Card{
		"a file":      cardOf("Write", object("file_path", "/a", "content", huge)),
		"an edit":     cardOf("Edit", object("file_path", "/a", "old_string", huge, "new_string", "x")),
		"a plan":      cardOf("ExitPlanMode", object("plan", huge)),
		"a question":  cardOf("AskUserQuestion", object("questions", []any{map[string]any{"question": huge, "options": []any{map[string]any{"label": "x"}}}})),
		"many fields": cardOf("X", "{"+strings.Repeat(`"a":1,`, 1_000_000)+`"b":2}`),
	} {
		t.Run(name, func(t *testing.T) {
			seen := viewer(t, "en").View(c, "work")
			assert.LessOrEqual(t, seen.Text.Length(), render.Limit)
			assert.Contains(t, seen.Text.Text, "only be allowed in the terminal")
			assert.False(t, allowable(c))
			c.AllShown = true
			assert.False(t, allowable(c))
			_, err := Tap(c, person, "ok", noon)
			assert.Error(t, err)
		})
	}
}

func TestP8_ACardThatIsOverKeepsLittle(t *testing.T) {
	s, _ := open(t, t.TempDir())
	c := numbered("a", noon)
	c.Prompt = "u-1"
	c.Request.Tool, c.Request.Input = "ExitPlanMode", json.RawMessage(object("plan", strings.Repeat("0123456789\n", 3000)))
	c.Request.Suggestions = []json.RawMessage{json.RawMessage(object("x", strings.Repeat("y", 30_000)))}
	d := decisions.ApprovePlan(c.Request, true)
	c.State, c.Decision = StateSent, &d
	require.NoError(t, s.Save(c))
	got, ok := s.ByPrompt("u-1")
	require.True(t, ok)
	assert.Len(t, got.Request.Input, len(c.Request.Input), "before that all of it counts")
	over := settle(c, decisions.Outcome{Done: true, ByHook: "allow"}, true, false, noon)
	v := viewer(t, "en")
	before := v.View(over, "w")
	require.NoError(t, s.Save(over))
	got, _ = s.Get(c.Request.ID)
	data, err := json.Marshal(got)
	require.NoError(t, err)
	assert.Less(t, len(data), 8<<10)
	assert.NotNil(t, over.Decision.UpdatedInput, "what was given is left alone")
	assert.Equal(t, before.Text.Text, v.View(got, "w").Text.Text, "and it looks the same")
	assert.Contains(t, before.Text.Text, "…\n\n✅ Approved in the chat")
	assert.LessOrEqual(t, before.Text.Length(), 500)
	assert.Empty(t, s.Unsettled())
}

func TestStore_FindsTheReason(t *testing.T) {
	dir := t.TempDir()
	s, _ := open(t, dir)
	c := numbered("a", noon)
	c, err := denyWith(c, person, "no", "u-7", noon)
	require.NoError(t, err)
	require.NoError(t, s.Save(c))
	again, _ := open(t, dir)
	for _, s := range []*Store{s, again} {
		got, ok := s.ByPrompt("u-7")
		assert.True(t, ok)
		assert.Equal(t, c.Request.ID, got.Request.ID)
		_, ok = s.ByPrompt("u-8")
		assert.False(t, ok)
		assert.Len(t, s.Unsettled(), 1)
	}
	undone := c
	undone.State, undone.Decision, undone.Prompt = StateOpen, nil, ""
	require.NoError(t, s.Save(undone))
	_, ok := s.ByPrompt("u-7")
	assert.False(t, ok, "the text waits again")
	require.NoError(t, again.Forget(c.Request.Session))
	_, ok = again.ByPrompt("u-7")
	assert.False(t, ok)
	assert.Empty(t, again.Unsettled())
}
