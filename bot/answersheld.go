package bot

import (
	"context"
	"errors"
	"strings"
	"time"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle"
)

const (
	// settleAfter is how long a session that is not the current one has been silent
	// when it is looked at whether its turn is over: earlier versions of Claude Code,
	// and commands of the terminal, write no end of a turn.
	settleAfter = 5 * time.Second
	// settleAgain is the time between two of these looks while the agent works.
	settleAgain = 30 * time.Second
)

// errQuiet says that nothing was written for a while.
var errQuiet = errors.New("nothing more for a while")

// held is what a session that is not the current one has said since its cursor.
// It stays unsent, and the cursor where it is, until the end of the turn: then one
// notice counts as the answer. If the session becomes the current one before
// that, all of it is shown.
type held struct {
	from     transcript.Cursor // the first of it
	next     transcript.Cursor // behind the last of it; the zero value: there is none
	line     string            // the first one of the last answer
	patience time.Duration     // until the next look whether the turn is over
}

func (h *held) any() bool { return h.next.Path != "" }

func (h *held) add(item transcript.Item, patience time.Duration) {
	if !h.any() {
		h.from = item.At
	}
	h.next, h.patience = item.Next, patience
	if !isAnswer(item) {
		return
	}
	if line := firstLine(item.Text); line != "" {
		h.line = line
	}
}

// isAnswer says whether an item is in an agent's words, or its terminal's.
func isAnswer(item transcript.Item) bool {
	return item.Kind == transcript.Text || item.Kind == transcript.LocalOutput
}

// lineLimit is how much of an answer's first line a notice shows, in letters.
const lineLimit = 120

// firstLine is the first line of an answer as a notice shows it.
func firstLine(markdown string) string {
	const enough = 8 << 10 // bytes: what is longer needs no more to have a first line
	text := render.Markdown(strings.ToValidUTF8(markdown[:min(len(markdown), enough)], "")).Text
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(chat.Visible(line)); !render.Plain(line).Blank() {
			return chat.Head(line, lineLimit)
		}
	}
	return ""
}

// holds says whether an item waits for the end of its turn: whatever the chat would
// show of it, else that dams what is held before it. What ends a turn does not wait,
// and one of which the chat has a part already is shown to its end.
func (p *passage) holds(r session.Record, item transcript.Item, said said) bool {
	begun := item.At.Part > 0 && said.counts(item.At)
	return len(said.parts) > 0 && !begun && !endsTurn(item) && !p.shownInFull(r)
}

// conclude ends what is held with its notice. A crash before the cursor is on disk
// brings the notice once more.
func (p *passage) conclude(ctx context.Context) error {
	if !p.held.any() {
		return nil
	}
	r, ok := p.Records.Get(p.id)
	switch {
	case !ok || !p.MayShow(r.Conversation):
		return nil
	case p.shownInFull(r):
		return errAgain
	case p.Sender.Parked(r.Conversation.ChatID):
		return outbox.ErrBlocked
	}
	if err := p.Chats.NoteNoticed(r.Conversation, p.id, p.held.from); err != nil {
		return err
	}
	if err := p.PostMessage(ctx, p.notice(r)); err != nil {
		return err
	}
	p.advance(ctx, p.id, p.held.next)
	p.held = held{patience: p.settle}
	return nil
}

// notice says that a session which is not the current one has answered.
func (p *passage) notice(r session.Record) outbox.Message {
	text := render.Plain(p.words.Say(i18n.AnswerNotice, i18n.Args{"Name": r.Name}))
	if p.held.line != "" {
		text = render.Join(text, render.Plain("\n"+p.held.line))
	}
	return outbox.Message{To: r.Conversation, Text: text, Silent: true, Session: r.ID, Rank: outbox.Later,
		Buttons: chat.Rows(1, p.Button(i18n.ButtonOpen, "cur:"+chat.Ref(r.ID)+":"+fromNotice, outbox.Primary))}
}

// fromNotice is the word in a button that stands under a notice, not in the list.
const fromNotice = chat.FromNotice

// next is the follower's next item. While something is held it is errQuiet after a
// silence.
func (p *passage) next(waiting context.Context, f *transcript.Follower) (transcript.Item, error) {
	if !p.held.any() {
		return f.Next(waiting)
	}
	ctx, cancel := context.WithTimeoutCause(waiting, p.held.patience, errQuiet)
	defer cancel()
	item, err := f.Next(ctx)
	if err != nil && waiting.Err() == nil && ctx.Err() != nil {
		return transcript.Item{}, context.Cause(ctx)
	}
	return item, err
}

// lookQuiet ends what is held if the agent is idle.
func (p *passage) lookQuiet(ctx context.Context) error {
	r, ok := p.Records.Get(p.id)
	if !ok {
		return nil
	}
	if p.shownInFull(r) {
		return errAgain
	}
	if p.Sessions.Look(ctx, r).Phase == lifecycle.PhaseIdle {
		return p.conclude(ctx)
	}
	p.held.patience = max(p.settle, settleAgain)
	return nil
}
