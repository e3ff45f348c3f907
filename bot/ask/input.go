package ask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ccbot/internal/exactjson"
	"ccbot/internal/glyph"
)

// maxDepth is how deep a tool's input is read; what lies deeper is shown as it is written, and only
// by [Show all].
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
func odd(raw json.RawMessage) bool { return oddAt(raw, 0) }

func oddAt(raw json.RawMessage, depth int) bool {
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
		return !ok || slices.ContainsFunc(list, func(element json.RawMessage) bool { return oddAt(element, depth+1) })
	case '{':
		list, plain := exactjson.Members(raw)
		return !plain || slices.ContainsFunc(list, func(f exactjson.Member) bool { return glyph.Hides(f.Key) || oddAt(f.Value, depth+1) })
	}
	return false // a number, true, false, null
}

// pretty is JSON for a person: one member a line, in the order in which it came, nothing escaped
// that need not be.
func pretty(raw json.RawMessage) string {
	var b strings.Builder
	writePretty(&b, raw, 0)
	return b.String()
}

func writePretty(b *strings.Builder, raw json.RawMessage, depth int) {
	raw = bytes.TrimSpace(raw)
	if depth <= maxDepth && len(raw) > 0 {
		switch raw[0] {
		case '"':
			s, _ := exactjson.Text(raw)
			b.WriteString(quoted(s))
			return
		case '{':
			list, _ := exactjson.Members(raw)
			writeList(b, "{", "}", len(list), depth, func(i int) {
				b.WriteString(quoted(list[i].Key) + ": ")
				writePretty(b, list[i].Value, depth+1)
			})
			return
		case '[':
			list, _ := exactjson.Elements(raw)
			writeList(b, "[", "]", len(list), depth, func(i int) { writePretty(b, list[i], depth+1) })
			return
		}
	}
	b.Write(raw)
}

func writeList(b *strings.Builder, begin, end string, n, depth int, item func(int)) {
	b.WriteString(begin)
	for i := range n {
		b.WriteString("\n" + strings.Repeat("  ", depth+1))
		item(i)
		if i < n-1 {
			b.WriteString(",")
		}
	}
	if n > 0 {
		b.WriteString("\n" + strings.Repeat("  ", depth))
	}
	b.WriteString(end)
}

// quoted is a text as JSON writes it, for a person.
func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return s // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
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
			value = quoted(beginning(s))
		}
		fmt.Fprintf(&b, "%s%s:%s", ","[:min(i, 1)], quoted(beginning(f.Key)), value)
	}
	return json.RawMessage("{" + b.String() + "}")
}

func beginning(s string) string {
	if len(s) <= keptText {
		return s
	}
	return strings.ToValidUTF8(s[:keptText], "") + "…"
}
