package answer

import (
	"context"
	"errors"
	"strings"
	"time"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/talk"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
)

const (
	// quietAfter is how long a session that is not the current one has been silent when a reader
	// looks whether the session's turn is over: earlier versions of Claude Code, and commands of
	// the terminal, write no end of a turn.
	quietAfter = 5 * time.Second
	// quietAgain is the time between two of these looks while the agent works.
	quietAgain = 30 * time.Second
)

// errQuiet says that nothing was written for a while.
var errQuiet = errors.New("nothing more for a while")

// batch is what a session that is not the current one has said since its cursor. The batch stays
// unsent, and the cursor where it is, until the end of the turn: then one notice stands for the
// answer. If the session becomes the current one before that, all of the batch is shown.
type batch struct {
	from     talk.Cursor   // the first item
	next     talk.Cursor   // behind the last item; the zero value: there is none
	line     string        // the first one of the last answer
	patience time.Duration // until the next look whether the turn is over
}

func (b *batch) any() bool { return b.next.Path != "" }

func (b *batch) add(item talk.Item) {
	if !b.any() {
		b.from = item.At
	}
	b.next, b.patience = item.Next, quietAfter
	if !isAnswer(item) {
		return
	}
	if line := firstLine(item.Text); line != "" {
		b.line = line
	}
}

// isAnswer reports whether an item is in an agent's words, or its terminal's.
func isAnswer(item talk.Item) bool {
	return item.Kind == talk.Text || item.Kind == talk.LocalOutput
}

// lineLimit is how much of an answer's first line a notice shows, in letters.
const lineLimit = 120

// firstLine is the first line of an answer as a notice shows the line.
func firstLine(markdown string) string {
	const enough = 8 << 10 // bytes: a longer text needs no more to have a first line
	text := render.Markdown(strings.ToValidUTF8(markdown[:min(len(markdown), enough)], "")).Text
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(chat.Visible(line)); !render.Plain(line).Blank() {
			return chat.Head(line, lineLimit)
		}
	}
	return ""
}

// waits reports whether an item waits in the batch for the end of its turn: all that the chat would
// show of a session that is not shown in full, or the items before it would have to go first. What
// ends a turn does not wait, and an item of which the chat has a part already is shown to its end.
func (t *transcriptReader) waits(r views.Session, item talk.Item, said rendition) bool {
	begun := item.At.Part > 0 && said.counts(item.At)
	return len(said.parts) > 0 && !begun && !endsTurn(item) && !t.answers.InFull(r)
}

// notify posts the notice that stands for the batch. A crash before the cursor is on disk brings
// the notice once more.
func (t *transcriptReader) notify(ctx context.Context) error {
	if !t.batch.any() {
		return nil
	}
	a := t.answers
	r, ok := a.Chat.Book.Records.Get(t.id)
	switch {
	case !ok || !a.Chat.Book.MayShow(r.Conversation):
		return nil
	case a.InFull(r):
		return errReadAgain
	case a.Limits.Parked(r.Conversation.ChatID):
		return outbox.ErrBlocked
	}
	if err := a.Chat.Book.NoteNoticed(r.Conversation, t.id, t.batch.from); err != nil {
		return err
	}
	text := render.Plain(a.Chat.Words.Say(i18n.AnswerNotice, i18n.Args{"Name": r.Name}))
	if t.batch.line != "" {
		text = render.Join(text, render.Plain("\n"+t.batch.line))
	}
	err := a.Chat.PostMessage(ctx, outbox.Message{To: r.Conversation, Text: text, Silent: true,
		Session: r.ID, Rank: outbox.Later, Buttons: chat.Rows(1, a.Chat.OpenButton(r.ID))})
	if err != nil {
		return err
	}
	a.advance(ctx, t.id, t.batch.next)
	t.batch = batch{patience: quietAfter}
	return nil
}

// next is the stream's next item. While there is a batch it is errQuiet after a silence.
func (t *transcriptReader) next(waiting context.Context, stream talk.Stream) (talk.Item, error) {
	if !t.batch.any() {
		return stream.Next(waiting)
	}
	ctx, cancel := context.WithTimeoutCause(waiting, t.batch.patience, errQuiet)
	defer cancel()
	item, err := stream.Next(ctx)
	if err != nil && waiting.Err() == nil && ctx.Err() != nil {
		return talk.Item{}, context.Cause(ctx)
	}
	return item, err
}

// notifyIfIdle posts the notice of the batch if the agent is idle.
func (t *transcriptReader) notifyIfIdle(ctx context.Context) error {
	r, ok := t.answers.Chat.Book.Records.Get(t.id)
	if !ok {
		return nil
	}
	if t.answers.InFull(r) {
		return errReadAgain
	}
	if t.answers.Sessions.Look(ctx, r.ID).Phase == desk.Idle {
		return t.notify(ctx)
	}
	t.batch.patience = quietAgain
	return nil
}
