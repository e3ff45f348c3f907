package answer

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/talk"
)

const (
	// quietAfter is the silence after which a reader checks whether the turn of a session in the
	// background has ended: earlier versions of Claude Code, and terminal commands, write no end of
	// a turn.
	quietAfter = 5 * time.Second
	// quietAgain is the time between two checks while the agent works.
	quietAgain = 30 * time.Second
)

// errQuiet is returned after a silence.
var errQuiet = errors.New("nothing more for a while")

// noticeRoom bounds the words of an answer in a notice, in letters.
const noticeRoom = 60

// batch holds the items of a session in the background since its cursor. They stay unsent, and the
// cursor in place, until the end of the turn: then one notice replaces them. If the session becomes
// the current one before that, all of them are shown.
type batch struct {
	from    talk.Cursor   // the first item
	next    talk.Cursor   // after the last item; zero if the batch is empty
	line    string        // the first one of the last answer
	timeout time.Duration // until the next check whether the turn has ended
}

func (b *batch) any() bool { return b.next.Path != "" }

func (b *batch) add(item talk.Item) {
	if !b.any() {
		b.from = item.At
	}
	b.next, b.timeout = item.Next, quietAfter
	if isAnswer(item) {
		b.line = cmp.Or(firstLine(item.Text), b.line)
	}
}

// isAnswer reports whether an item has the words of an agent or of its terminal.
func isAnswer(item talk.Item) bool {
	return item.Kind == talk.Text || item.Kind == talk.LocalOutput
}

// firstLine returns an answer's first line for a notice, with the second if the first only
// announces it.
func firstLine(markdown string) string {
	beginning := render.Markdown(chat.Head(markdown, 8000)).Text // enough for a first line
	line := chat.FirstLine(beginning)
	if strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：") {
		_, rest, _ := strings.Cut(beginning, line)
		line = strings.TrimSpace(line + " " + chat.FirstLine(rest))
	}
	return chat.Head(line, 120)
}

// notify posts the notice that replaces the batch.
func (t *transcriptReader) notify(ctx context.Context, r port.Session) error {
	if !t.batch.any() {
		return nil
	}
	return t.notice(ctx, r, t.batch.next, t.answers.noticeText(r, t.batch.line))
}

// reportEnd reports the end of a turn. For a session in the background that is one line: the
// failure, the notice of the answer, or that it is done. For one shown in full, a turn without an
// answer gets a short message with a sound; a failure is shown with its item.
func (t *transcriptReader) reportEnd(ctx context.Context, r port.Session, item talk.Item, said rendition, full bool) error {
	switch {
	case full && t.batch.any():
		return errReadAgain
	case !full && len(said.parts) > 0:
		return t.notice(ctx, r, item.Next, said.parts[0].Text)
	case !full && (t.batch.any() || t.silent):
		return t.notice(ctx, r, item.Next, t.answers.noticeText(r, t.batch.line))
	case item.Kind != talk.TurnEnd:
		return nil
	}
	if t.silent {
		text := t.answers.doneText(r, "")
		err := t.answers.Chat.Post(ctx, card.Content{To: r.Conversation, Session: r.ID, Text: text, Sounds: t.answers.Chat.Sounds(t.sound(ctx, r, item, chat.TurnDone), r)})
		if err != nil {
			return err
		}
		t.silent = false // a crash before the cursor is on disk repeats nothing
	}
	return t.advance(ctx, r, item.Next)
}

// noticeText returns the line that replaces an answer; blank if the chat wants none.
func (a *Answers) noticeText(r port.Session, line string) render.Text {
	if a.Chat.Book.Settings(r.Conversation.ChatID).Reports(r.ID) == conversation.Off {
		return render.Text{}
	}
	return a.doneText(r, line)
}

func (a *Answers) doneText(r port.Session, line string) render.Text {
	p := a.Chat.In(r.Conversation)
	if line == "" {
		return p.Text(i18n.TurnDone, i18n.Args{"Name": r.Name})
	}
	return p.Text(i18n.AnswerNotice, i18n.Args{"Name": r.Name, "Said": chat.Head(line, noticeRoom)})
}

// notice posts a line in place of the items since the cursor. A crash before the next cursor is on
// disk repeats it.
func (t *transcriptReader) notice(ctx context.Context, r port.Session, next talk.Cursor, line render.Text) error {
	a := t.answers
	switch {
	case a.InFull(r):
		return errReadAgain
	case a.Sender.IsSuspended(r.Conversation.ChatID):
		return outbox.ErrBlocked
	}
	if t.batch.any() {
		if err := a.Chat.Book.NoteNoticed(r.Conversation, r.ID, t.batch.from); err != nil {
			return err
		}
	}
	err := a.Chat.Notify(ctx, card.Content{To: r.Conversation, Text: line, Session: r.ID, Rank: outbox.Later, Sounds: a.Chat.Sounds(chat.OtherDone, r),
		Options: a.Chat.In(r.Conversation).Link(i18n.ButtonOpen, chat.OpenLink, r.ID, outbox.Primary)})
	if err != nil {
		return err
	}
	t.batch, t.silent = batch{timeout: quietAfter}, false
	return t.advance(ctx, r, next)
}

// InFull reports whether everything of a session is shown: it is in a topic, is the current one, is
// in a turn whose prompt replied to one of its messages, or the chat wants everything.
func (a *Answers) InFull(r port.Session) bool {
	book := a.Chat.Book
	turn, ok := book.TurnOf(r.Conversation, r.ID)
	return book.IsInFront(r) || ok && !turn.Since.IsZero() || book.Settings(r.Conversation.ChatID).Reports(r.ID) == conversation.Full
}

// beginTurn stores when such a prompt was typed: the first end of a turn after that ends the
// prompt's turn. The answer can arrive before the proof of the prompt's receipt.
func (a *Answers) beginTurn(s port.Session, p talk.Prompt) {
	typed := a.Chat.Now()
	if p.Mark != nil {
		typed = p.Mark.At
	}
	a.logUnnoted(s.ID, a.Chat.Book.BeginTurn(s.Conversation, s.ID, p.Key, typed))
}

// endTurn stores the end of a turn, after which InFull may be false.
func (a *Answers) endTurn(r port.Session, end talk.Item) {
	a.logUnnoted(r.ID, a.Chat.Book.EndTurn(r.Conversation, r.ID, end.Time))
}

func (a *Answers) logUnnoted(id uuid.UUID, err error) {
	if err != nil {
		a.Chat.Log.Warn("turn_not_noted", logkey.SessionID, id.String(), logkey.Error, err)
	}
}
