package hooks

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
)

// Answerer is something in a project's own settings that may answer a permission request before a person does, so that
// the request never comes to the chat or is over at once. No setting of a launch takes it away (2.1.328).
type Answerer string

const (
	AnswersByRule   Answerer = "rules"   // permissions.allow: nothing is asked
	AnswersByHook   Answerer = "hooks"   // a PermissionRequest or PreToolUse hook of the project
	AnswersByPlugin Answerer = "plugins" // a plugin that the project switches on brings hooks of its own
)

// ProjectAnswerers are those of the project in dir, as its settings are now: Claude Code takes a change over while it
// runs. Of the settings beside the work tree's root only the local ones count, as Claude Code reads them. A file that
// cannot be read has none: Claude Code shows its own complaint.
func ProjectAnswerers(dir string) []Answerer {
	files := []string{filepath.Join(dir, ".claude", "settings.json"), filepath.Join(dir, ".claude", "settings.local.json")}
	if root := workTree(dir); root != "" && root != dir {
		files = append(files, filepath.Join(root, ".claude", "settings.local.json"))
	}
	var all []Answerer
	for _, file := range files {
		all = append(all, answerersIn(file)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func answerersIn(file string) (all []Answerer) {
	data, err := readUserSettings(file)
	if err != nil {
		return nil
	}
	project := fields(bytes.TrimPrefix(data, []byte("\ufeff")))
	if has(fields(project["permissions"])["allow"]) {
		all = append(all, AnswersByRule)
	}
	if hooks := fields(project["hooks"]); has(hooks["PermissionRequest"]) || has(hooks["PreToolUse"]) {
		all = append(all, AnswersByHook)
	}
	for _, on := range fields(project["enabledPlugins"]) {
		if string(on) != "false" {
			return append(all, AnswersByPlugin)
		}
	}
	return all
}

// fields are those of an object by their exact names: a repository must not hide one behind another that is written in
// other letters, or behind one of a wrong type.
func fields(object json.RawMessage) (all map[string]json.RawMessage) {
	_ = json.Unmarshal(object, &all) // what is no object has none
	return all
}

// has says whether a list has anything in it.
func has(list json.RawMessage) bool {
	var items []json.RawMessage
	return json.Unmarshal(list, &items) == nil && len(items) > 0
}

// workTree is the root of the git work tree that dir is in; empty when it is in none.
func workTree(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}
