package chat

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// Failure is what a person is told of an error; the log has the chain.
type Failure struct {
	Text     render.Text
	Buttons  [][]outbox.Button // what can be done
	Err      error
	Internal bool      // only the log can say more
	Session  uuid.UUID // whose failure it is
}

// Internal is the failure that a person cannot do anything about.
func (p Phrases) Internal(err error) Failure {
	return Failure{Text: render.Plain(p.Words.Say(i18n.InternalError)), Err: err, Internal: true}
}

// refusals are the sentences for what the agent's machine refuses, whatever was asked for. What a
// room says in other words it looks up first.
var refusals = map[refusal.Code]i18n.Key{
	refusal.DirMissing:  i18n.PathMissing,
	refusal.DirNotADir:  i18n.PathNotDir,
	refusal.DirNoAccess: i18n.PathUnreadable,
	refusal.DirOutside:  i18n.PathNotAllowed,
	refusal.NoTmux:      i18n.TmuxMissing,
	refusal.NoClaude:    i18n.ClaudeMissing,
	refusal.NoTerminal:  i18n.FootAdoptElsewhere,
	refusal.Changed:     i18n.WritersChanged,
}

// sessionRefusals are the sentences that name the session; they come first where there is one.
var sessionRefusals = map[refusal.Code]i18n.Key{
	refusal.NotFound:    i18n.NoSuchSession,
	refusal.NoAgent:     i18n.AlreadyEnded,
	refusal.WrongState:  i18n.AlreadyEnded,
	refusal.Moved:       i18n.AlreadyEnded,
	refusal.Guarded:     i18n.StopRefused,
	refusal.BoxBusy:     i18n.BoxBusy,
	refusal.DraftHidden: i18n.DraftHidden,
	refusal.NoDialog:    i18n.KeysNoDialog,
	refusal.Relayed:     i18n.KeysRelayed,
	refusal.Unseen:      i18n.KeysUnseen,
	refusal.Idle:        i18n.StopNothing,
	refusal.Asks:        i18n.StopAsks,
	refusal.StillWorks:  i18n.StopStillWorks,
	refusal.DirMissing:  i18n.DirGone,
	refusal.DirNotADir:  i18n.DirNotADir,
	refusal.DirNoAccess: i18n.DirNoAccess,
	refusal.Damaged:     i18n.TranscriptDamaged,
	refusal.NothingLeft: i18n.TranscriptEmpty,
}

// Failure explains why something could not be done for a session; the zero session: for none, so no
// sentence names one.
func (p Phrases) Failure(s views.Session, err error) Failure {
	e := refusal.In(err)
	f := Failure{Err: err, Session: s.ID}
	word, known := sessionRefusals[e.Code]
	if !known || s.ID == uuid.Nil {
		word, known = refusals[e.Code]
	}
	if known && e.State == views.Stopping {
		word = i18n.StillEnding
	}
	var faults []string
	for _, fault := range e.Faults {
		faults = append(faults, p.Words.Say(i18n.FaultKey(fault)))
	}
	dir := p.Short(e.Dir)
	switch {
	case known && e.State == views.CleanupFailed:
		f.Text, f.Buttons = render.Plain(p.NotCleanText(s)), p.ResumeButton(s)
	case e.Code == refusal.Writers:
		f.Text = p.unsure(e.Writers)
	case e.Code == refusal.NoEvidence:
		f.Text, f.Internal = render.Plain(p.Words.Say(i18n.NoEvidence)), true
	case !known:
		f = p.Internal(err)
		f.Session = s.ID
	default:
		text := p.Words.Say(word, i18n.Args{"Name": s.Name, "Path": dir, "Dir": dir, "Reason": e.Reason,
			"Roots": strings.Join(p.Places.Bounds().Roots, ", "), "Details": strings.Join(faults, "; "),
			"Command": cmp.Or(e.Command, p.Attach(s.ID))})
		f.Text = Marked(text, dir)
	}
	return f
}

// IsGone reports whether an error says that a prompt or a session is not there any more, or not in
// the state that something was decided about.
func IsGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, inbox.ErrNoEntry) || refusal.Is(err, refusal.NotFound)
}

// Explain tells a failure. The update is handled with that.
func (c *Chat) Explain(ctx context.Context, to outbox.Conversation, f Failure) error {
	level := slog.LevelInfo // a refusal that the person understands
	if f.Internal {
		level = slog.LevelError
	}
	c.Log.Log(ctx, level, "request_refused", "error", f.Err.Error())
	return c.For(f.Session).Post(ctx, to, f.Text, f.Buttons)
}

// IsRefused reports whether Telegram will never take a message. From a chat that takes nothing now
// the message is only kept away until somebody there writes again.
func IsRefused(err error) bool {
	refused := (*outbox.Refused)(nil)
	return errors.As(err, &refused) && !errors.Is(err, outbox.ErrBlocked)
}
