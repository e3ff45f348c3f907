package dialog

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/news"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// Keys answers what a terminal asks. mark says what the person saw: where the terminal shows
// something else by now, nothing is pressed.
type Keys interface {
	Dialog(ctx context.Context, session uuid.UUID) (desk.Dialog, error)
	Press(ctx context.Context, session uuid.UUID, mark, key string) (desk.Dialog, error)
	Choose(ctx context.Context, session uuid.UUID, mark string, option int) (desk.Dialog, error)
}

// kind is that of the cards; the key of a card is its session.
const kind = "dialog"

// shown is what the buttons of a card were drawn for.
type shown struct {
	Mark   string `json:"mark"`   // of what the terminal showed
	Name   string `json:"name"`   // of the session
	Attach string `json:"attach"` // the command that opens the terminal
}

// dialogs are the dialogs of all sessions.
type dialogs struct {
	chat   *chat.Chat
	keys   Keys
	floods func(session uuid.UUID) bool
	cards  card.Kind[shown]
	mu     sync.Mutex // held from the look at a card to the change of the card
}

// New gives the feature. floods says whether a session has asked so much of late that nothing may
// be chosen from the chat.
func New(c *chat.Chat, keys Keys, floods func(session uuid.UUID) bool) chat.Feature {
	d := &dialogs{chat: c, keys: keys, floods: floods, cards: card.NewKind[shown](c.Cards, kind, nil)}
	return chat.Feature{
		Name:  "dialog",
		Cards: map[string]func(context.Context, chat.Tap) (chat.Answer, error){kind: d.tap},
		News: map[news.Kind]func(context.Context, news.Note) error{
			news.Dialog:       d.tellDialog,
			news.NotReporting: d.tellNotReady,
			news.DialogGone: func(ctx context.Context, n news.Note) error {
				return d.close(ctx, n.Session.ID)
			},
		},
		Heard: d.hear,
		Run:   d.run,
	}
}

// tellDialog shows what a terminal asks.
func (d *dialogs) tellDialog(ctx context.Context, n news.Note) error {
	head, hint := d.asking(n)
	return d.open(ctx, n, head, hint)
}

// tellNotReady says that an agent is not ready yet, with keys where its screen takes them: what it
// asks may be nothing that is recognised.
func (d *dialogs) tellNotReady(ctx context.Context, n news.Note) error {
	args := i18n.Args{"Name": n.Session.Name, "Seconds": int(n.Waited.Seconds())}
	return d.open(ctx, n, d.chat.Words.Say(i18n.ClaudeNotReady, args), "")
}

// open shows a dialog. A dialog that is shown already stays in its message; another one has a
// message of its own. Where nothing takes keys only the screen is told.
func (d *dialogs) open(ctx context.Context, n news.Note, head, hint string) error {
	if n.Dialog == nil {
		text := []render.Text{render.Plain(head)}
		if screen := chat.Screen(n.Screen); !screen.Blank() {
			text = append(text, render.Plain("\n"), screen)
		}
		text = append(text, d.foot(n, hint))
		return d.chat.For(n.Session.ID).Post(ctx, n.Session.Conversation, render.Join(text...), nil)
	}
	look := d.look(n, head, hint)
	d.mu.Lock()
	defer d.mu.Unlock()
	old, ok := d.cards.Get(n.Session.ID.String())
	if ok && (old.Payload.Mark != n.Dialog.Mark || old.Look.To != look.To) {
		if err := d.closeLocked(ctx, old); err != nil {
			return err
		}
	}
	return d.cards.Show(ctx, n.Session.ID.String(), look, shown{n.Dialog.Mark, n.Session.Name, n.Attach})
}

// hear closes the dialog of a session that is ready or over.
func (d *dialogs) hear(ctx context.Context, n news.Note) error {
	switch n.Kind {
	case news.Ready, news.Ended, news.Lost, news.Stopped, news.Failed:
		return d.close(ctx, n.Session.ID)
	case news.Transferred:
		return d.close(ctx, n.From.ID)
	}
	return nil
}

// run closes the dialogs that went while no ccbot was there. Where the terminal cannot be seen, the
// dialog stays.
func (d *dialogs) run(ctx context.Context) error {
	for _, c := range d.cards.List() {
		now, err := d.keys.Dialog(ctx, c.Look.Session)
		if err == nil && now.Open || err != nil && !isOver(err) {
			continue
		}
		if err := d.redraw(ctx, c.Key, c.Payload, desk.Dialog{}); err != nil {
			d.chat.Log.Error("dialog_not_closed", "session_id", c.Key, "error", err.Error())
		}
	}
	return nil
}

// isOver reports whether an error says that there is no agent that could ask.
func isOver(err error) bool {
	return refusal.Is(err, refusal.NoAgent, refusal.NotFound)
}

// tap does what a button says, and draws the message as the terminal is then.
func (d *dialogs) tap(_ context.Context, t chat.Tap) (chat.Answer, error) {
	was, err := d.cards.Payload(t.Card)
	if err != nil {
		return chat.Answer{}, err
	}
	return chat.Do(func(ctx context.Context) error {
		now, err := d.press(ctx, t.Card, was.Mark)
		word := i18n.KeysChanged
		switch {
		case err == nil:
			return d.redraw(ctx, t.Card.Key, was, now)
		case refusal.Is(err, refusal.Changed):
		case refusal.Is(err, refusal.NoDialog):
			word, now = i18n.KeysNoDialog, desk.Dialog{}
		case isOver(err):
			word, now = i18n.AlreadyEnded, desk.Dialog{}
		case refusal.Is(err, refusal.Relayed):
			return d.tell(ctx, t, i18n.KeysRelayed, was)
		case refusal.Is(err, refusal.Unseen):
			return d.tell(ctx, t, i18n.KeysUnseen, was)
		case refusal.Is(err, refusal.Guarded):
			return d.tell(ctx, t, i18n.StopRefused, was)
		default:
			return err
		}
		return errors.Join(d.tell(ctx, t, word, was), d.redraw(ctx, t.Card.Key, was, now))
	})
}

func (d *dialogs) tell(ctx context.Context, t chat.Tap, word i18n.Key, was shown) error {
	return d.chat.Tell(ctx, t, d.chat.Words.Say(word, i18n.Args{"Name": was.Name, "Command": was.Attach}))
}

// press presses the key or chooses the option of a button in the terminal.
func (d *dialogs) press(ctx context.Context, c card.Tapped, mark string) (desk.Dialog, error) {
	if key, ok := strings.CutPrefix(c.Option, keyValue); ok {
		return d.keys.Press(ctx, c.Session, mark, key)
	}
	i, err := strconv.Atoi(strings.TrimPrefix(c.Option, optionValue))
	if err != nil {
		return desk.Dialog{}, fmt.Errorf("button of a dialog: %w", err)
	}
	return d.keys.Choose(ctx, c.Session, mark, i)
}

// redraw shows what a terminal shows now in the card that was drawn for was. A card that was drawn
// anew since then is left alone.
func (d *dialogs) redraw(ctx context.Context, key string, was shown, now desk.Dialog) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, ok := d.cards.Get(key)
	switch {
	case !ok || c.Payload.Mark != was.Mark:
		return nil
	case !now.Open:
		return d.closeLocked(ctx, c)
	}
	r := views.Session{ID: c.Look.Session, Name: was.Name, Conversation: c.Look.To} // where the message stands
	n := news.Note{Session: r, Dialog: &now, Asks: len(now.Options) > 0, Attach: was.Attach}
	head, hint := d.asking(n)
	return d.cards.Show(ctx, key, d.look(n, head, hint), shown{now.Mark, was.Name, was.Attach})
}

// close says that the dialog of a session is gone, if one is shown.
func (d *dialogs) close(ctx context.Context, id uuid.UUID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, ok := d.cards.Get(id.String()); ok {
		return d.closeLocked(ctx, c)
	}
	return nil
}

func (d *dialogs) closeLocked(ctx context.Context, c card.Card[shown]) error {
	last := render.Join(c.Look.Text, render.Plain("\n\n"+d.chat.Words.Say(i18n.DialogClosed)))
	return d.cards.Close(ctx, c.Key, last)
}
