package chat

import (
	"strconv"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/outbox"
	"ccbot/bot/port/views"
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
