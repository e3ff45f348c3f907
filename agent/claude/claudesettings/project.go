package claudesettings

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"ccbot/internal/ownfile"
	"ccbot/port/talk"
)

// ProjectAnswerers returns the answerers that the project in dir configures in its settings now:
// Claude Code applies a change while it runs. Of the settings at the work tree's root only the
// local file counts, as in Claude Code. An unreadable file has no answerers: Claude Code itself
// shows that error. A file over the size limit counts as one with rules.
func ProjectAnswerers(dir string) []talk.Answerer {
	files := []string{filepath.Join(dir, ".claude", "settings.json"), filepath.Join(dir, ".claude", "settings.local.json")}
	if root := workTree(dir); root != "" && root != dir {
		files = append(files, filepath.Join(root, ".claude", "settings.local.json"))
	}
	var all []talk.Answerer
	for _, file := range files {
		all = append(all, answerersIn(file)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func answerersIn(file string) (all []talk.Answerer) {
	data, err := readUserSettings(file)
	if errors.Is(err, ownfile.ErrTooBig) {
		return []talk.Answerer{talk.AnswersByRule} // it may hold anything
	}
	if err != nil {
		return nil
	}
	project := fields(bytes.TrimPrefix(data, []byte("\ufeff")))
	if has(fields(project["permissions"])["allow"]) {
		all = append(all, talk.AnswersByRule)
	}
	if hooks := fields(project["hooks"]); has(hooks["PermissionRequest"]) || has(hooks["PreToolUse"]) {
		all = append(all, talk.AnswersByHook)
	}
	for _, on := range fields(project["enabledPlugins"]) {
		if string(on) != "false" {
			return append(all, talk.AnswersByPlugin)
		}
	}
	return all
}

// fields returns the members of an object by their exact names: a repository must not hide a member
// by another one that differs in upper and lower case only, or that has a wrong type.
func fields(object json.RawMessage) (all map[string]json.RawMessage) {
	_ = json.Unmarshal(object, &all) // any other value has no fields
	return all
}

// has reports whether a list has any element.
func has(list json.RawMessage) bool {
	var items []json.RawMessage
	return json.Unmarshal(list, &items) == nil && len(items) > 0
}

// workTree returns the root of the git work tree that contains dir, or "".
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
