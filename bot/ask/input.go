package ask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ccbot/internal/clip"
	"ccbot/internal/exactjson"
	"ccbot/internal/glyph"
)

// maxDepth is how deep a tool's input is read; what lies deeper is shown only by [Show all].
const maxDepth = 32

// take gives the field to use and leaves it out if use took it.
func take(list []exactjson.Member, key string, use func(json.RawMessage) bool) []exactjson.Member {
	for i, f := range list {
		if f.Key == key && use(f.Value) {
			return append(list[:i:i], list[i+1:]...)
		}
	}
	return list
}

// textTo takes a text.
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

// odd says that something in the JSON cannot be seen when it is drawn: an invisible character, a
// key that is there twice, or what lies too deep.
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

// escapes are those of JSON texts.
var escapes = regexp.MustCompile(`\\(u00(3c|3e|26)|.)`)

// compact is JSON in one line, without the escapes that only web pages need.
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

// quoted is a text as JSON writes it, for a person.
func quoted(s string) string {
	data, _ := json.Marshal(s) // a string always encodes
	return compact(data)
}

// What is left of an input that is too big: of its first fields the first bytes.
const (
	maxFields = 64
	keptText  = 2 << 10
)

// beginnings is an object with the beginnings of its first fields. What is no text and longer
// becomes one.
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
