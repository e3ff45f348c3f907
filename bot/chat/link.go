package chat

import (
	"context"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/outbox"
	"ccbot/bot/port/control"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
)

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

// Lead says in one place that a session is shown in a topic of its own; nothing where that is the place.
func (c *Chat) Lead(ctx context.Context, from outbox.Conversation, r views.Session, at outbox.Conversation) error {
	if from == at {
		return nil
	}
	text, seen := c.In(from).Text(i18n.TopicItsOwn, i18n.Args{"Name": r.Name}), at
	seen.ChatID, _ = c.Book.Aliases.Out(at.ChatID, 0)
	if link := linkTo(seen); link != "" {
		text = render.Link(text, link)
	}
	return c.Post(ctx, card.Look{To: from, Text: text, Session: r.ID})
}

// linkTo is the address of a topic; empty: it has none. Only topics of supergroups have one.
func linkTo(at outbox.Conversation) string {
	const supergroups = -1_000_000_000_000 // their numbers are below it
	if at.ChatID >= supergroups || at.ThreadID == 0 {
		return ""
	}
	return fmt.Sprintf("https://t.me/c/%d/%d", supergroups-at.ChatID, at.ThreadID)
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
