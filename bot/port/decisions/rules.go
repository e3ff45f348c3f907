package decisions

import (
	"encoding/json"
	"reflect"
	"slices"

	"ccbot/internal/exactjson"
)

// Rule is one change of permissions that "allow for this session" adds: rules or directories.
type Rule struct {
	Raw         json.RawMessage // as Claude Code reads it, destination "session"
	Rules       []ToolRule
	Directories []string
}

// ToolRule allows a tool, as Claude Code writes it. Without content it allows every use.
type ToolRule struct {
	Tool    string `json:"toolName"`
	Content string `json:"ruleContent,omitempty"`
}

// suggestion is all that a suggestion may say.
type suggestion struct {
	Type        string     `json:"type"`
	Rules       []ToolRule `json:"rules,omitempty"`
	Behavior    string     `json:"behavior,omitempty"`
	Directories []string   `json:"directories,omitempty"`
	Destination string     `json:"destination,omitempty"`
}

// SessionRules are those of a payload's own permission_suggestions that "allow for this session"
// returns: rules that allow and directories that are added, each with destination "session". A
// suggestion that changes the mode, removes, replaces or denies, or says anything unknown is left
// out: what a tap gives must be what the message lists. Without a rule there is none: a directory
// alone was seen to change nothing, the same command asks again (2.1.328).
func SessionRules(suggestions []json.RawMessage) []Rule {
	var all []Rule
	for _, raw := range suggestions {
		if r, ok := sessionRule(raw); ok {
			all = append(all, r)
		}
	}
	if !slices.ContainsFunc(all, func(r Rule) bool { return len(r.Rules) > 0 }) {
		return nil
	}
	return all
}

func sessionRule(raw json.RawMessage) (r Rule, ok bool) {
	var s suggestion
	if _, plain := exactjson.Object(raw); !plain || json.Unmarshal(raw, &s) != nil || !says(raw, s) {
		return Rule{}, false
	}
	switch s.Type {
	case "addRules":
		ok = s.Behavior == behaviorAllow && len(s.Rules) > 0 && len(s.Directories) == 0 &&
			!slices.ContainsFunc(s.Rules, func(r ToolRule) bool { return r.Tool == "" })
	case "addDirectories":
		ok = s.Behavior == "" && len(s.Rules) == 0 && len(s.Directories) > 0 &&
			!slices.Contains(s.Directories, "")
	}
	s.Destination = "session"
	made, err := json.Marshal(s)
	return Rule{Raw: made, Rules: s.Rules, Directories: s.Directories}, ok && err == nil
}

// says reports whether a suggestion as it was read is all of its JSON.
func says(raw json.RawMessage, s suggestion) bool {
	var given, read any
	again, err := json.Marshal(s)
	return err == nil && json.Unmarshal(raw, &given) == nil && json.Unmarshal(again, &read) == nil &&
		reflect.DeepEqual(given, read)
}
