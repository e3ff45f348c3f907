package demoagent

import (
	"path/filepath"
	"slices"
	"strings"

	"ccbot/try/demoagent/script"
)

// rule is a permission rule as hooks and settings name it.
type rule struct {
	Tool string `json:"toolName"`
	// of Bash: a command, or its beginning and " *" or ":*"; "" for every call
	Content string `json:"ruleContent"`
}

// update is a change of permissions in a hook's answer. Added directories change nothing here, as
// in the real one: it asks again for a call in them.
type update struct {
	Type        string `json:"type"`
	Mode        string `json:"mode"`
	Rules       []rule `json:"rules"`
	Behavior    string `json:"behavior"`
	Destination string `json:"destination"` // session, or a settings file
}

func (a *agent) apply(updates []update) {
	for _, u := range updates {
		switch {
		case u.Type == "setMode":
			a.setMode(u.Mode)
		case u.Type == "addRules" && u.Behavior == "allow":
			a.rules = append(a.rules, u.Rules...)
			if u.Destination != "session" {
				a.keep(u.Rules)
			}
		}
	}
}

// keep writes rules into the project's own settings, which a supervisor that promised "for this
// session" must not cause. Every other destination is written there too.
func (a *agent) keep(rules []rule) {
	var allow []string
	for _, r := range rules {
		allow = append(allow, r.Tool+"("+r.Content+")")
	}
	path := filepath.Join(a.cwd, ".claude", "settings.local.json")
	if err := replaceJSON(path, map[string]any{"permissions": map[string]any{"allow": allow}}); err != nil {
		a.note(err)
	}
}

// allowed reports whether a call needs no permission.
func (a *agent) allowed(c script.Call) bool {
	switch {
	case c.Name == "AskUserQuestion" || c.Name == "ExitPlanMode":
		return false
	case a.mode == "auto" || a.mode == "bypassPermissions":
		return true
	case a.mode == "acceptEdits" && (c.Name != "Bash" || changesFiles(c.Command)):
		return true
	case a.always && c.Name == "Bash":
		return true
	}
	return slices.ContainsFunc(a.rules, func(r rule) bool { return r.allows(c) })
}

// changesFiles reports whether a command counts as an edit.
func changesFiles(command string) bool {
	word, _, _ := strings.Cut(command, " ")
	return slices.Contains([]string{"touch", "mkdir", "cp", "mv", "rm"}, word)
}

func (r rule) allows(c script.Call) bool {
	if r.Tool != c.Name {
		return false
	}
	for _, wildcard := range []string{" *", ":*"} {
		if start, ok := strings.CutSuffix(r.Content, wildcard); ok {
			return c.Command == start || strings.HasPrefix(c.Command, start+" ")
		}
	}
	return r.Content == "" || r.Content == c.Command
}

// suggestions returns the rules that the payload proposes; questions and plans have none.
func suggestions(c script.Call, cwd string) []any {
	edits := map[string]any{"type": "setMode", "mode": "acceptEdits", "destination": "session"}
	switch {
	case c.Name == "Edit" || c.Name == "Write":
		return []any{edits}
	case c.Name != "Bash":
		return nil
	case changesFiles(c.Command):
		return []any{map[string]any{"type": "addDirectories", "directories": []string{cwd}, "destination": "session"}, edits}
	}
	return []any{map[string]any{"type": "addRules", "behavior": "allow", "destination": "localSettings",
		"rules": []rule{{Tool: c.Name, Content: c.Command}}}}
}

// request is the payload of PermissionRequest, without what all payloads have.
func (a *agent) request(c script.Call) map[string]any {
	more := map[string]any{"permission_mode": a.mode, "effort": map[string]string{"level": "medium"}, "tool_name": c.Name, "tool_input": toolInput(c)}
	if s := suggestions(c, a.cwd); s != nil {
		more["permission_suggestions"] = s
	}
	return more
}

// with is the call as a hook's answer changed it, and the answers to its questions.
func changed(c script.Call, input map[string]any) (script.Call, map[string]string) {
	if command, ok := input["command"].(string); ok {
		c.Command = command
	}
	if plan, ok := input["plan"].(string); ok {
		c.Plan = plan
	}
	answers := map[string]string{}
	given, _ := input["answers"].(map[string]any)
	for question, answer := range given {
		switch v := answer.(type) {
		case string:
			answers[question] = v
		case []any:
			var labels []string
			for _, label := range v {
				if s, ok := label.(string); ok {
					labels = append(labels, s)
				}
			}
			answers[question] = strings.Join(labels, ", ")
		}
	}
	return c, answers
}
