package decisions

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestP9_SessionRulesAreTheOnesThatAllow(t *testing.T) {
	tests := []struct {
		name  string
		raw   string
		want  string // Raw; empty: left out
		shown []string
	}{
		{"a rule", `{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm test:*"}],"behavior":"allow","destination":"localSettings"}`,
			`{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm test:*"}],"behavior":"allow","destination":"session"}`, []string{"Bash(npm test:*)"}},
		{"two rules, one for all of a tool", `{"type":"addRules","rules":[{"toolName":"Read","ruleContent":"//x/**"},{"toolName":"WebSearch"}],"behavior":"allow","destination":"session"}`,
			`{"type":"addRules","rules":[{"toolName":"Read","ruleContent":"//x/**"},{"toolName":"WebSearch"}],"behavior":"allow","destination":"session"}`, []string{"Read(//x/**)", "WebSearch (every use)"}},
		{"directories", `{"type":"addDirectories","directories":["/a","/b"],"destination":"userSettings"}`,
			`{"type":"addDirectories","directories":["/a","/b"],"destination":"session"}`, []string{"/a (directory)", "/b (directory)"}},
		{"a mode", `{"type":"setMode","mode":"acceptEdits","destination":"session"}`, "", nil},
		{"a mode beside", `{"type":"addDirectories","directories":["/a"],"mode":"bypassPermissions","destination":"session"}`, "", nil},
		{"replaces", `{"type":"replaceRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"session"}`, "", nil},
		{"removes", `{"type":"removeRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"session"}`, "", nil},
		{"removes a directory", `{"type":"removeDirectories","directories":["/a"],"destination":"session"}`, "", nil},
		{"denies", `{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"deny","destination":"session"}`, "", nil},
		{"says nothing of its behavior", `{"type":"addRules","rules":[{"toolName":"Bash"}],"destination":"session"}`, "", nil},
		{"another key for the same", `{"type":"addRules","Rules":[{"toolName":"Bash"}],"behavior":"allow"}`, "", nil},
		{"a key twice", `{"type":"addRules","type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow"}`, "", nil},
		{"a rule that says more", `{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls","also":"rm"}],"behavior":"allow"}`, "", nil},
		{"a rule of no tool", `{"type":"addRules","rules":[{"ruleContent":"ls"}],"behavior":"allow"}`, "", nil},
		{"a content that is no text", `{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":null}],"behavior":"allow"}`, "", nil},
		{"no rules", `{"type":"addRules","rules":[],"behavior":"allow"}`, "", nil},
		{"no directory", `{"type":"addDirectories","directories":[""]}`, "", nil},
		{"directories that are none", `{"type":"addDirectories","directories":"/a"}`, "", nil},
		{"null", `null`, "", nil},
		{"text", `"addRules"`, "", nil},
		{"broken", `{"type":"addRules"`, "", nil},
		{"two in one", `{"type":"addDirectories","directories":["/a"]}{}`, "", nil},
	}
	const beside = `{"type":"addRules","rules":[{"toolName":"Read"}],"behavior":"allow","destination":"session"}`
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			given := []json.RawMessage{json.RawMessage(beside), json.RawMessage(tt.raw)}
			rules := SessionRules(given)
			require.NotEmpty(t, rules)
			assert.JSONEq(t, beside, string(rules[0].Raw))
			d, ok := AllowForSession(Request{Tool: "Bash", Input: json.RawMessage(`{}`), Suggestions: given})
			assert.True(t, ok)
			if tt.want == "" {
				assert.Len(t, rules, 1)
				return
			}
			require.Len(t, rules, 2)
			assert.JSONEq(t, tt.want, string(rules[1].Raw))
			assert.Equal(t, tt.shown, rules[1].Shown)
			assert.Equal(t, Decision{Behavior: "allow", UpdatedPermissions: []json.RawMessage{rules[0].Raw, rules[1].Raw}}, d)
		})
	}
}

// TestP9_WithoutARuleThereIsNothingForTheSession: a directory alone changes nothing, so that no
// button may promise it.
func TestP9_WithoutARuleThereIsNothingForTheSession(t *testing.T) {
	for _, raw := range []string{`{"type":"addDirectories","directories":["/a"],"destination":"session"}`,
		`{"type":"setMode","mode":"acceptEdits","destination":"session"}`} {
		given := []json.RawMessage{json.RawMessage(raw)}
		assert.Empty(t, SessionRules(given))
		_, ok := AllowForSession(Request{Tool: "Bash", Input: json.RawMessage(`{}`), Suggestions: given})
		assert.False(t, ok)
	}
}

func TestDecisions(t *testing.T) {
	bash := Request{Tool: "Bash", Input: json.RawMessage(`{"command":"ls"}`)}
	plan := Request{Tool: "ExitPlanMode", Input: json.RawMessage(`{"plan":"# x"}`)}
	ask := Request{Tool: "AskUserQuestion", Input: json.RawMessage(`{"questions":[{"question":"A?","options":[]},{"question":"B?"}],"metadata":{"n":1}}`)}
	answered, err := AnswerQuestions(ask, map[string]string{"A?": "x, y", "B?": "<&>"})
	require.NoError(t, err)
	tests := []struct {
		name string
		d    Decision
		want string
	}{
		{"allow", Allow(bash), `{"behavior":"allow"}`},
		{"allow a plan", Allow(plan), `{"behavior":"allow","updatedInput":{"plan":"# x"}}`},
		{"deny", Deny(""), `{"behavior":"deny","message":"The user denied this from the chat."}`},
		{"deny and say why", Deny("no <b>"), `{"behavior":"deny","message":"no <b>"}`},
		{"approve", ApprovePlan(plan, false), `{"behavior":"allow","updatedInput":{"plan":"# x"},"updatedPermissions":[{"type":"setMode","mode":"default","destination":"session"}]}`},
		{"approve with edits", ApprovePlan(plan, true), `{"behavior":"allow","updatedInput":{"plan":"# x"},"updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}`},
		{"answers", answered, `{"behavior":"allow","updatedInput":{"questions":[{"question":"A?","options":[]},{"question":"B?"}],"metadata":{"n":1},"answers":{"A?":"x, y","B?":"<&>"}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := json.Marshal(tt.d)
			require.NoError(t, err)
			assert.JSONEq(t, tt.want, string(got))
		})
	}
	for name, answers := range map[string]map[string]string{
		"none": nil, "one is missing": {"A?": "x"}, "one is blank": {"A?": "x", "B?": ""},
		"another question": {"A?": "x", "C?": "y"}, "one too many": {"A?": "x", "B?": "y", "C?": "z"},
	} {
		_, err := AnswerQuestions(ask, answers)
		assert.ErrorIs(t, err, ErrNotAnswered, name)
	}
	for _, input := range []string{`{}`, `{"questions":1}`, `{"questions":[{"question":1}]}`, `{"questions":[1]}`} {
		_, err := AnswerQuestions(Request{Tool: "AskUserQuestion", Input: json.RawMessage(input)}, map[string]string{"A?": "x"})
		assert.Error(t, err, input)
	}
	_, err = AnswerQuestions(bash, map[string]string{"A?": "x"})
	assert.Error(t, err, "no question at all")
}
