package bot

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

// onWindow is a tap on a button about a window: it looks at it again, and does do
// only if it is as the person saw it. Else it is drawn anew.
func (b *Bot) onWindow(do func(ctx context.Context, t chat.Tap, w lifecycle.Window) error) tap {
	return func(_ context.Context, t chat.Tap) (chat.Answer, error) {
		if len(t.Args) < 3 {
			return b.stale(t)
		}
		return chat.Do(func(ctx context.Context) error {
			all, err := b.Windows.Orphans(ctx)
			if err != nil {
				b.Log.Warn("windows_unknown", "error", err.Error())
				return b.tell(ctx, t, i18n.WindowsUnknown)
			}
			i := slices.IndexFunc(all, func(w lifecycle.Window) bool { return w.Pane.Window.String() == t.Args[0] })
			if i < 0 || windowMark(all[i]) != t.Args[1] {
				return b.windowChanged(ctx, t)
			}
			return do(ctx, t, all[i])
		})
	}
}

// windowChanged says that a window is not any more as the person saw it, and shows how it is, if it
// still belongs to nobody.
func (b *Bot) windowChanged(ctx context.Context, t chat.Tap) error {
	if err := errors.Join(b.tell(ctx, t, i18n.WritersChanged), b.redrawWindows(ctx, t)); err != nil || place(t.Args[2]) == inList {
		return err
	}
	now := slices.DeleteFunc(b.orphans(ctx), func(w lifecycle.Window) bool { return w.Pane.Window.String() != t.Args[0] })
	if len(now) == 0 {
		return nil
	}
	return b.Post(ctx, t.To, b.windowsText(now), b.windowButtons(now, inReport))
}

// redrawWindows takes what is done out of the message: the list is drawn again,
// in another message only the window's own buttons go.
func (b *Bot) redrawWindows(ctx context.Context, t chat.Tap) error {
	switch place(t.Args[2]) {
	case inList:
		return b.redrawList(ctx, t)
	case inQuestion:
		return b.spend(ctx, t)
	}
	return b.takeOff(ctx, t, func(_, window string) bool { return window == t.Args[0] })
}

// ignoreWindow mentions a window no more.
func (b *Bot) ignoreWindow(ctx context.Context, t chat.Tap, w lifecycle.Window) error {
	if err := b.Windows.Ignore(ctx, w); err != nil {
		return fmt.Errorf("ignore window %s: %w", w.Pane.Window, err)
	}
	return errors.Join(b.tell(ctx, t, i18n.WindowIgnored, i18n.Args{"Window": windowName(w.Pane)}), b.redrawWindows(ctx, t))
}

// adoptWindow goes on from here in a window that a person opened.
func (b *Bot) adoptWindow(ctx context.Context, t chat.Tap, w lifecycle.Window) error {
	if !canAdopt(w) {
		return b.windowChanged(ctx, t)
	}
	if dir := windowDir(w); !b.inRoots(dir) {
		return b.Say(ctx, t.To, b.outsideRoots(dir))
	}
	r, ok, err := b.takeWindow(ctx, t, w, goesOn)
	if err != nil || !ok {
		return err
	}
	if err := b.Use(ctx, t.To, r); err != nil {
		return err
	}
	head := i18n.AdoptedNew
	if r.TookOver != uuid.Nil {
		head = i18n.Adopted
	}
	if err := b.For(r.ID).Say(ctx, t.To, b.adoptedText(head, r, w.Pane.WindowName)); err != nil {
		return err
	}
	return b.redrawWindows(ctx, t)
}

// askArchiveWindow shows which process an archive ends and which stay; who
// tapped may confirm.
func (b *Bot) askArchiveWindow(ctx context.Context, t chat.Tap, w lifecycle.Window) error {
	if !canAdopt(w) {
		return b.windowChanged(ctx, t)
	}
	yes := fmt.Sprintf("wyes:%s:%s:%s:%d", w.Pane.Window, windowMark(w), inQuestion, t.From)
	return b.Post(ctx, t.To, render.Plain(b.archiveQuestion(w)), chat.Rows(2,
		b.Button(i18n.ButtonYesArchive, yes, outbox.Danger), b.cancelButton(t.From)))
}

// archiveWindow makes a window's agent a session's and archives that, so that it
// ends as any session does and leaves a receipt.
func (b *Bot) archiveWindow(ctx context.Context, t chat.Tap, w lifecycle.Window) error {
	if !canAdopt(w) {
		return b.windowChanged(ctx, t)
	}
	r, ok, err := b.takeWindow(ctx, t, w, archives)
	if err != nil || !ok {
		return err
	}
	b.progress(ctx, t, b.words.Say(i18n.Archiving, i18n.Args{"Name": r.Name}))
	if err := b.MoveTo(ctx, t.To, r); err != nil { // the receipt comes as news, to where the session is shown
		return err
	}
	if err := b.Sessions.Archive(ctx, r.ID, session.Archived, fmt.Sprintf("asked for by %d", t.From)); err != nil {
		return b.Explain(ctx, t.To, b.agentFailure(r, err))
	}
	return nil
}

// What a window's agent is taken for.
const (
	goesOn   = "asked for"
	archives = "to be archived, asked for"
)

// takeWindow makes a window's agent a session's: that of the session which had
// the conversation before, if there is one. An agent that is only to end takes
// nothing over: the prompts that wait there would be typed to it. Where that cannot
// be, the person is told.
func (b *Bot) takeWindow(ctx context.Context, t chat.Tap, w lifecycle.Window, why string) (r session.Record, ok bool, err error) {
	from, known := b.ownerOf(w.Agent.ClaudeSessionID)
	if known && !resumable(from) {
		return session.Record{}, false, b.Tell(ctx, t, b.notResumableText(from))
	}
	if why == archives {
		from = session.Record{}
	}
	r, err = b.Sessions.Adopt(ctx, lifecycle.AdoptRequest{Agent: w.Agent.Identity, Claude: w.Agent.ClaudeSessionID,
		From: from.ID, Asked: true, Conversation: t.To, Owner: t.From, Rule: "chat.adopt", Why: fmt.Sprintf("%s by %d", why, t.From)})
	if err != nil {
		return session.Record{}, false, b.windowNotTaken(ctx, t, w, err)
	}
	return r, true, nil
}

// ownerOf is the session that has a conversation: an open one before one that is
// over, and of those the newest.
func (b *Bot) ownerOf(claude uuid.UUID) (found session.Record, ok bool) {
	for _, r := range slices.Backward(b.Records.List()) {
		if r.ClaudeSessionID != claude || r.Closed == session.ClosedTransferred {
			continue
		}
		if !resumable(r) {
			return r, true
		}
		if !ok {
			found, ok = r, true
		}
	}
	return found, ok
}

// notResumableText says why nothing takes a session's conversation over.
func (b *Bot) notResumableText(r session.Record) string {
	switch r.State {
	case session.CleanupFailed:
		return b.notCleanText(r)
	case session.Stopping:
		return b.words.Say(i18n.StillEnding, i18n.Args{"Name": r.Name})
	}
	return b.words.Say(i18n.AlreadyOpen, i18n.Args{"Name": r.Name})
}

// windowNotTaken explains why a window's agent could not be adopted; mostly
// because it is not any more what the person saw.
func (b *Bot) windowNotTaken(ctx context.Context, t chat.Tap, w lifecycle.Window, why error) error {
	state, others, moved := (*lifecycle.StateError)(nil), (*lifecycle.WriterError)(nil), (*lifecycle.MovedError)(nil)
	switch {
	case errors.Is(why, lifecycle.ErrNoTerminal):
		return b.tell(ctx, t, i18n.FootAdoptElsewhere)
	case errors.Is(why, lifecycle.ErrEvidence):
		b.Log.Warn("writers_unknown", "window_id", w.Pane.Window.String(), "error", why.Error())
		return b.tell(ctx, t, i18n.WindowsUnknown)
	case errors.Is(why, lifecycle.ErrChanged), errors.As(why, &others), errors.As(why, &state), errors.As(why, &moved),
		errors.Is(why, session.ErrNotFound):
		return b.windowChanged(ctx, t)
	}
	return fmt.Errorf("adopt window %s: %w", w.Pane.Window, why)
}
