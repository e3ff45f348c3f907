package claudeask

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/each"
	"ccbot/port/talk"
)

func TestP9_SessionRulesKeepsOnlyAllowRules(t *testing.T) {
	tests := []struct {
		name    string
		raw     string
		want    string // Raw; empty: left out
		rules   []toolRule
		folders []string
	}{
		{"a rule", `{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm test:*"}],"behavior":"allow","destination":"localSettings"}`,
			`{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm test:*"}],"behavior":"allow","destination":"session"}`, []toolRule{{"Bash", "npm test:*"}}, nil},
		{"two rules, one for all of a tool", `{"type":"addRules","rules":[{"toolName":"Read","ruleContent":"//x/**"},{"toolName":"WebSearch"}],"behavior":"allow","destination":"session"}`,
			`{"type":"addRules","rules":[{"toolName":"Read","ruleContent":"//x/**"},{"toolName":"WebSearch"}],"behavior":"allow","destination":"session"}`, []toolRule{{"Read", "//x/**"}, {"WebSearch", ""}}, nil},
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
			rules := sessionRules(given)
			require.NotEmpty(t, rules)
			assert.JSONEq(t, beside, string(rules[0].raw))
			d, err := decided(t, requestOf("Bash", `{}`, given...), talk.Answer{Choice: talk.ChoiceAllowSession})
			require.NoError(t, err)
			if tt.want == "" {
				assert.Len(t, rules, 1)
				return
			}
			require.Len(t, rules, 2)
			assert.JSONEq(t, tt.want, string(rules[1].raw))
			assert.Equal(t, tt.rules, rules[1].rules)
			assert.Equal(t, tt.folders, rules[1].directories)
			assert.Equal(t, Decision{Behavior: "allow", UpdatedPermissions: []json.RawMessage{rules[0].raw, rules[1].raw}}, d)
		})
	}
}

// A directory alone changes nothing, so no button may promise it.
func TestP9_SessionRulesNeedsARule(t *testing.T) {
	for _, raw := range []string{`{"type":"addDirectories","directories":["/a"],"destination":"session"}`,
		`{"type":"setMode","mode":"acceptEdits","destination":"session"}`} {
		given := []json.RawMessage{json.RawMessage(raw)}
		assert.Empty(t, sessionRules(given))
		_, err := decided(t, requestOf("Bash", `{}`, given...), talk.Answer{Choice: talk.ChoiceAllowSession})
		require.ErrorIs(t, err, ErrNotShown)
	}
}

// [Allow all edits] is offered for exactly one suggestion of exactly that mode, and grants nothing that stands beside it.
func TestP9_EditsAreAllowedAlone(t *testing.T) {
	const edits = `{"type":"setMode","mode":"acceptEdits","destination":"session"}`
	for name, tt := range map[string]struct {
		given   []string
		offered bool
	}{
		"alone":                     {[]string{edits}, true},
		"its fields in other order": {[]string{`{"destination":"session","mode":"acceptEdits","type":"setMode"}`}, true},
		"a folder and a rule beside": {[]string{`{"type":"addDirectories","directories":["/a"],"destination":"session"}`, edits,
			`{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"session"}`}, true},
		"none":                {nil, false},
		"twice":               {[]string{edits, edits}, false},
		"another mode":        {[]string{`{"type":"setMode","mode":"bypassPermissions","destination":"session"}`}, false},
		"for the project":     {[]string{`{"type":"setMode","mode":"acceptEdits","destination":"projectSettings"}`}, false},
		"a field more":        {[]string{`{"type":"setMode","mode":"acceptEdits","destination":"session","directories":["/"]}`}, false},
		"a key twice":         {[]string{`{"type":"setMode","mode":"plan","mode":"acceptEdits","destination":"session"}`}, false},
		"a key in other case": {[]string{`{"Type":"setMode","mode":"acceptEdits","destination":"session"}`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			q := requestOf("Edit", `{"file_path":"a"}`, each.As(tt.given, func(s string) json.RawMessage { return json.RawMessage(s) })...)
			d, err := decided(t, q, talk.Answer{Choice: talk.ChoiceAllowEdits})
			if !tt.offered {
				require.ErrorIs(t, err, ErrNotShown)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, Decision{Behavior: "allow", UpdatedPermissions: []json.RawMessage{json.RawMessage(edits)}}, d)
		})
	}
}

func requestOf(tool, input string, suggestions ...json.RawMessage) talk.Request {
	q := talk.Request{Tool: tool, Input: json.RawMessage(input), Suggestions: suggestions}
	q.Ask = Of(q)
	return q
}

// decided returns the hook's output for an answer of a person who saw the request.
func decided(t *testing.T, q talk.Request, a talk.Answer) (Decision, error) {
	t.Helper()
	a.Shown = q.Ask.Digest()
	return Decide(q, a)
}

func TestDecide(t *testing.T) {
	bash, plan := requestOf("Bash", `{"command":"ls"}`), requestOf("ExitPlanMode", `{"plan":"# x"}`)
	ask := requestOf("AskUserQuestion", `{"questions":[{"question":"A?","options":[{"label":"x"}]},{"question":"B?","options":[{"label":"y"}]}],"metadata":{"n":1}}`)
	one := requestOf("AskUserQuestion", `{"questions":[{"question":"A?","options":[{"label":"x"}]}]}`)
	tests := []struct {
		name string
		q    talk.Request
		a    talk.Answer
		want string // empty: refused
	}{
		{"allow", bash, talk.Answer{Choice: talk.ChoiceAllow}, `{"behavior":"allow"}`},
		{"deny", bash, talk.Answer{Choice: talk.ChoiceDeny}, `{"behavior":"deny","message":"The user denied this from the chat."}`},
		{"deny and say why", bash, talk.Answer{Choice: talk.ChoiceDeny, Text: "no <b>"}, `{"behavior":"deny","message":"The user denied this from the chat. They wrote: no <b>"}`},
		{"stop", bash, talk.Answer{Choice: talk.ChoiceStop}, `{"behavior":"deny","message":"The user denied this from the chat.","interrupt":true}`},
		{"approve", plan, talk.Answer{Choice: talk.ChoiceApprove}, `{"behavior":"allow","updatedInput":{"plan":"# x"},"updatedPermissions":[{"type":"setMode","mode":"default","destination":"session"}]}`},
		{"approve with edits", plan, talk.Answer{Choice: talk.ChoiceApproveEdits}, `{"behavior":"allow","updatedInput":{"plan":"# x"},"updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}`},
		{"deny a plan", plan, talk.Answer{Choice: talk.ChoiceDeny}, `{"behavior":"deny","message":"The user does not approve the plan yet (said in the chat): keep planning."}`},
		{"answers", ask, talk.Answer{Choice: talk.ChoiceAnswer, Answers: []string{"x, y", "<&>"}}, `{"behavior":"allow","updatedInput":{"questions":[{"question":"A?","options":[{"label":"x"}]},{"question":"B?","options":[{"label":"y"}]}],"metadata":{"n":1},"answers":{"A?":"x, y","B?":"<&>"}}}`},
		{"no answer", ask, talk.Answer{Choice: talk.ChoiceDeny}, `{"behavior":"deny","message":"The user skipped the questions, in the chat."}`},
		{"no answer to one", one, talk.Answer{Choice: talk.ChoiceDeny}, `{"behavior":"deny","message":"The user skipped the question, in the chat."}`},
		{"an answer is missing", ask, talk.Answer{Choice: talk.ChoiceAnswer, Answers: []string{"x"}}, ""},
		{"allow for the session without rules", bash, talk.Answer{Choice: talk.ChoiceAllowSession}, ""},
		{"allow a plan", plan, talk.Answer{Choice: talk.ChoiceAllow}, ""},
		{"allow a question", ask, talk.Answer{Choice: talk.ChoiceAllow}, ""},
		{"approve a command", bash, talk.Answer{Choice: talk.ChoiceApprove}, ""},
		{"no choice", bash, talk.Answer{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := decided(t, tt.q, tt.a)
			if tt.want == "" {
				require.ErrorIs(t, err, ErrNotShown)
				return
			}
			require.NoError(t, err)
			got, err := json.Marshal(d)
			require.NoError(t, err)
			assert.JSONEq(t, tt.want, string(got))
		})
	}
}

// TestP7_AnswerToOtherContentIsRefused: the digest covers all that a person can see of a request.
func TestP7_AnswerToOtherContentIsRefused(t *testing.T) {
	shown := requestOf("Bash", `{"command":"ls"}`)
	for name, waits := range map[string]talk.Request{
		"another command": requestOf("Bash", `{"command":"rm"}`),
		"another tool":    requestOf("Read", `{"command":"ls"}`),
		"another field":   requestOf("Bash", `{"command":"ls","run_in_background":true}`),
		"a rule":          requestOf("Bash", `{"command":"ls"}`, json.RawMessage(`{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow"}`)),
	} {
		_, err := Decide(waits, talk.Answer{Choice: talk.ChoiceAllow, Shown: shown.Ask.Digest()})
		require.ErrorIs(t, err, ErrNotShown, name)
	}
	other := shown
	other.Cwd = "/elsewhere"
	_, err := Decide(other, talk.Answer{Choice: talk.ChoiceAllow, Shown: shown.Ask.Digest()})
	require.ErrorIs(t, err, ErrNotShown, "another folder")
	_, err = Decide(shown, talk.Answer{Choice: talk.ChoiceAllow, Shown: shown.Ask.Digest()})
	require.NoError(t, err)
}

// TestP9_HugeInputIsNotAllowed: a person cannot have seen all of it.
func TestP9_HugeInputIsNotAllowed(t *testing.T) {
	q := requestOf("Write", `{"content":"`+strings.Repeat("x", maxInput)+`"}`)
	assert.False(t, q.Ask.Whole)
	_, err := decided(t, q, talk.Answer{Choice: talk.ChoiceAllow})
	require.ErrorIs(t, err, ErrNotShown)
	_, err = decided(t, q, talk.Answer{Choice: talk.ChoiceDeny})
	require.NoError(t, err)
}
