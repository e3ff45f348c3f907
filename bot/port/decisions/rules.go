package decisions

import (
	"encoding/json"
	"slices"

	"ccbot/internal/exactjson"
)

// Rule is one permission that "allow for this session" adds.
type Rule struct {
	Raw   json.RawMessage // as Claude Code reads it, destination "session"
	Shown []string        // what it allows, for a person: "Bash(npm test:*)", "/some/dir (directory)"
}

// SessionRules are those of a payload's own permission_suggestions that "allow for this session"
// returns: rules that allow and directories that are added, each with destination "session". A
// suggestion that changes the mode, removes, replaces or denies, or says anything unknown is left
// out: what a tap gives must be what the message lists. Without a rule there is none: a directory
// alone was seen to change nothing, the same command asks again (2.1.328).
func SessionRules(suggestions []json.RawMessage) []Rule {
	var rules []Rule
	allows := false
	for _, raw := range suggestions {
		r, kind, ok := sessionRule(raw)
		if ok {
			rules = append(rules, r)
			allows = allows || kind == addRules
		}
	}
	if !allows {
		return nil
	}
	return rules
}

const addRules = "addRules"

func sessionRule(raw json.RawMessage) (r Rule, kind string, ok bool) {
	m, ok := exactjson.Object(raw)
	if !ok {
		return Rule{}, "", false
	}
	switch kind, _ = exactjson.Text(m["type"]); kind {
	case addRules:
		r, ok = allowRules(m)
	case "addDirectories":
		r, ok = addDirectories(m)
	default:
		ok = false
	}
	return r, kind, ok
}

// allowed is a rule as Claude Code writes it.
type allowed struct {
	Tool    string `json:"toolName"`
	Content string `json:"ruleContent,omitempty"`
}

// added is a suggestion made anew, so that nothing of the payload comes along unread.
type added struct {
	Type        string    `json:"type"`
	Rules       []allowed `json:"rules,omitempty"`
	Behavior    string    `json:"behavior,omitempty"`
	Directories []string  `json:"directories,omitempty"`
	Destination string    `json:"destination"`
}

func allowRules(m map[string]json.RawMessage) (Rule, bool) {
	behavior, _ := exactjson.Text(m["behavior"])
	list, ok := exactjson.Elements(m["rules"])
	if !ok || behavior != behaviorAllow || !only(m, "type", "rules", "behavior", "destination") {
		return Rule{}, false
	}
	update := added{Type: addRules, Behavior: behaviorAllow, Destination: "session"}
	var shown []string
	for _, raw := range list {
		r, ok := allowedRule(raw)
		if !ok {
			return Rule{}, false
		}
		update.Rules = append(update.Rules, r)
		shown = append(shown, r.shown())
	}
	return made(update, shown)
}

func allowedRule(raw json.RawMessage) (allowed, bool) {
	m, ok := exactjson.Object(raw)
	if !ok || !only(m, "toolName", "ruleContent") {
		return allowed{}, false
	}
	var r allowed
	if r.Tool, ok = exactjson.Text(m["toolName"]); !ok || r.Tool == "" {
		return allowed{}, false
	}
	if content, there := m["ruleContent"]; there {
		if r.Content, ok = exactjson.Text(content); !ok {
			return allowed{}, false
		}
	}
	return r, true
}

func (r allowed) shown() string {
	if r.Content == "" {
		return r.Tool + " (every use)"
	}
	return r.Tool + "(" + r.Content + ")"
}

func addDirectories(m map[string]json.RawMessage) (Rule, bool) {
	list, ok := exactjson.Elements(m["directories"])
	if !ok || !only(m, "type", "directories", "destination") {
		return Rule{}, false
	}
	update := added{Type: "addDirectories", Destination: "session"}
	var shown []string
	for _, raw := range list {
		dir, ok := exactjson.Text(raw)
		if !ok || dir == "" {
			return Rule{}, false
		}
		update.Directories = append(update.Directories, dir)
		shown = append(shown, dir+" (directory)")
	}
	return made(update, shown)
}

func made(update added, shown []string) (Rule, bool) {
	raw, err := json.Marshal(update)
	return Rule{Raw: raw, Shown: shown}, err == nil && len(shown) > 0
}

func only(m map[string]json.RawMessage, keys ...string) bool {
	for key := range m {
		if !slices.Contains(keys, key) {
			return false
		}
	}
	return true
}
