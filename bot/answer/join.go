package answer

import (
	"context"
	"math"
	"time"

	"ccbot/bot/port/talk"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/internal/guard"
)

// joined is one message with several texts of an agent: those that were said while the first one
// waited for its turn in the chat.
type joined struct {
	part  render.Part
	next  talk.Cursor // behind the last text
	texts int
}

// maxRich is the most bytes of a joined rich message; a message of Telegram's has some more.
const maxRich = 16 << 10

// with adds a part, where both fit one message.
func (j joined) with(p render.Part, next talk.Cursor) (joined, bool) {
	if j.part.File != nil || p.File != nil {
		return j, false
	}
	whole := render.Part{Text: render.Join(j.part.Text, render.Plain("\n\n"), p.Text)}
	if j.part.Rich != "" || p.Rich != "" {
		whole.Rich = asRich(j.part) + "\n\n" + asRich(p)
	}
	return joined{whole, next, j.texts + 1}, whole.Text.Length() <= render.Limit && len(whole.Rich) <= maxRich
}

func asRich(p render.Part) string {
	if p.Rich != "" {
		return p.Rich
	}
	return render.Literal(p.Text.Text)
}

// maxAhead is how many items are read for one joined message.
const maxAhead = 64

// savedWithin is how long a message that grows waits for its session, which may be busy with an end:
// the chat waits meanwhile. What is not saved by then goes in messages of its own.
const savedWithin = 200 * time.Millisecond

// join adds to a message the texts that follow in the transcript by now, up to a number of them, and
// gives how many items that takes. Between two texts there is nothing that the chat shows.
func (t *transcriptReader) join(ctx context.Context, r views.Session, j joined, most int, draw drawing) (all joined, items int) {
	for n := 0; j.texts < most && n < maxAhead; n++ {
		item, ok := t.peek(ctx, n)
		if !ok || endsTurn(item) {
			break
		}
		if isForeign(r, item) {
			continue
		}
		parts := draw(r, item).parts
		if len(parts) == 0 {
			continue
		}
		whole, fits := j.with(parts[0], item.Next)
		if item.Kind != talk.Text || len(parts) > 1 || !fits {
			break
		}
		j, items = whole, n+1
	}
	for _, item := range t.ahead[:items] {
		t.answers.Heard(r.ID, item)
	}
	return j, items
}

// rejoin adds the texts that were in the message when it was tried before.
func (t *transcriptReader) rejoin(ctx context.Context, r views.Session, j joined, texts int, draw drawing) joined {
	j, items := t.join(ctx, r, j, texts, draw)
	t.ahead = t.ahead[items:]
	return j
}

// grow adds what was said meanwhile, when the turn of a message has come. How many texts that are is
// on disk before the message is tried: after a crash the same ones go together again.
func (t *transcriptReader) grow(ctx context.Context, r views.Session, at talk.Cursor, j joined, draw drawing) joined {
	err := guard.Call(func() error {
		if !t.answers.InFull(r) {
			return nil
		}
		all, items := t.join(ctx, r, j, math.MaxInt, draw)
		at.Joined = all.texts
		ctx, cancel := context.WithTimeout(ctx, savedWithin)
		defer cancel()
		if items == 0 || t.answers.note(ctx, r, at) != nil {
			return nil
		}
		j, t.ahead = all, t.ahead[items:]
		return nil
	})
	if err != nil {
		t.answers.Chat.Log.Error("answers_not_joined", "session_id", r.ID.String(), "error", err.Error())
	}
	return j
}
