package answer

import (
	"context"

	"ccbot/bot/chat"
	"ccbot/port"
	"ccbot/port/talk"
)

// maxNext bounds the items between the end of a turn and the next prompt.
const maxNext = 16

// sound returns the occasion of a message that ends a turn with an item. It is empty if the agent
// already has the next prompt, or gets it as soon as it is idle: of several turns only the last one
// sounds. It is also empty if a person interrupted the turn, even if the transcript does not report
// that yet.
func (t *transcriptReader) sound(ctx context.Context, r port.Session, end talk.Item, ends chat.Occasion) chat.Occasion {
	if ends == chat.TurnDone && (t.scheduled || t.attended(ctx) || t.answers.IsNext(r, end.At) || t.answers.Stops.HasStopped(r.ID, t.prompted)) {
		return ""
	}
	return ends
}

// attended reports whether the transcript continues with a person's prompt, or with the turn's
// interrupt.
func (t *transcriptReader) attended(ctx context.Context) bool {
	ended := false
	for n := range maxNext {
		item, ok := t.peek(ctx, n)
		if !ok || item.FromPerson || item.Ends == talk.StoppedTurn && !ended {
			return ok
		}
		ended = ended || item.Ends == talk.EndedTurn
	}
	return false
}
