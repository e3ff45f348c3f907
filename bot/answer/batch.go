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
	if line := firstLine(item.Text); isAnswer(item) && line != "" {
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

// notify posts the notice that stands for the batch. A crash before the cursor is on disk brings
// the notice once more.
func (t *transcriptReader) notify(ctx context.Context, r views.Session) error {
	a := t.answers
	switch {
	case !t.batch.any():
		return nil
	case a.InFull(r):
		return errReadAgain
	case a.Limits.Parked(r.Conversation.ChatID):
		return outbox.ErrBlocked
	}
	if err := a.Chat.Book.NoteNoticed(r.Conversation, r.ID, t.batch.from); err != nil {
		return err
	}
	text := a.Chat.Words.Say(i18n.AnswerNotice, i18n.Args{"Name": r.Name})
	if t.batch.line != "" {
		text += "\n" + t.batch.line
	}
	err := a.Chat.PostMessage(ctx, outbox.Message{To: r.Conversation, Text: render.Plain(text), Silent: true,
		Session: r.ID, Rank: outbox.Later, Buttons: chat.Rows(1, a.Chat.OpenButton(r.ID))})
	if err != nil {
		return err
	}
	_ = a.advance(ctx, r, t.batch.next)
	t.batch = batch{patience: quietAfter}
	return nil
}

// notifyIfIdle posts the notice of the batch if the agent is idle.
func (t *transcriptReader) notifyIfIdle(ctx context.Context, r views.Session) error {
	if t.answers.InFull(r) || t.answers.Sessions.Look(ctx, r.ID).Phase == desk.Idle {
		return t.notify(ctx, r)
	}
	t.batch.patience = quietAgain
	return nil
}
