package answer

import (
	"context"

	"ccbot/bot/chat"
	"ccbot/port"
	"ccbot/port/talk"
)

// maxNext is how many items after the end of a turn may stand before the next prompt.
const maxNext = 16

// sound returns the occasion of a message that ends a turn with an item. It is empty if the agent has got the
// next prompt already, or gets it as soon as it is idle: of several turns in a row only the last one sounds. So is it of words
// that a person has cut short, also if the transcript does not report the interrupt yet.
func (t *transcriptReader) sound(ctx context.Context, r port.Session, end talk.Item, ends chat.Occasion) chat.Occasion {
	if ends == chat.TurnDone && (t.attended(ctx) || t.answers.Chat.IsNext(r, end.At) || t.answers.Chat.HasStopped(r.ID, t.prompted)) {
		return ""
	}
	return ends
}

// attended reports whether a prompt of a person follows in the transcript, or the interrupt of the same turn.
func (t *transcriptReader) attended(ctx context.Context) bool {
	ended := false
	for n := range maxNext {
		item, ok := t.peek(ctx, n)
		if !ok || item.Asked || item.Ends == talk.StoppedTurn && !ended {
			return ok
		}
		ended = ended || item.Ends == talk.EndedTurn
	}
	return false
}
