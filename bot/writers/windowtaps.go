package writers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/port/control"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// tapped is a tap on an option about a window.
type tapped struct {
	chat.Tap
	window string // its id
	// redraw draws the message again, and reports whether the message then shows the windows as they are.
	redraw func(ctx context.Context) (listed bool, err error)
}

// tapCard is a tap on a message of windows alone, which is over then.
func (w *Windows) tapCard(_ context.Context, t chat.Tap, was []chat.Window) (chat.Answer, error) {
	return w.Tap(t, was, func(ctx context.Context) (bool, error) { return false, w.cards.End(ctx, t, "") })
}

// Tap does what an option about a window says, if the window is as the person saw it: the tap looks
// at the window again. redraw draws the message again, and reports whether the message then shows
// the windows as they are.
func (w *Windows) Tap(t chat.Tap, was []chat.Window, redraw func(context.Context) (bool, error)) (chat.Answer, error) {
	word, window, _ := strings.Cut(t.Card.Option, ":")
	do := map[string]func(context.Context, tapped, desk.Window) error{
		adoptWord: w.adopt, askWord: w.askArchive, archiveWord: w.archive, ignoreWord: w.ignore}[word]
	return chat.Do(func(ctx context.Context) error {
		tap := tapped{t, window, redraw}
		all, err := w.orphans.Orphans(ctx)
		if err != nil {
			return w.tellUnknown(ctx, tap, err)
		}
		i := slices.IndexFunc(all, func(one desk.Window) bool { return one.Window == window })
		if i < 0 || !slices.Contains(was, asShown(all[i])) {
			return w.tellChanged(ctx, tap)
		}
		return do(ctx, tap, all[i])
	})
}

func (w *Windows) tell(ctx context.Context, t tapped, key i18n.Key, args ...i18n.Args) error {
	return w.chat.Tell(ctx, t.Tap, w.words.Say(key, args...))
}

// tellChanged says that a window is not any more as the person saw it, and shows how the window is,
// if the window still belongs to nobody.
func (w *Windows) tellChanged(ctx context.Context, t tapped) error {
	listed, err := t.redraw(ctx)
	if err := errors.Join(w.tell(ctx, t, i18n.WritersChanged), err); err != nil || listed {
		return err
	}
	now := slices.DeleteFunc(w.All(ctx), func(one desk.Window) bool {
		return one.Window != t.window
	})
	l := w.List(now)
	return w.cards.Post(ctx, card.Look{To: t.To, Text: l.Text, Options: l.Options}, l.Windows)
}

// ignore mentions a window no more.
func (w *Windows) ignore(ctx context.Context, t tapped, one desk.Window) error {
	if err := w.orphans.Ignore(ctx, one); err != nil {
		return fmt.Errorf("ignore window %s: %w", one.Window, err)
	}
	name := i18n.Args{"Window": nameOf(one)}
	_, err := t.redraw(ctx)
	return errors.Join(w.tell(ctx, t, i18n.WindowIgnored, name), err)
}

// adopt goes on from the chat in a window that a person opened.
func (w *Windows) adopt(ctx context.Context, t tapped, one desk.Window) error {
	if !canAdopt(one) {
		return w.tellChanged(ctx, t)
	}
	if outside := w.chat.OutsideText(dirOf(one)); outside != "" {
		return w.chat.Say(ctx, t.To, outside)
	}
	r, ok, err := w.makeSession(ctx, t, one, toGoOn)
	if err != nil || !ok {
		return err
	}
	if err := w.book.Use(ctx, t.To, r); err != nil {
		return err
	}
	head := i18n.AdoptedNew
	if r.TookOver != uuid.Nil {
		head = i18n.Adopted
	}
	text := adoptedText(w.words, head, r, one.Name)
	if err := w.chat.For(r.ID).Say(ctx, t.To, text); err != nil {
		return err
	}
	_, err = t.redraw(ctx)
	return err
}

// askArchive shows which process an archive ends and which processes stay; the person who tapped
// may confirm.
func (w *Windows) askArchive(ctx context.Context, t tapped, one desk.Window) error {
	if !canAdopt(one) {
		return w.tellChanged(ctx, t)
	}
	look := card.Look{To: t.To, Text: render.Plain(w.archiveQuestion(one)),
		Options: w.chat.Confirm(i18n.ButtonYesArchive, archiveWord+":"+t.window, t.From)}
	return w.cards.Post(ctx, look, []chat.Window{asShown(one)})
}

// archive makes a window's agent a session's and archives that session, so that the agent ends as
// any session's does and leaves a receipt.
func (w *Windows) archive(ctx context.Context, t tapped, one desk.Window) error {
	if !canAdopt(one) {
		return w.tellChanged(ctx, t)
	}
	r, ok, err := w.makeSession(ctx, t, one, toArchive)
	if err != nil || !ok {
		return err
	}
	if err := w.cards.End(ctx, t.Tap, w.words.Say(i18n.Archiving, i18n.Args{"Name": r.Name})); err != nil {
		return err
	}
	// the receipt comes as news, to where the session is shown
	if err := w.book.MoveTo(ctx, t.To, r); err != nil {
		return err
	}
	why := fmt.Sprintf("asked for by %d", t.From)
	if err := w.adopter.Archive(ctx, r.ID, views.Archived, why); err != nil {
		return w.chat.Explain(ctx, t.To, w.chat.Failure(r, err))
	}
	return nil
}

// What a window's agent is adopted for.
const (
	toGoOn    = "asked for"
	toArchive = "to be archived, asked for"
)

// makeSession makes a window's agent a session's: of the session which had the conversation before,
// if there is one. An agent that is only to end takes nothing over: the prompts that wait there
// would be typed to the agent. Where no session can be made, the person is told.
func (w *Windows) makeSession(ctx context.Context, t tapped, one desk.Window,
	why string) (r views.Session, ok bool, err error) {
	from, known := w.ownerOf(one.Agent.Claude)
	if known && !from.Resumable {
		return views.Session{}, false, w.chat.Tell(ctx, t.Tap, w.notResumableText(from))
	}
	if why == toArchive {
		from = views.Session{}
	}
	r, err = w.adopter.Adopt(ctx, control.Adopt{Agent: one.Agent.ID,
		Claude: one.Agent.Claude, From: from.ID, Conversation: t.To, Owner: t.From,
		Why: fmt.Sprintf("%s by %d", why, t.From)})
	switch {
	case err == nil:
		return r, true, nil
	case refusal.Is(err, refusal.NoTerminal):
		err = w.tell(ctx, t, i18n.FootAdoptElsewhere)
	case refusal.Is(err, refusal.NoEvidence):
		err = w.tellUnknown(ctx, t, err)
	case saysChanged(err):
		err = w.tellChanged(ctx, t)
	}
	return views.Session{}, false, err
}

func (w *Windows) tellUnknown(ctx context.Context, t tapped, err error) error {
	w.chat.Log.Warn("windows_unknown", "window_id", t.window, "error", err.Error())
	return w.tell(ctx, t, i18n.WindowsUnknown)
}

// ownerOf is the session that has a conversation: an open session before one that is over, and of
// those that are over the newest.
func (w *Windows) ownerOf(claude uuid.UUID) (found views.Session, ok bool) {
	for _, r := range slices.Backward(w.book.Records.List()) {
		if r.ClaudeSessionID != claude || r.Closed == views.ClosedTransferred {
			continue
		}
		if !r.Resumable {
			return r, true
		}
		if !ok {
			found, ok = r, true
		}
	}
	return found, ok
}

// notResumableText says why nothing takes over the conversation of a session.
func (w *Windows) notResumableText(r views.Session) string {
	switch r.State {
	case views.CleanupFailed:
		return w.chat.NotCleanText(r)
	case views.Stopping:
		return w.words.Say(i18n.StillEnding, i18n.Args{"Name": r.Name})
	}
	return w.words.Say(i18n.AlreadyOpen, i18n.Args{"Name": r.Name})
}
