package answer

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/internal/guard"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/talk"
)

// errPanic is returned after a panic at an item, which has been logged.
var errPanic = errors.New("panic")

// drawing renders an item for the chat.
type drawing func(r port.Session, item talk.Item) rendition

// attempt calls show. If show panics and the item has words, attempt calls it again with the words
// unrendered. prompted is when the turn of the item began.
func (a *Answers) attempt(ctx context.Context, id uuid.UUID, prompted time.Time, words bool, show func(draw drawing) error) error {
	rendered := func(r port.Session, item talk.Item) rendition { return a.rendered(ctx, r, prompted, item) }
	for _, draw := range []drawing{rendered, unrendered} {
		err := guard.Call(func() error { return show(draw) })
		p, crashed := errors.AsType[*guard.Panic](err)
		if !crashed {
			return err
		}
		a.logCrash(id, p)
		if !words {
			break
		}
	}
	return errPanic
}

// take handles one item of a transcript. A bad item must not end the bot or block the items after
// it: if even its unrendered words cannot be sent, a notice replaces it, after the notice of the
// batch.
func (t *transcriptReader) take(ctx context.Context, r port.Session, item talk.Item) error {
	a, from, ahead := t.answers, t.from, t.ahead
	again := func() { t.from, t.ahead = from, ahead } // show may have taken the items after this one
	show := func(draw drawing) error {
		again()
		return t.show(ctx, r, item, draw)
	}
	err := a.attempt(ctx, r.ID, t.prompted, isAnswer(item), show)
	if !errors.Is(err, errPanic) {
		return err
	}
	again()
	if err := t.notify(ctx, r); err != nil {
		return err
	}
	if err := a.postMarker(ctx, r); err != nil {
		return err
	}
	return t.advance(ctx, r, item.Next)
}

// show sends an item, adds it to the batch, or skips it. An output always ends in its message,
// regardless of the session's other items.
func (t *transcriptReader) show(ctx context.Context, r port.Session, item talk.Item, draw drawing) (err error) {
	a := t.answers
	a.OnItem(r.ID, item)
	var said rendition
	if !isForeign(r, item) {
		said = draw(r, item)
		t.unanswered, t.awaited = t.unanswered || item.FromPerson, t.awaited || item.FromPerson
	}
	begun, finished := item.At.Part > 0 && said.counts(item.At), false
	if item.Kind == talk.LocalOutput && len(said.parts) > 0 && !begun {
		if finished, err = a.Outputs.Finish(ctx, r, item, said.parts[0]); err != nil {
			return err
		}
	}
	t.note(r, item)
	if item.Kind == talk.Interrupt && len(said.parts) > 0 {
		shown, err := a.Stops.Stopped(ctx, r, r.Conversation, chat.Stop{At: item.Time, Turn: true})
		if err != nil {
			return err
		}
		if shown {
			said = rendition{}
		}
	}
	if item.Ends != "" {
		full := a.InFull(r)
		err := t.reportEnd(ctx, r, item, said, full)
		if err != nil && !errors.Is(err, errUnsaved) {
			return err
		}
		a.endTurn(r, item) // also if only its cursor waits: the item does not come again
		if !full || err != nil {
			return err
		}
	}
	switch {
	case len(said.parts) == 0 && (item.Kind == talk.ToolUse || item.Kind == talk.Thinking):
		if a.Signs(r.Conversation) {
			a.Chat.Sender.Typing(ctx, r.Conversation)
		}
	case len(said.parts) == 0:
	case !begun && !a.InFull(r): // it waits; otherwise the items before it would have to be sent
		t.batch.add(item)
	case t.batch.any(): // the session is now shown in full
		return errReadAgain
	default:
		if !begun && item.Kind == talk.Text && len(said.parts) == 1 && item.At.Joined <= 1 {
			if finished, err = t.explains(ctx, r, said.parts[0]); err != nil {
				return err
			}
		}
		return t.send(ctx, r, item, said, finished, draw)
	}
	return nil
}

// explains reports whether the request for the next call shows a text.
func (t *transcriptReader) explains(ctx context.Context, r port.Session, p render.Part) (bool, error) {
	isLink := func(e models.MessageEntity) bool { return e.Type == models.MessageEntityTypeTextLink } // its words are not all of it
	call, ok := t.peek(ctx, 0)
	if !ok || call.Kind != talk.ToolUse || call.Tool == nil || call.Sidechain || p.File != nil || slices.ContainsFunc(p.Text.Entities, isLink) {
		return false, nil
	}
	if after, more := t.peek(ctx, 1); more && after.Kind != talk.ToolUse { // the call has ended, and the request may be another call's
		return false, nil
	}
	return t.answers.Explain(ctx, r.Conversation, r.ID, call.Tool.Name, p.Text.Text)
}

// endedBy returns the occasion of an item that ends a turn with a sound, or "".
func endedBy(item talk.Item) chat.Occasion {
	switch {
	case item.Failed.Phase != "":
		return chat.AgentFailed
	case item.Kind == talk.APIError, item.Kind == talk.Text && item.Last, item.Kind == talk.LocalOutput && !isBash(item):
		return chat.TurnDone
	}
	return ""
}

// note stores that a turn runs, and the time of its prompt. Sounds before a restart are unknown, so
// an end without any other item of its turn is silent.
func (t *transcriptReader) note(r port.Session, item talk.Item) {
	switch {
	case isForeign(r, item):
	case item.Kind == talk.Interrupt: // a person interrupted it
		t.silent = false
	case item.Kind == talk.UserPrompt:
		t.silent, t.scheduled, t.prompted = true, false, item.Time
	case item.Kind == talk.LocalCommand:
		t.scheduled = false
	case item.Kind == talk.ScheduleFired:
		t.silent, t.scheduled = true, true
	case item.Kind == talk.ToolUse, item.Kind == talk.Text, isBash(item):
		t.silent = true
	}
}

// isBash reports whether an item is the output of a bash mode command: the agent reads it, and the
// turn continues.
func isBash(item talk.Item) bool { return item.Kind == talk.LocalOutput && item.Bash != "" }

// outgoing returns a part for the chat; ends is set if its turn ends with it. People wait for the first
// answer to a prompt and for the last one, which may come after a permission.
func (t *transcriptReader) outgoing(r port.Session, p render.Part, ends chat.Occasion) outgoingPart {
	l := outgoingPart{session: r, part: p, rank: outbox.Talk}
	if t.unanswered || t.awaited && ends != "" {
		l.rank = outbox.Answer
	}
	return l
}

// send sends an item part by part; finished reports whether the chat has the first part. The cursor
// counts the sent parts, unless their form has changed, or there are fewer now. The next part waits
// until the cursor is on disk.
func (t *transcriptReader) send(ctx context.Context, r port.Session, item talk.Item, said rendition,
	finished bool, draw drawing) error {
	a, from := t.answers, item.At.Part
	if !said.counts(item.At) {
		from = 0
	}
	ends := endedBy(item)
	if item.Kind == talk.LocalOutput && ends == chat.TurnDone && t.silent {
		ends = "" // a notice during a turn, which goes on
	}
	var unsaved error
	for i := from; i < len(said.parts); i++ {
		p, next := said.parts[i], item.Next
		if i == 0 && isAnswer(item) {
			p = headed(a.Heading(r), p)
		}
		if i < len(said.parts)-1 {
			next = item.At
			next.Part, next.Form = i+1, said.form
		}
		var err error
		switch {
		case i == 0 && finished:
		case item.Kind == talk.Text && len(said.parts) == 1 && said.parts[0].File == nil:
			next, err = t.sendJoined(ctx, r, joined{}.with(item, p), draw)
		default:
			l := t.outgoing(r, p, ends)
			l.next = next
			if i == 0 {
				l.ends = t.sound(ctx, r, item, ends)
			}
			if isAnswer(item) {
				l.written = item.Time
			}
			err = a.deliver(ctx, l)
		}
		if err != nil {
			return err
		}
		t.unanswered = false
		a.Chat.At("part-shown")
		if unsaved = t.advance(ctx, r, next); unsaved != nil && i < len(said.parts)-1 {
			return unsaved
		}
	}
	t.silent, t.awaited = t.silent && ends == "", t.awaited && ends == ""
	if !isAnswer(item) {
		return unsaved
	}
	if err := a.Chat.Book.NoteShown(r.Conversation, r.ID, item.At); err != nil { // it is shown again when opened
		a.Chat.Log.Warn("chat_not_saved", logkey.SessionID, r.ID.String(), logkey.Error, err)
	}
	return unsaved
}
