package ask

import (
	"bytes"
	"encoding/json"
	"strings"

	"ccbot/internal/exactjson"
)

const (
	// maxKept is from where on the input of a card that is over is cut for good: its message shows a few lines.
	maxKept = 16 << 10
	// keptText is what is left of each text then, in bytes.
	keptText = 1 << 10
	// drawnText is what is drawn of each text of an input that is too big anyway.
	drawnText = 8 << 10
	// maxFields is how many fields are drawn of one.
	maxFields = 64
)

// slim is a card without most of a big input. Nothing but its message is asked of it.
func slim(c Card) Card {
	if len(c.Request.Input) > maxKept {
		c.Request.Input = beginnings(c.Request.Input, keptText)
	}
	size := 0
	for _, s := range c.Request.Suggestions {
		size += len(s)
	}
	if size > maxKept {
		c.Request.Suggestions = nil
	}
	if d := c.Decision; d != nil && len(d.UpdatedInput) > maxKept {
		c = c.clone()
		c.Decision.UpdatedInput = nil
	}
	return c
}

// bounded is a card as it is drawn: nobody waits until megabytes are laid out. What it leaves out is too big to be
// allowed here.
func bounded(c Card, text int) Card {
	if len(c.Request.Input) > maxInput {
		c.Request.Input = beginnings(c.Request.Input, text)
	}
	return c
}

// beginnings is an object with the first bytes of each of its first fields. What is no text and longer becomes one.
func beginnings(object json.RawMessage, limit int) json.RawMessage {
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
		b.WriteString(quoted(beginningOf(name, limit)) + ":")
		if len(value) <= limit {
			b.Write(value)
			continue
		}
		s, isText := exactjson.Text(value)
		if !isText {
			s = string(value)
		}
		b.WriteString(quoted(beginningOf(s, limit)))
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
