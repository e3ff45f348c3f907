package chat

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/outbox"
	"ccbot/bot/port/control"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// Cards are the cards of one kind, each with a payload that says what its message shows.
type Cards[P any] struct {
	card.Kind[P]
	chat *Chat
}

// NewCards gives the cards of a kind.
func NewCards[P any](c *Chat, kind string) Cards[P] {
	return Cards[P]{card.NewKind[P](c.Cards, kind, nil), c}
}

// Asking says that the cards are questions: see card.Kind.Asking.
func (k Cards[P]) Asking() Cards[P] { k.Kind.Asking(); return k }

// Waiting says that a session waits for the answers: see card.Kind.Waiting.
func (k Cards[P]) Waiting() Cards[P] { k.Kind.Waiting(); return k }

// Post posts a text with options as a card of its own; the options stand under the last part of a
// long text. A text without options is posted as by Chat.Post.
func (k Cards[P]) Post(ctx context.Context, l card.Look, payload P) error {
	parts := l.Text.Split(render.Limit)
	if l.Options = card.Filled(l.Options); len(l.Options) == 0 || len(parts) == 0 || !k.chat.Book.MayShow(l.To) {
		return k.chat.post(ctx, l)
	}
	last := len(parts) - 1
	above := l
	above.Text = render.Join(parts[:last]...) // in one piece: a retry repeats that at most
	if err := k.chat.post(ctx, above); err != nil {
		return err
	}
	l.Text, l.Sounds = parts[last], l.Sounds && above.Text.Blank()
	return k.Kind.Post(ctx, l, payload)
}

// OnTap does what an option of a card says, with what the message showed. A tap on [Cancel] ends the card.
func (k Cards[P]) OnTap(do func(ctx context.Context, t Tap, was P) (Answer, error)) OnTap {
	return func(ctx context.Context, t Tap) (Answer, error) {
		if t.Card.Option == cancelOption {
			return Answer{}, k.End(ctx, t, k.chat.In(t.To).Say(i18n.Cancelled))
		}
		was, err := k.Payload(t.Card)
		if err != nil {
			return Answer{}, err
		}
		return do(ctx, t, was)
	}
}

// End closes the tapped card, with a last text unless that is empty.
func (k Cards[P]) End(ctx context.Context, t Tap, last string) error {
	return k.Close(ctx, t.Card.Key, render.Plain(last))
}

// Over answers a tap on a card whose time has passed, and closes the card.
func (k Cards[P]) Over(ctx context.Context, t Tap) (Answer, error) {
	return Answer{Text: k.chat.In(t.To).Say(i18n.StaleButton)}, k.End(ctx, t, "")
}

// Option is one option of a card: its word, and the value that a tap brings back.
func (p Phrases) Option(word i18n.Key, value string, style outbox.Style) card.Option {
	return card.Option{Text: p.Words.Say(word), Value: value, Style: style}
}

const cancelOption = "cancel"

// Cancel takes a question back; only the person who was asked may.
func (p Phrases) Cancel(asked int64) card.Option {
	return card.Option{Text: p.Words.Say(i18n.ButtonCancel), Value: cancelOption, For: asked}
}

// Confirm are the options of a question that only the person who was asked may answer.
func (p Phrases) Confirm(word i18n.Key, value string, asked int64) [][]card.Option {
	yes := p.Option(word, value, outbox.Danger)
	yes.For = asked
	return [][]card.Option{{yes, p.Cancel(asked)}}
}

// A link is an option that leads to a session, whatever its message shows. Package sessions does what
// it says, whichever feature has posted it (Follow in list.go). Its value is a word, a colon and the
// session's id; that of RetryLink and GoOnLink goes on with a colon and the launch.
const (
	OpenLink   = "open"   // open the session
	ResumeLink = "resume" // resume it
	UndoLink   = "undo"   // resume it, beside the current session
	RetryLink  = "retry"  // try again to end what is left of one launch of it
	GoOnLink   = "go"     // go on after an interruption, in the launch that the message was about
)

// The kinds of the cards whose options are links. Notices of answers are many: they take the options
// of no other message away.
const (
	LinkKind   = "link"
	NoticeKind = "notice"
)

// Link is a link with a word.
func (p Phrases) Link(word i18n.Key, what string, session uuid.UUID, style outbox.Style) [][]card.Option {
	return Rows(1, p.Option(word, what+":"+session.String(), style))
}

// ResumeLink resumes a session, or tries to end what is left of the session first. There is none
// while the session is open.
func (p Phrases) ResumeLink(r views.Session) [][]card.Option {
	switch {
	case r.State == views.CleanupFailed:
		return Rows(1, card.Option{Text: p.Words.Say(i18n.ButtonRetry), Value: OfLaunch(RetryLink, r)})
	case !r.Resumable:
		return nil
	}
	return p.EndedLink(r.ID)
}

// EndedLink is the [Resume] under the news of an end, which come before the end is in the record.
func (p Phrases) EndedLink(session uuid.UUID) [][]card.Option {
	return p.Link(i18n.ButtonResume, ResumeLink, session, outbox.Primary)
}

// OfLaunch is the value of a link about the present launch of a session: it leads to no later one.
func OfLaunch(what string, r views.Session) string {
	return what + ":" + r.ID.String() + ":" + strconv.FormatInt(r.StartedAt.UnixNano(), 36)
}

// Resume is a session that somebody wants back, and how.
type Resume struct {
	Session views.Session
	Dir     string // another directory than the session's own; empty: the session's own
	Damaged control.Damaged
	To      outbox.Conversation // where the outcome is told, and the session is shown
	From    int64               // the person who may cancel what the resume asks
	Before  render.Text         // lines above the outcome: what was done before the resume
	Undo    bool                // another session that is current stays the current one
	Many    bool                // one of several: one message has said that all of them come back
}

// Restore is the resume as the agents' machine carries it out, and as a card keeps it for a button.
func (q Resume) Restore() control.Restore {
	return control.Restore{Session: q.Session.ID, Dir: q.Dir, Damaged: q.Damaged}
}

// Accepted is the resume that a person has tapped; false where the session is not known any more.
// Of a conversation that another session goes on with, that other session is wanted.
func (c *Chat) Accepted(o control.Restore, t Tap) (Resume, bool) {
	r, ok := c.Book.Records.Get(o.Session)
	return Resume{Session: c.Book.Successor(r), Dir: o.Dir, Damaged: o.Damaged, To: t.To, From: t.From}, ok
}
