package talk

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestP9_SessionRulesKeepsOnlyAllowRules(t *testing.T) {
	tests := []struct {
		name    string
		raw     string
		want    string // Raw; empty: left out
		rules   []ToolRule
		folders []string
	}{
		{"a rule", `{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm test:*"}],"behavior":"allow","destination":"localSettings"}`,
			`{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm test:*"}],"behavior":"allow","destination":"session"}`, []ToolRule{{"Bash", "npm test:*"}}, nil},
		{"two rules, one for all of a tool", `{"type":"addRules","rules":[{"toolName":"Read","ruleContent":"//x/**"},{"toolName":"WebSearch"}],"behavior":"allow","destination":"session"}`,
			`{"type":"addRules","rules":[{"toolName":"Read","ruleContent":"//x/**"},{"toolName":"WebSearch"}],"behavior":"allow","destination":"session"}`, []ToolRule{{"Read", "//x/**"}, {"WebSearch", ""}}, nil},
		{"directories", `{"type":"addDirectories","directories":["/a","/b"],"destination":"userSettings"}`,
			`{"type":"addDirectories","directories":["/a","/b"],"destination":"session"}`, nil, []string{"/a", "/b"}},
		{"a mode", `{"type":"setMode","mode":"acceptEdits","destination":"session"}`, "", nil, nil},
		{"a mode beside", `{"type":"addDirectories","directories":["/a"],"mode":"bypassPermissions","destination":"session"}`, "", nil, nil},
		{"replaces", `{"type":"replaceRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"session"}`, "", nil, nil},
		{"removes", `{"type":"removeRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"session"}`, "", nil, nil},
		{"removes a directory", `{"type":"removeDirectories","directories":["/a"],"destination":"session"}`, "", nil, nil},
		{"denies", `{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"deny","destination":"session"}`, "", nil, nil},
		{"says nothing of its behavior", `{"type":"addRules","rules":[{"toolName":"Bash"}],"destination":"session"}`, "", nil, nil},
		{"another key for the same", `{"type":"addRules","Rules":[{"toolName":"Bash"}],"behavior":"allow"}`, "", nil, nil},
		{"a key twice", `{"type":"addRules","type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow"}`, "", nil, nil},
		{"a rule that says more", `{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls","also":"rm"}],"behavior":"allow"}`, "", nil, nil},
		{"a rule of no tool", `{"type":"addRules","rules":[{"ruleContent":"ls"}],"behavior":"allow"}`, "", nil, nil},
		{"a content that is no text", `{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":null}],"behavior":"allow"}`, "", nil, nil},
		{"no rules", `{"type":"addRules","rules":[],"behavior":"allow"}`, "", nil, nil},
		{"no directory", `{"type":"addDirectories","directories":[""]}`, "", nil, nil},
		{"directories that are none", `{"type":"addDirectories","directories":"/a"}`, "", nil, nil},
		{"null", `null`, "", nil, nil},
		{"text", `"addRules"`, "", nil, nil},
		{"broken", `{"type":"addRules"`, "", nil, nil},
		{"two in one", `{"type":"addDirectories","directories":["/a"]}{}`, "", nil, nil},
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
			assert.Equal(t, tt.rules, rules[1].Rules)
			assert.Equal(t, tt.folders, rules[1].Directories)
			assert.Equal(t, Decision{Behavior: "allow", UpdatedPermissions: []json.RawMessage{rules[0].Raw, rules[1].Raw}}, d)
		})
	}
}

// A directory alone changes nothing, so no button may promise it.
func TestP9_SessionRulesNeedsARule(t *testing.T) {
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
}
