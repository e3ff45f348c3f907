package claudeask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ccbot/internal/clip"
	"ccbot/internal/exactjson"
	"ccbot/internal/glyph"
	"ccbot/internal/lazyregexp"
)

// maxDepth bounds the depth of a tool's input; deeper values are shown only by [Show all].
const maxDepth = 32

// take calls use with the field, and removes the field if use returns true.
func take(list []exactjson.Member, key string, use func(json.RawMessage) bool) []exactjson.Member {
	for i, f := range list {
		if f.Key == key && use(f.Value) {
			return append(list[:i:i], list[i+1:]...)
		}
	}
	return list
}

// textTo returns a function that stores a text in to.
func textTo(to *string) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		s, ok := exactjson.Text(raw)
		if ok {
			*to = s
		}
		return ok
	}
}

func isFalse(raw json.RawMessage) bool { return string(raw) == "false" }

// odd reports whether a part of the JSON is invisible when drawn: an invisible character, a
// duplicate key, or a value that is too deep.
func odd(raw json.RawMessage, depth int) bool {
	if depth > maxDepth {
		return true
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return true
	}
	switch raw[0] {
	case '"':
		s, ok := exactjson.Text(raw)
		return !ok || glyph.Hides(s)
	case '[':
		list, ok := exactjson.Elements(raw)
		return !ok || slices.ContainsFunc(list, func(v json.RawMessage) bool { return odd(v, depth+1) })
	case '{':
		list, plain := exactjson.Members(raw)
		return !plain || slices.ContainsFunc(list, func(f exactjson.Member) bool {
			return glyph.Hides(f.Key) || odd(f.Value, depth+1)
		})
	}
	return false // a number, true, false, null
}

// escapes matches the escapes of JSON texts.
var escapes = lazyregexp.New(`\\(u00(3c|3e|26)|.)`)

// compact returns JSON in one line, without the escapes that only web pages need.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return escapes.ReplaceAllStringFunc(b.String(), func(s string) string {
		if len(s) == 2 {
			return s
		}
		return map[string]string{"3c": "<", "3e": ">", "26": "&"}[s[4:]]
	})
}

// quoted returns a text as JSON, for a person.
func quoted(s string) string {
	data, _ := json.Marshal(s) // a string always encodes
	return compact(data)
}

// Bounds of the stored beginning of an input that is too big.
const (
	maxFields = 64
	keptText  = 2 << 10
)

// beginnings shortens the first fields of an object. A shortened value of another type becomes a
// text.
func beginnings(object json.RawMessage) json.RawMessage {
	list, _ := exactjson.Members(object)
	var b strings.Builder
	for i, f := range list[:min(len(list), maxFields)] {
		value := string(f.Value)
		if len(value) > keptText {
			s, isText := exactjson.Text(f.Value)
			if !isText {
				s = value
			}
			value = quoted(clip.Bytes(s, keptText, "…"))
		}
		fmt.Fprintf(&b, "%s%s:%s", ","[:min(i, 1)], quoted(clip.Bytes(f.Key, keptText, "…")), value)
	}
	return json.RawMessage("{" + b.String() + "}")
}
