package running

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/sessions"
	"ccbot/cmd/ccbot/engine"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/show"
	"ccbot/host"
	"ccbot/internal/control"
	"ccbot/internal/each"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/refusal"
)

// Resume asks for a session.
type Resume struct {
	Session uuid.UUID `json:"session"`
}

// Resumed is a session that came back.
type Resumed struct {
	ID     uuid.UUID `json:"id"`
	Name   string    `json:"name"`
	Dir    string    `json:"dir"`
	Attach string    `json:"attach"`          // the command that shows it
	Ended  []string  `json:"ended,omitempty"` // the processes of its earlier life that were ended
	Chat   string    `json:"chat,omitempty"`  // the present place of its chat
}

// Resuming brings a session back.
var Resuming = Change[Resume, Resumed]{Verb: "resume",
	do: func(ctx context.Context, s *system, body Resume) (Resumed, error) { return s.resume(ctx, body.Session) }}

// resume brings a session back. If the chat and this verb want the same session at the same time,
// the worker of its record lets only one of them through.
func (s *system) resume(ctx context.Context, id uuid.UUID) (Resumed, error) {
	if id == uuid.Nil {
		return Resumed{}, control.Refuse(control.CodeMalformed, "not the id of a session")
	}
	r, known := s.Store.Get(id)
	if !known {
		return Resumed{}, errForgotten
	}
	back, err := engine.BringBack(ctx, s.Config, s.Lifecycle, r)
	now := back.Record
	if now.ID == uuid.Nil {
		now = r
	}
	if err != nil {
		shown := host.View(s.Coding, now)
		shown.Attach = s.Lifecycle.Attach(now)
		return Resumed{}, notResumed(s.english(), shown, s.Sessions.Refused(err))
	}
	done := Resumed{ID: now.ID, Name: now.Name, Dir: now.Dir, Attach: s.Lifecycle.Attach(now), Chat: s.reportResumed(ctx, now.ID)}
	done.Ended = each.As(back.Ended, show.EndingText)
	return done, nil
}

// ChosenByHand is the place of a session that is not the current one of a chat.
const ChosenByHand = "in the chat, choose it with /list"

// reportResumed reports to the chat that a session is back, even if the caller is gone, and returns
// where the session's texts go. The session stays back if the report fails.
func (s *system) reportResumed(ctx context.Context, id uuid.UUID) string {
	ctx, done := s.Lasting(ctx)
	defer done()
	current, err := sessions.CLI{Sessions: s.bot.Resumer}.Resumed(ctx, id)
	switch {
	case err != nil:
		s.Log.Error("comeback_not_told", logkey.SessionID, id.String(), logkey.Error, err)
		return ChosenByHand
	case current.ID == uuid.Nil:
		return ChosenByHand
	case current.ID != id:
		return fmt.Sprintf("in its chat %s stays the current one, /list there switches", current.Name)
	}
	return "it continues in its chat"
}

// offered are the refusals about which the chat asks what to do.
var offered = []refusal.Code{refusal.Writers, refusal.DirMissing, refusal.DirNotADir, refusal.DirNoAccess, refusal.NothingLeft,
	refusal.Deleted, refusal.Damaged}

// notResumed is the chat's sentence for a session that did not come back, and where a choice can be
// made.
func notResumed(p chat.Phrases, r port.Session, err error) error {
	if slices.Contains(offered, refusal.In(err).Code) {
		return control.Refuse(control.CodeRefused, fmt.Sprintf("%s\nChoose in the chat: /resume %s", p.Failure(r, err).Text.Text, r.Name))
	}
	return offline.ChatError(p, r, err)
}
