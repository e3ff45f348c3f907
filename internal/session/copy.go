package session

import (
	"encoding/json"
	"path/filepath"
	"strings"
)

// promptFields are the fields of a record that may repeat a prompt. A record is whole without them.
var promptFields = []string{"former_names", "phase_what", "exit.screen", "progress.open_turn.step", "progress.tasks",
	"progress.failed.text", "interruption.step", "news"}

// WithoutPrompts returns a record as it is copied into a backup: without the fields that may repeat
// a prompt. A name that a prompt has made is the folder's again, until the next prompt. A record
// that is not a JSON object, or has nothing of a prompt, is returned unchanged.
func WithoutPrompts(record []byte) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(record, &fields) != nil {
		return record
	}
	changed := false
	for _, field := range promptFields {
		changed = remove(fields, strings.Split(field, ".")) || changed
	}
	var named struct {
		By  Namer  `json:"named_by"`
		Dir string `json:"dir"`
	}
	if json.Unmarshal(record, &named) == nil && named.By == NamedByPrompt {
		fields["name"], _ = json.Marshal(filepath.Base(named.Dir))
		fields["named_by"], _ = json.Marshal(NamedByFolder)
		changed = true
	}
	if !changed {
		return record
	}
	out, err := json.Marshal(fields)
	if err != nil {
		return record
	}
	return append(out, '\n')
}

// WithLaterNews returns a record of a backup that replaces the present one. The chat has seen the
// numbers of the present record's news and drops a repeated number, so the numbers continue from
// there.
func WithLaterNews(record, present []byte) []byte {
	var was, is struct {
		LastNews int64 `json:"last_news"`
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(present, &was) != nil || json.Unmarshal(record, &is) != nil || was.LastNews <= is.LastNews ||
		json.Unmarshal(record, &fields) != nil {
		return record
	}
	fields["last_news"], _ = json.Marshal(was.LastNews)
	out, err := json.Marshal(fields)
	if err != nil {
		return record
	}
	return append(out, '\n')
}

// remove removes a field of an object, or of an object in it. It reports whether there was one.
func remove(fields map[string]json.RawMessage, path []string) bool {
	value, ok := fields[path[0]]
	if !ok || len(path) == 1 {
		delete(fields, path[0])
		return ok
	}
	var inner map[string]json.RawMessage
	if json.Unmarshal(value, &inner) != nil || !remove(inner, path[1:]) {
		return false
	}
	kept, err := json.Marshal(inner)
	if err != nil {
		return false
	}
	fields[path[0]] = kept
	return true
}
