package bot

import (
	"context"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// dialogMessages brings what terminals ask into the chat, one message per
// session, and takes its buttons off when the dialog is gone. A message is on
// disk before it is sent. Changes hold the store's lock, edits included: the
// newest edit is the newest state.
type dialogMessages struct {
	*Bot
	lanes *lanes
}

func newDialogMessages(b *Bot) *dialogMessages { return &dialogMessages{Bot: b, lanes: newLanes()} }

// Run takes up what an earlier run left, and sends until ctx ends.
func (d *dialogMessages) Run(ctx context.Context) error {
	for _, one := range d.Dialogs.list() {
		if err := d.takeUp(ctx, one); err != nil {
			d.Log.Error("dialog_not_taken_up", "session_id", one.Session.String(), "error", err.Error())
		}
	}
	return d.lanes.Run(ctx)
}

// takeUp closes a message whose dialog went while nobody looked. Its last edit
// may be lost, so it is done again. A dialog that still stands is told again.
func (d *dialogMessages) takeUp(ctx context.Context, one shownDialog) error {
	if one.Closed {
		d.edit(ctx, one)
		return d.Dialogs.Forget(one.Session)
	}
	if r, ok := d.Records.Get(one.Session); ok && r.State.Live() {
		now, err := d.Sessions.Dialog(ctx, one.Session)
		if err != nil || now.Open {
			d.sendLater(one)
			return nil //nolint:nilerr // nobody knows, so it stays
		}
	}
	return d.close(ctx, one.Session)
}

// open shows a dialog. One that is shown already, as after a restart, stays in
// its message; another one has a message of its own, which makes a sound.
func (d *dialogMessages) open(ctx context.Context, id uuid.UUID, mark string, m outbox.Message) error {
	if !d.MayShow(m.To) {
		d.Log.Info("not_told", "chat_id", m.To.ChatID, "why", "nobody there is allowed any more")
		return nil
	}
	m.Session = id
	return d.Dialogs.change(id, func(old shownDialog, c dialogChange) error {
		one := shownDialog{Session: id, Mark: mark, Message: m}
		same := one.shows(old)
		if same {
			one.ID = old.ID
		}
		if err := c.put(one); err != nil {
			return err
		}
		if one.ID != 0 {
			d.edit(ctx, one)
			return nil
		}
		if !same && !old.Closed {
			d.edit(ctx, d.closed(old))
		}
		d.sendLater(one)
		return nil
	})
}

func (d *dialogMessages) sendLater(one shownDialog) {
	if one.ID == 0 {
		d.lanes.add(one.to(), func(ctx context.Context) { d.send(ctx, one.Session) })
	}
}

// send brings a dialog's message into the chat. Meanwhile the dialog may have
// gone, or made room for another one.
func (d *dialogMessages) send(ctx context.Context, id uuid.UUID) {
	one, ok := d.Dialogs.get(id)
	if !ok || one.ID != 0 || one.Closed {
		return
	}
	sent, err := d.Sender.Send(context.WithoutCancel(ctx), one.Message)
	if err != nil {
		d.Log.Warn("dialog_not_sent", "session_id", id.String(), "error", err.Error())
		if !isForGood(err) {
			return // unparked or the next start sends it
		}
	}
	err = d.Dialogs.change(id, func(now shownDialog, c dialogChange) error {
		ours := now.ID == 0 && now.shows(one)
		switch {
		case err == nil && now.ID == sent: // a tap on it was quicker
			return nil
		case err != nil && ours:
			return c.remove()
		case err != nil: // another dialog is remembered by now, which has a job of its own
			return nil
		case !ours:
			one.ID = sent
			d.edit(ctx, d.closed(one))
			return nil
		}
		now.ID = sent
		return c.put(now)
	})
	if err != nil {
		d.Log.Error("dialog_not_saved", "session_id", id.String(), "error", err.Error())
	}
}

// isOpen says whether the message of a tap shows the session's dialog now. A tap
// may come before the answer that says which message it is.
func (d *dialogMessages) isOpen(id uuid.UUID, t chat.Tap, mark string) (open bool) {
	err := d.Dialogs.change(id, func(one shownDialog, c dialogChange) error {
		if one.Session == uuid.Nil || one.Closed || one.to() != t.To {
			return nil
		}
		if one.ID == 0 && one.Mark == mark {
			one.ID = t.Message
			if err := c.put(one); err != nil {
				return err
			}
		}
		open = one.ID == t.Message
		return nil
	})
	if err != nil {
		d.Log.Error("dialog_not_saved", "session_id", id.String(), "error", err.Error())
	}
	return open
}

// redraw sets the message of a tap to what the terminal shows now.
func (d *dialogMessages) redraw(ctx context.Context, t chat.Tap, id uuid.UUID, mark string, m outbox.Message) error {
	return d.Dialogs.change(id, func(one shownDialog, c dialogChange) error {
		if one.Closed || one.ID == 0 || one.ID != t.Message {
			return nil // it was closed, or another message shows the dialog by now
		}
		one.Mark, one.Message = mark, m
		if err := c.put(one); err != nil {
			return err
		}
		d.edit(ctx, one)
		return nil
	})
}

// close says in the message that the dialog is gone. It stays on disk until the
// next start, because the edit may be lost.
func (d *dialogMessages) close(ctx context.Context, id uuid.UUID) error {
	return d.Dialogs.change(id, func(one shownDialog, c dialogChange) error {
		switch {
		case one.Session == uuid.Nil || one.Closed:
			return nil
		case one.ID == 0:
			return c.remove() // nobody has to see it any more
		}
		one = d.closed(one)
		if err := c.put(one); err != nil {
			return err
		}
		d.edit(ctx, one)
		return nil
	})
}

// closed is the message without buttons.
func (d *dialogMessages) closed(one shownDialog) shownDialog {
	one.Closed = true
	one.Message.Buttons = nil
	one.Message.Text = render.Join(one.Message.Text, render.Plain("\n\n"+d.words.Say(i18n.DialogClosed)))
	return one
}

// edit shows a message as it is now. It does not wait.
func (d *dialogMessages) edit(ctx context.Context, one shownDialog) {
	if one.ID == 0 || !d.MayShow(one.to()) {
		return
	}
	if err := d.Sender.Edit(ctx, one.to(), one.ID, one.Message); err != nil {
		d.Log.Debug("edit_failed", "error", err.Error())
	}
}
