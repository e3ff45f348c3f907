package claudeask

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"ccbot/internal/exactjson"
	"ccbot/port/talk"
)

// grantsOf returns the permissions that "for this session" adds. It omits the text of a rule that
// equals the request's command, which the request contains anyway.
func grantsOf(q talk.Request) (all []talk.Grant) {
	input, _ := exactjson.Object(q.Input)
	command, _ := exactjson.Text(input["command"])
	own := q.Tool == toolBash && !strings.Contains(command, "*")
	for _, rule := range sessionRules(q.Suggestions) {
		for _, r := range rule.rules {
			switch {
			case r.Content == "":
				all = append(all, talk.Grant{Text: r.Tool, Note: talk.GrantsEveryUse})
			case own && r.Tool == q.Tool && r.Content == command:
				all = append(all, talk.Grant{Text: r.Tool, Note: talk.GrantsThisCommand})
			default:
				all = append(all, talk.Grant{Text: r.Tool + "(" + r.Content + ")"})
			}
		}
		for _, dir := range rule.directories {
			all = append(all, talk.Grant{Text: dir, Note: talk.GrantsFolder})
		}
	}
	return all
}

// acceptEdits is the suggestion behind the terminal's "allow all edits": file edits, and common file commands, in the session's folders.
const acceptEdits = `{"type":"setMode","mode":"acceptEdits","destination":"session"}`

// offersEdits reports whether exactly one suggestion is acceptEdits, which goes back alone: a folder or a rule beside it is not what the
// button says.
func offersEdits(suggestions []json.RawMessage) bool {
	var want any
	_ = json.Unmarshal([]byte(acceptEdits), &want)
	exact := 0
	for _, raw := range suggestions {
		var given any
		if _, plain := exactjson.Object(raw); plain && json.Unmarshal(raw, &given) == nil && reflect.DeepEqual(given, want) {
			exact++
		}
	}
	return exact == 1
}

// rule is a permission change that "allow for this session" adds: rules or directories.
type rule struct {
	raw         json.RawMessage // for Claude Code, with destination "session"
	rules       []toolRule
	directories []string
}

// toolRule allows a tool, in Claude Code's format. Without content it allows every use.
type toolRule struct {
	Tool    string `json:"toolName"`
	Content string `json:"ruleContent,omitempty"`
}

// suggestion has all known fields of a suggestion.
type suggestion struct {
	Type        string     `json:"type"`
	Rules       []toolRule `json:"rules,omitempty"`
	Behavior    string     `json:"behavior,omitempty"`
	Directories []string   `json:"directories,omitempty"`
	Destination string     `json:"destination,omitempty"`
}

// sessionRules returns the permission_suggestions for "allow for this session": rules that allow,
// and added directories, each with destination "session". It leaves out a suggestion that changes
// the mode, removes, replaces or denies, or has an unknown field: a tap must grant exactly what the
// message lists. Without a rule it returns none, because a directory alone changes nothing: the
// same command asks again (2.1.328).
func sessionRules(suggestions []json.RawMessage) []rule {
	var all []rule
	for _, raw := range suggestions {
		if r, ok := sessionRule(raw); ok {
			all = append(all, r)
		}
	}
	if !slices.ContainsFunc(all, func(r rule) bool { return len(r.rules) > 0 }) {
		return nil
	}
	return all
}

func sessionRule(raw json.RawMessage) (r rule, ok bool) {
	var s suggestion
	if _, plain := exactjson.Object(raw); !plain || json.Unmarshal(raw, &s) != nil || !contains(raw, s) {
		return rule{}, false
	}
	switch s.Type {
	case "addRules":
		ok = s.Behavior == behaviorAllow && len(s.Rules) > 0 && len(s.Directories) == 0 &&
			!slices.ContainsFunc(s.Rules, func(r toolRule) bool { return r.Tool == "" })
	case "addDirectories":
		ok = s.Behavior == "" && len(s.Rules) == 0 && len(s.Directories) > 0 &&
			!slices.Contains(s.Directories, "")
	}
	s.Destination = "session"
	made, err := json.Marshal(s)
	return rule{made, s.Rules, s.Directories}, ok && err == nil
}

// contains reports whether s has all of the suggestion's JSON.
func contains(raw json.RawMessage, s suggestion) bool {
	var given, read any
	again, err := json.Marshal(s)
	return err == nil && json.Unmarshal(raw, &given) == nil && json.Unmarshal(again, &read) == nil &&
		reflect.DeepEqual(given, read)
}
