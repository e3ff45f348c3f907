package writers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// onWindow is a tap on a button about a window: the tap looks at the window again, and calls do
// only if the window is as the person saw it. Else the window is drawn anew.
func (w *Windows) onWindow(do func(ctx context.Context, t chat.Tap, one lifecycle.Window) error) chat.OnTap {
	return func(_ context.Context, t chat.Tap) (chat.Answer, error) {
		if len(t.Args) < 3 {
			return w.chat.Stale(t)
		}
		return chat.Do(func(ctx context.Context) error {
			all, err := w.orphans.Orphans(ctx)
			if err != nil {
				w.chat.Log.Warn("windows_unknown", "error", err.Error())
				return w.tell(ctx, t, i18n.WindowsUnknown)
			}
			i := slices.IndexFunc(all, func(one lifecycle.Window) bool {
				return one.Pane.Window.String() == t.Args[0]
			})
			if i < 0 || WindowMark(all[i]) != t.Args[1] {
				return w.tellChanged(ctx, t)
			}
			return do(ctx, t, all[i])
		})
	}
}

func (w *Windows) tell(ctx context.Context, t chat.Tap, key i18n.Key, args ...i18n.Args) error {
	return w.chat.Tell(ctx, t, w.words.Say(key, args...))
}

// tellChanged says that a window is not any more as the person saw it, and shows how the window is,
// if the window still belongs to nobody.
func (w *Windows) tellChanged(ctx context.Context, t chat.Tap) error {
	err := errors.Join(w.tell(ctx, t, i18n.WritersChanged), w.redraw(ctx, t))
	if err != nil || place(t.Args[2]) == inList {
		return err
	}
	now := slices.DeleteFunc(w.All(ctx), func(one lifecycle.Window) bool {
		return one.Pane.Window.String() != t.Args[0]
	})
	if len(now) == 0 {
		return nil
	}
	text, buttons := w.Reported(now)
	return w.chat.Post(ctx, t.To, text, buttons)
}

// redraw takes what is done out of the message: the list is drawn again, in another message only
// the window's own buttons go.
func (w *Windows) redraw(ctx context.Context, t chat.Tap) error {
	switch place(t.Args[2]) {
	case inList:
		return w.list.RedrawList(ctx, t)
	case inQuestion:
		return w.chat.Spend(ctx, t)
	}
	return w.chat.TakeOff(ctx, t, func(_, window string) bool { return window == t.Args[0] })
}

// ignore mentions a window no more.
func (w *Windows) ignore(ctx context.Context, t chat.Tap, one lifecycle.Window) error {
	if err := w.orphans.Ignore(ctx, one); err != nil {
		return fmt.Errorf("ignore window %s: %w", one.Pane.Window, err)
	}
	name := i18n.Args{"Window": nameOf(one)}
	return errors.Join(w.tell(ctx, t, i18n.WindowIgnored, name), w.redraw(ctx, t))
}

// adopt goes on from the chat in a window that a person opened.
func (w *Windows) adopt(ctx context.Context, t chat.Tap, one lifecycle.Window) error {
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
	text := adoptedText(w.words, head, r, one.Pane.WindowName)
	if err := w.chat.For(r.ID).Say(ctx, t.To, text); err != nil {
		return err
	}
	return w.redraw(ctx, t)
}

// askArchive shows which process an archive ends and which processes stay; the person who tapped
// may confirm.
func (w *Windows) askArchive(ctx context.Context, t chat.Tap, one lifecycle.Window) error {
	if !canAdopt(one) {
		return w.tellChanged(ctx, t)
	}
	yes := fmt.Sprintf("wyes:%s:%s:%s:%d", one.Pane.Window, WindowMark(one), inQuestion, t.From)
	return w.chat.Post(ctx, t.To, render.Plain(w.archiveQuestion(one)), chat.Rows(2,
		w.chat.Button(i18n.ButtonYesArchive, yes, outbox.Danger), w.chat.CancelButton(t.From)))
}

// archive makes a window's agent a session's and archives that session, so that the agent ends as
// any session's does and leaves a receipt.
func (w *Windows) archive(ctx context.Context, t chat.Tap, one lifecycle.Window) error {
	if !canAdopt(one) {
		return w.tellChanged(ctx, t)
	}
	r, ok, err := w.makeSession(ctx, t, one, toArchive)
	if err != nil || !ok {
		return err
	}
	w.chat.Progress(ctx, t, w.words.Say(i18n.Archiving, i18n.Args{"Name": r.Name}))
	// the receipt comes as news, to where the session is shown
	if err := w.book.MoveTo(ctx, t.To, r); err != nil {
		return err
	}
	why := fmt.Sprintf("asked for by %d", t.From)
	if err := w.adopter.Archive(ctx, r.ID, session.Archived, why); err != nil {
		return w.chat.Explain(ctx, t.To, w.chat.AgentFailure(r, err))
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
func (w *Windows) makeSession(ctx context.Context, t chat.Tap, one lifecycle.Window,
	why string) (r session.Record, ok bool, err error) {
	from, known := w.ownerOf(one.Agent.ClaudeSessionID)
	if known && !from.Resumable() {
		return session.Record{}, false, w.chat.Tell(ctx, t, w.notResumableText(from))
	}
	if why == toArchive {
		from = session.Record{}
	}
	r, err = w.adopter.Adopt(ctx, lifecycle.AdoptRequest{Agent: one.Agent.Identity,
		Claude: one.Agent.ClaudeSessionID, From: from.ID, Asked: true, Conversation: t.To, Owner: t.From,
		Rule: "chat.adopt", Why: fmt.Sprintf("%s by %d", why, t.From)})
	if err != nil {
		return session.Record{}, false, w.explain(ctx, t, one, err)
	}
	return r, true, nil
}

// explain tells why a window's agent could not be adopted.
func (w *Windows) explain(ctx context.Context, t chat.Tap, one lifecycle.Window, err error) error {
	return notAdopted{
		noTerminal: func() error { return w.tell(ctx, t, i18n.FootAdoptElsewhere) },
		unknown: func() error {
			w.chat.Log.Warn("writers_unknown", "window_id", one.Pane.Window.String(), "error", err.Error())
			return w.tell(ctx, t, i18n.WindowsUnknown)
		},
		changed: func() error { return w.tellChanged(ctx, t) },
	}.explain(err)
}

// ownerOf is the session that has a conversation: an open session before one that is over, and of
// those that are over the newest.
func (w *Windows) ownerOf(claude uuid.UUID) (found session.Record, ok bool) {
	for _, r := range slices.Backward(w.book.Records.List()) {
		if r.ClaudeSessionID != claude || r.Closed == session.ClosedTransferred {
			continue
		}
		if !r.Resumable() {
			return r, true
		}
		if !ok {
			found, ok = r, true
		}
	}
	return found, ok
}

// notResumableText says why nothing takes over the conversation of a session.
func (w *Windows) notResumableText(r session.Record) string {
	switch r.State {
	case session.CleanupFailed:
		return w.chat.NotCleanText(r)
	case session.Stopping:
		return w.words.Say(i18n.StillEnding, i18n.Args{"Name": r.Name})
	}
	return w.words.Say(i18n.AlreadyOpen, i18n.Args{"Name": r.Name})
}
