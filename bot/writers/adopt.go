package writers

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"ccbot/bot/chat"
	"ccbot/bot/port/control"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/i18n"
	"ccbot/internal/address"
)

// adopt goes on from the chat in the window where a person runs an agent. from is the session that
// had the conversation; without an ID it was nobody's.
func (o *Others) adopt(ctx context.Context, t chat.Tap, one desk.Writer, from views.Session) (adopted bool, err error) {
	if outside := o.chat.OutsideText(cmp.Or(one.Dir, from.Dir)); outside != "" {
		return false, o.chat.Say(ctx, t.To, outside)
	}
	r, ok, err := o.makeSession(ctx, t, one, from, "asked for")
	if err != nil || !ok {
		return false, err
	}
	if err := o.book.Use(ctx, t.To, r); err != nil {
		return false, err
	}
	return true, o.tellAdopted(ctx, r, t.To)
}

// makeSession makes an agent that a person runs a session's. Where none can be made, the person is
// told why.
func (o *Others) makeSession(ctx context.Context, t chat.Tap, one desk.Writer, from views.Session,
	why string) (r views.Session, ok bool, err error) {
	r, err = o.agents.Adopt(ctx, control.Adopt{Agent: one.ID, Claude: cmp.Or(from.ClaudeSessionID, one.Claude),
		From: from.ID, Conversation: t.To, Owner: t.From, Why: fmt.Sprintf("%s by %d", why, t.From)})
	switch {
	case refusal.Is(err, refusal.NoTerminal):
		err = o.tell(ctx, t, i18n.FootAdoptElsewhere)
	case refusal.Is(err, refusal.NoEvidence):
		err = o.tellUnknown(ctx, t, err)
	case refusal.Is(err, refusal.Changed, refusal.NotFound, refusal.Writers, refusal.WrongState, refusal.Moved):
		err = o.tell(ctx, t, i18n.WritersChanged)
	default:
		ok = err == nil
	}
	return r, ok, err
}

// tellAdopted says that a session goes on in a window that a person opened, and what is different
// there.
func (o *Others) tellAdopted(ctx context.Context, r views.Session, to address.Conversation) error {
	args := i18n.Args{"Name": r.Name, "Window": r.Window}
	text := []string{o.words.Say(i18n.Adopted, args)}
	if !r.Shared { // no shell keeps the window
		text = append(text, o.words.Say(i18n.AdoptedBare, args))
	}
	text = append(text, o.words.Say(i18n.AdoptedAsks))
	return o.chat.For(r.ID).Say(ctx, to, strings.Join(text, " "))
}
