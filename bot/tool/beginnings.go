package tool

import (
	"bytes"
	"encoding/json"
	"strings"

	"ccbot/internal/exactjson"
)

// maxFields is how many fields are kept of an object by Beginnings.
const maxFields = 64

// Beginnings is an object with the first bytes of each of its first fields. What is no text and
// longer becomes one.
func Beginnings(object json.RawMessage, limit int) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(object))
	var b strings.Builder
	b.WriteString("{")
	_, err := dec.Token()
	for i := 0; err == nil && dec.More() && i < maxFields; i++ {
		key, _ := dec.Token()
		name, ok := key.(string)
		var value json.RawMessage
		if err = dec.Decode(&value); err != nil || !ok {
			break
		}
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(Quoted(beginningOf(name, limit)) + ":")
		if len(value) <= limit {
			b.Write(value)
			continue
		}
		s, isText := exactjson.Text(value)
		if !isText {
			s = string(value)
		}
		b.WriteString(Quoted(beginningOf(s, limit)))
	}
	b.WriteString("}")
	return json.RawMessage(b.String())
}

func beginningOf(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
