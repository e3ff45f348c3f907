package chat

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"strconv"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/bot/port/views"
	"ccbot/i18n"
)

// A button that only leads to a session, whatever its message shows, is a link: it carries a verb
// and the session, and needs no card. Any other button of a message is an option of a card.
const (
	openLink   = "open:" // open the session
	resumeLink = "res:"  // resume it
	retryLink  = "try:"  // try again to end what is left of one launch of it
	goOnLink   = "go:"   // go on after an interruption, in the launch that the message was about
)

// OpenButton is the button under the notice that a session has answered.
func (p Phrases) OpenButton(session uuid.UUID) outbox.Button {
	return p.Button(i18n.ButtonOpen, openLink+session.String(), outbox.Primary)
}

// ResumeButton resumes a session, or tries to end what is left of the session first. There is none
// while the session is open.
func (p Phrases) ResumeButton(r views.Session) [][]outbox.Button {
	switch {
	case r.State == views.CleanupFailed:
		return Rows(1, p.Button(i18n.ButtonRetry, retryLink+r.ID.String()+":"+LaunchOf(r), ""))
	case !r.Resumable:
		return nil
	}
	return p.EndedButton(r.ID)
}

// EndedButton is the [Resume] under the news of an end, which come before the end is in the record.
func (p Phrases) EndedButton(session uuid.UUID) [][]outbox.Button {
	return Rows(1, p.Button(i18n.ButtonResume, resumeLink+session.String(), outbox.Primary))
}

// ContinueButton has a session go on after its interruption; none where there is nothing to go on
// with.
func (p Phrases) ContinueButton(r views.Session) []outbox.Button {
	if r.Interruption == nil {
		return nil
	}
	return []outbox.Button{p.Button(i18n.ButtonContinue, goOnLink+r.ID.String()+":"+LaunchOf(r), "")}
}

// OnLink does what a link says about the session that it leads to. A link that names a launch leads
// to no other launch of the session.
func (c *Chat) OnLink(do func(ctx context.Context, t Tap, r views.Session) (Answer, error)) OnTap {
	return func(ctx context.Context, t Tap) (Answer, error) {
		if len(t.Args) == 0 || len(t.Args) > 2 {
			return c.Stale(t)
		}
		id, _ := uuid.Parse(t.Args[0]) // of other words uuid.Nil, which no session has
		r, ok := c.Book.Records.Get(id)
		if !ok || len(t.Args) == 2 && t.Args[1] != LaunchOf(r) {
			return c.Stale(t)
		}
		return do(ctx, t, r)
	}
}

// LaunchOf names the present launch of a session, in up to 14 letters: what a button offers for one
// launch is not done to a later one.
func LaunchOf(r views.Session) string { return strconv.FormatInt(r.StartedAt.UnixNano(), 36) }

// Digest is a short hash of a text: it says that something has changed.
func Digest(text string, letters int) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:letters]
}
