package ask

import (
	"ccbot/bot/tool"
)

const (
	// maxKept is from where on the input of a card that is over is cut for good: its message shows
	// a few lines.
	maxKept = 16 << 10
	// keptText is what is left of each text then, in bytes.
	keptText = 1 << 10
	// drawnText is what is drawn of each text of an input that is too big anyway.
	drawnText = 8 << 10
)

// slim is a card without most of a big input. Nothing but its message is asked of it.
func slim(c Card) Card {
	if len(c.Request.Input) > maxKept {
		c.Request.Input = tool.Beginnings(c.Request.Input, keptText)
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

// bounded is a card as it is drawn: nobody waits until megabytes are laid out. What it leaves out
// is too big to be allowed here.
func bounded(c Card, text int) Card {
	if len(c.Request.Input) > maxInput {
		c.Request.Input = tool.Beginnings(c.Request.Input, text)
	}
	return c
}
