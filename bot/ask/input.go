package ask

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// maxDepth is how deep a tool's input is read; what lies deeper is shown as it is written, and only by [Show all].
const maxDepth = 32

// field is one member of a JSON object. Keys count exactly as they are written, as in JavaScript; a Go struct would
// take "Command" for "command".
type field struct {
	key string
	raw json.RawMessage
}

// fieldsOf are the members in their order. It is false for what is no object and for one with a key that is there
// twice: then it depends on the reader which one counts.
func fieldsOf(raw json.RawMessage) ([]field, bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	var list []field
	seen, plain := make(map[string]bool), true
	for dec.More() {
		key, err := dec.Token()
		name, ok := key.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			return list, false
		}
		plain = plain && !seen[name]
		seen[name] = true
		list = append(list, field{key: name, raw: value})
	}
	return list, plain
}

func elementsOf(raw json.RawMessage) ([]json.RawMessage, bool) {
	var list []json.RawMessage
	err := json.Unmarshal(raw, &list)
	return list, err == nil && list != nil
}

func textOf(raw json.RawMessage) (string, bool) {
	var s *string
	if json.Unmarshal(raw, &s) != nil || s == nil {
		return "", false
	}
	return *s, true
}

func isTrue(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "true" }

// odd says that something in the JSON cannot be seen when it is drawn: an invisible character, a key that is there
// twice, or what lies too deep.
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
		s, ok := textOf(raw)
		return !ok || hides(s)
	case '[':
		list, ok := elementsOf(raw)
		return !ok || slices.ContainsFunc(list, func(element json.RawMessage) bool { return odd(element, depth+1) })
	case '{':
		list, plain := fieldsOf(raw)
		return !plain || slices.ContainsFunc(list, func(f field) bool { return hides(f.key) || odd(f.raw, depth+1) })
	}
	return false // a number, true, false, null
}

// pretty is JSON for a person: one member a line, in the order in which it came, nothing escaped that need not be.
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
			s, _ := textOf(raw)
			b.WriteString(quoted(s))
			return
		case '{':
			list, _ := fieldsOf(raw)
			writeList(b, "{", "}", len(list), depth, func(i int) {
				b.WriteString(quoted(list[i].key) + ": ")
				writePretty(b, list[i].raw, depth+1)
			})
			return
		case '[':
			list, _ := elementsOf(raw)
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

func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return s // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}
