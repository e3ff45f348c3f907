package bot

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/ask"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/tmux"
)

// keyRows are the keys under a dialog: what a button says and what it presses.
var keyRows = [][][2]string{
	{{"↑", "up"}, {"↓", "down"}, {"←", "left"}, {"→", "right"}},
	{{"Space", "space"}, {"Tab", "tab"}, {"Esc", "esc"}, {"Enter", "enter"}},
}

// lookRows are those of them that choose nothing.
var lookRows = [][][2]string{keyRows[0], {{"Esc", "esc"}}}

// shownOptions bounds the options that have a button; the keys reach any other.
const shownOptions = 12

// closedRoom is kept free below a dialog for the word that it is closed.
const closedRoom = 300

// dialogMessage is what the chat shows of a dialog: the terminal's own words, a
// button per option it shows, and keys. Each button names what it was drawn for.
func (b *Bot) dialogMessage(head, hint string, r session.Record, d lifecycle.Dialog) outbox.Message {
	attach := b.Sessions.Attach(r)
	foot := chat.Marked("\n"+b.words.Say(i18n.AttachHint, i18n.Args{"Command": attach})+hint, attach)
	floods := b.asks.floods(r.ID)
	warning := render.Plain("\n" + b.words.Say(i18n.DialogNotWhole))
	if floods {
		warning = render.Plain("\n" + b.words.Say(i18n.AskFlood, i18n.Args{"Name": r.Name}))
	}
	text := []render.Text{render.Plain(head)}
	shown, whole := shownDialogText(d)
	parts := shown.Split(render.Limit - closedRoom - text[0].Length() - foot.Length() - warning.Length())
	if len(parts) > 0 {
		text = append(text, render.Plain("\n"), parts[len(parts)-1]) // the options stand at the end
	}
	if whole = whole && len(parts) < 2 && !floods; !whole {
		text = append(text, warning)
	}
	return outbox.Message{To: r.Conversation, Text: render.Join(append(text, foot)...), Buttons: dialogButtons(r.ID, d, whole)}
}

// shownDialogText is all that the terminal shows of a dialog, with signs for what
// cannot be seen. It is not whole where something of what an answer would allow
// may be out of sight: then nothing may be chosen from the chat.
func shownDialogText(d lifecycle.Dialog) (text render.Text, whole bool) {
	screen := chat.TightScreen(strings.Join(d.Lines, "\n"))
	signs := ask.Visible(screen)
	return render.Pre(signs, ""), d.Whole && signs == screen
}

// askingMessage is dialogMessage of a dialog: it asks, or is only shown.
func (b *Bot) askingMessage(r session.Record, d lifecycle.Dialog, asks bool) outbox.Message {
	head, hint := i18n.DialogOpen, i18n.DialogStopHint
	if !asks {
		head, hint = i18n.ScreenOpen, i18n.ScreenStopHint
	}
	return b.dialogMessage(b.words.Say(head, i18n.Args{"Name": r.Name}), "\n"+b.words.Say(hint), r, d)
}

// dialogButtons are a button per option, and the keys. Of a dialog that is not
// shown whole nothing can be chosen; one can look around in it, and leave it.
func dialogButtons(id uuid.UUID, d lifecycle.Dialog, whole bool) [][]outbox.Button {
	options, table := d.Options[:min(len(d.Options), shownOptions)], keyRows
	if !whole {
		options, table = nil, lookRows
	}
	var all [][]outbox.Button
	for i, label := range options {
		text := chat.Head(chat.Visible(label), 60)
		if text == "" {
			text = strconv.Itoa(i + 1)
		}
		all = append(all, []outbox.Button{{Text: text, Data: fmt.Sprintf("opt:%s:%s:%d", chat.Ref(id), d.Mark, i)}})
	}
	for _, keys := range table {
		var row []outbox.Button
		for _, key := range keys {
			row = append(row, outbox.Button{Text: key[0], Data: fmt.Sprintf("key:%s:%s:%s", chat.Ref(id), d.Mark, key[1])})
		}
		all = append(all, row)
	}
	return all
}

// tellDialog shows what the terminal asks.
func (b *Bot) tellDialog(ctx context.Context, n lifecycle.Note) error {
	if n.Dialog == nil { // nothing that takes keys
		head := b.words.Say(i18n.DialogOpen, i18n.Args{"Name": n.Session.Name})
		return b.postScreen(ctx, n, head, b.attachHint(n)+"\n"+b.words.Say(i18n.DialogStopHint))
	}
	return b.dialogs.open(ctx, n.Session.ID, n.Dialog.Mark, b.askingMessage(n.Session, *n.Dialog, n.Asks))
}

// tellNotReady says that an agent is not ready yet, with keys where its screen
// takes them: what it asks may be nothing that is known.
func (b *Bot) tellNotReady(ctx context.Context, n lifecycle.Note) error {
	args := i18n.Args{"Name": n.Session.Name, "Seconds": int(lifecycle.StartNotice.Seconds())}
	head := b.words.Say(i18n.ClaudeNotReady, args)
	if n.Dialog == nil {
		return b.postScreen(ctx, n, head, b.attachHint(n))
	}
	return b.dialogs.open(ctx, n.Session.ID, n.Dialog.Mark, b.dialogMessage(head, "", n.Session, *n.Dialog))
}

// tapKey presses a key in the dialog that the button was drawn for.
func (b *Bot) tapKey(_ context.Context, t chat.Tap) (chat.Answer, error) {
	return b.onDialog(t, func(ctx context.Context, id uuid.UUID, mark, key string) (lifecycle.Dialog, error) {
		return b.Sessions.Press(ctx, id, mark, key)
	})
}

// tapOption chooses an option of the dialog that the button was drawn for.
func (b *Bot) tapOption(_ context.Context, t chat.Tap) (chat.Answer, error) {
	return b.onDialog(t, func(ctx context.Context, id uuid.UUID, mark, option string) (lifecycle.Dialog, error) {
		i, err := strconv.Atoi(option)
		if err != nil {
			return lifecycle.Dialog{}, lifecycle.ErrNoDialog
		}
		return b.Sessions.Choose(ctx, id, mark, i)
	})
}

// onDialog does what a button under a dialog says, and draws the message as the terminal is then.
// Only a button of the message that is open counts: an older one is of a dialog that has gone.
func (b *Bot) onDialog(t chat.Tap, do func(ctx context.Context, id uuid.UUID, mark, arg string) (lifecycle.Dialog, error)) (chat.Answer, error) {
	r, ok := b.session(t)
	if !ok || len(t.Args) != 3 || !b.dialogs.isOpen(r.ID, t, t.Args[1]) {
		return b.staleSaying(t, i18n.DialogStale)
	}
	return chat.Do(func(ctx context.Context) error {
		now, err := do(ctx, r.ID, t.Args[1], t.Args[2])
		name := i18n.Args{"Name": r.Name, "Command": b.Sessions.Attach(r)}
		switch {
		case errors.Is(err, lifecycle.ErrRelayed):
			return b.tell(ctx, t, i18n.KeysRelayed)
		case errors.Is(err, lifecycle.ErrNoDialog):
			return errors.Join(b.tell(ctx, t, i18n.KeysNoDialog, name), b.dialogs.close(ctx, r.ID))
		case errors.Is(err, lifecycle.ErrNoAgent), errors.Is(err, tmux.ErrNoPane), errors.Is(err, session.ErrNotFound):
			return errors.Join(b.tell(ctx, t, i18n.AlreadyEnded, name), b.dialogs.close(ctx, r.ID))
		case errors.Is(err, lifecycle.ErrUnseen):
			return b.tell(ctx, t, i18n.KeysUnseen, name)
		case errors.Is(err, tmux.ErrGuard):
			return b.tell(ctx, t, i18n.StopRefused, name)
		case errors.Is(err, lifecycle.ErrChanged):
			err = b.tell(ctx, t, i18n.KeysChanged)
		}
		if err != nil {
			return err
		}
		if !now.Open {
			return b.dialogs.close(ctx, r.ID)
		}
		r.Conversation = t.To // where the message stands
		return b.dialogs.redraw(ctx, t, r.ID, now.Mark, b.askingMessage(r, now, len(now.Options) > 0))
	})
}
