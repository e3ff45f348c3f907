package dialog

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
)

// Dialogs manages the dialogs of all sessions.
type Dialogs struct {
	chat   *chat.Chat
	keys   port.Keys
	floods func(session uuid.UUID) bool
	opened func(ctx context.Context, to outbox.Conversation, session uuid.UUID) error
	cards  chat.Cards[string] // by session, with the mark of the terminal's dialog
	wake   chan struct{}      // a dialog's place may show nothing any more
}

// CardKind is the kind of the cards.
const CardKind = "dialog"

// New returns the dialogs of a chat. floods reports whether a session has recently asked so often
// that its dialogs cannot be answered in the chat. opened is called after the message about a
// dialog is on its way.
func New(c *chat.Chat, keys port.Keys, floods func(session uuid.UUID) bool,
	opened func(ctx context.Context, to outbox.Conversation, session uuid.UUID) error) *Dialogs {
	return &Dialogs{chat: c, keys: keys, floods: floods, opened: opened, cards: chat.NewCards[string](c, CardKind).Asking(),
		wake: make(chan struct{}, 1)}
}

// Again shows the dialog of a session again below all other messages. It returns false if none is
// shown.
func (d *Dialogs) Again(ctx context.Context, session uuid.UUID) (shown bool, err error) {
	defer d.cards.Hold()()
	return d.cards.Again(ctx, session.String(), card.Bring{})
}

// IsShown reports whether a session has a dialog in the chat that can be answered there.
func (d *Dialogs) IsShown(session uuid.UUID) bool {
	defer d.cards.Hold()()
	_, open := d.cards.Get(session.String())
	return open
}

// FeatureName is the name of the feature.
const FeatureName = "dialog"

// Feature describes the feature to the dispatcher.
func (d *Dialogs) Feature() chat.Feature {
	return chat.Feature{
		Name:      FeatureName,
		Cards:     map[string]chat.OnTap{CardKind: d.cards.OnTap(d.tap)},
		OnNews:    d.onNews,
		OnMachine: func(string) { d.Wake() },
		Run:       d.run,
	}
}

// open shows a dialog. A dialog that is already shown stays in its message; another one gets a new
// message. If nothing accepts keys, only the screen is sent.
func (d *Dialogs) open(ctx context.Context, r port.Session, head render.Text, n news.Terminal) error {
	if n.Dialog == nil {
		p := d.chat.In(r.Conversation)
		text := p.ScreenText(r, head, n.Screen, p.Text(i18n.AttachHint, i18n.Args{"Command": render.Code(n.Attach)}))
		return d.chat.Post(ctx, card.Content{To: r.Conversation, Session: r.ID, Text: text, Sounds: d.chat.Sounds(chat.AgentAsks, r)})
	}
	return errors.Join(d.show(ctx, r, d.content(r, *n.Dialog, head, n.Attach), n.Dialog.Fingerprint), d.opened(ctx, r.Conversation, r.ID))
}

func (d *Dialogs) show(ctx context.Context, r port.Session, content card.Content, fingerprint string) error {
	defer d.cards.Hold()()
	old, ok := d.cards.Get(r.ID.String())
	if ok && (old.Payload != fingerprint || old.Content.To != content.To) {
		if err := d.closeLocked(ctx, old, i18n.DialogChanged); err != nil {
			return err
		}
	}
	return d.cards.Show(ctx, r.ID.String(), content, fingerprint)
}

// onNews shows a dialog, or the screen of an agent that is not ready: its dialog may be an unknown
// one. It closes a dialog that is gone, and the dialog of a session that is ready or has ended.
func (d *Dialogs) onNews(ctx context.Context, r port.Session, n news.News) error {
	if news.IsEnd(n) {
		return d.close(ctx, r.ID)
	}
	r.Conversation = d.placeOf(r)
	p := d.chat.In(r.Conversation)
	switch n := n.(type) {
	case news.Dialog:
		return d.open(ctx, r, p.Text(i18n.DialogOpen, i18n.Args{"Name": r.Name}), n.Terminal)
	case news.NotReporting:
		args := i18n.Args{"Name": r.Name, "Age": p.Age(n.Waited)}
		return d.open(ctx, r, p.Text(i18n.ClaudeNotReady, args), n.Terminal)
	case news.DialogGone, news.Ready, news.Transferred:
		return d.close(ctx, r.ID)
	}
	return nil
}

// placeOf returns where a session's dialog is shown: no agent waits unseen.
func (d *Dialogs) placeOf(r port.Session) outbox.Conversation {
	if places := d.chat.Seen(r); len(places) > 0 {
		return places[0]
	}
	return r.Conversation
}

// Wake lets the dialogs look again whether their places may be shown anything.
func (d *Dialogs) Wake() { pause.Poke(d.wake) }

// unreadable is the pause before a dialog whose terminal could not be read is looked at again.
const unreadable = 30 * time.Second

// run closes the dialogs that closed while ccbot was down, and moves those whose place may be shown
// nothing any more. If the terminal cannot be read, the dialog stays.
func (d *Dialogs) run(ctx context.Context) error {
	for first := true; ; first = false {
		var again <-chan time.Time
		for _, c := range d.cards.List() {
			hidden := !d.chat.Book.MayShow(c.Content.To)
			if !first && !hidden {
				continue
			}
			if err := d.check(ctx, c, hidden); err != nil && hidden {
				again = time.After(unreadable)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-again:
		case <-d.wake:
		}
	}
}

// check draws a dialog as its terminal has it now, unless it is open in a place that people see. An error means that it has to be
// looked at again.
func (d *Dialogs) check(ctx context.Context, c card.Card[string], hidden bool) error {
	now, err := d.keys.Dialog(ctx, c.Content.Session)
	switch {
	case isGone(err):
		now = port.Dialog{}
	case err != nil:
		return err
	case now.Open && !hidden:
		return nil
	case hidden:
		now.Same = true // nobody who may tap has seen the old one
	}
	if err = d.redraw(ctx, c.Key, c.Payload, now); err != nil {
		d.chat.Log.Error("dialog_not_closed", logkey.SessionID, c.Key, logkey.Error, err)
	}
	return err
}

// isGone reports whether an error means that there is no agent that could ask.
func isGone(err error) bool { return refusal.Is(err, refusal.NoAgent, refusal.NotFound) }

// tap presses the key or chooses the option of a button, and redraws the message from the terminal.
func (d *Dialogs) tap(_ context.Context, t chat.Tap, fingerprint string) (chat.Answer, error) {
	return chat.Do(func(ctx context.Context) error {
		var now port.Dialog
		var err error
		if i, notNumber := strconv.Atoi(t.Card.Option); notNumber == nil {
			now, err = d.keys.Choose(ctx, t.Card.Session, fingerprint, i)
		} else {
			now, err = d.keys.Press(ctx, t.Card.Session, fingerprint, t.Card.Option)
		}
		changed := refusal.Is(err, refusal.Changed)
		var drawn error
		if err == nil || changed || isGone(err) || refusal.Is(err, refusal.NoDialog) {
			drawn = d.redraw(ctx, t.Card.Key, fingerprint, now)
		}
		r, _ := d.chat.Book.Records.Get(t.Card.Session)
		p := d.chat.In(t.To)
		switch {
		case err == nil:
			return drawn
		case changed:
			text := p.Text(i18n.KeysChanged, i18n.Args{"Name": r.Name})
			return errors.Join(drawn, d.chat.Explain(ctx, t.To, chat.Failure{Err: err, Session: r.ID, Text: text}))
		}
		return errors.Join(drawn, d.chat.Explain(ctx, t.To, p.Failure(r, err)))
	})
}

// Fingerprint identifies the shown dialog of a session.
func (d *Dialogs) Fingerprint(key string) (fingerprint string, open bool) {
	c, open := d.cards.Get(key)
	return c.Payload, open
}

// Stop presses Esc in the dialog with a mark, once. It returns refusal.Changed, without pressing a
// key, if the terminal shows something else.
func (d *Dialogs) Stop(ctx context.Context, key, fingerprint string, _ int64) error {
	session, err := uuid.Parse(key)
	if err != nil {
		return err
	}
	now, err := d.keys.Press(ctx, session, fingerprint, escape.Value)
	if err != nil && !isGone(err) && !refusal.Is(err, refusal.Changed, refusal.NoDialog) {
		return err
	}
	return errors.Join(err, d.redraw(ctx, key, fingerprint, now))
}

// redraw updates the card drawn for a mark from its terminal. A dialog that asks the same stays in
// its message; it may permit less than before. Any other dialog loses its buttons, because a second
// tap would approve something unread; lifecycle reports the new dialog. A card that now has another
// mark stays. If the place of the message may be shown nothing any more, the dialog moves.
func (d *Dialogs) redraw(ctx context.Context, key, fingerprint string, now port.Dialog) error {
	defer d.cards.Hold()()
	c, ok := d.cards.Get(key)
	switch {
	case !ok || c.Payload != fingerprint:
		return nil
	case !now.Open:
		return d.closeLocked(ctx, c, i18n.DialogClosed)
	case !now.Same && now.Fingerprint != fingerprint:
		return d.closeLocked(ctx, c, i18n.DialogChanged)
	}
	r, _ := d.chat.Book.Records.Get(c.Content.Session)
	if to := c.Content.To; d.chat.Book.MayShow(to) {
		r.Conversation = to // the place of the message
	} else {
		r.Conversation = d.placeOf(r)
	}
	head := d.chat.In(r.Conversation).Text(i18n.DialogOpen, i18n.Args{"Name": r.Name})
	return d.cards.Show(ctx, key, d.content(r, now, head, r.Attach), now.Fingerprint)
}

// close reports that the dialog of a session is gone, if one is shown.
func (d *Dialogs) close(ctx context.Context, id uuid.UUID) error {
	defer d.cards.Hold()()
	if c, ok := d.cards.Get(id.String()); ok {
		return d.closeLocked(ctx, c, i18n.DialogClosed)
	}
	return nil
}

// closeLocked removes the buttons of a card, and appends the reason to its text.
func (d *Dialogs) closeLocked(ctx context.Context, c card.Card[string], why i18n.Key) error {
	last := render.Join(c.Content.Text, render.Plain("\n\n"+d.chat.In(c.Content.To).Say(why)))
	return d.cards.Close(ctx, c.Key, last)
}

// keyRows are the keys below a dialog: labels and values.
var keyRows = [][]card.Option{
	{key("↑", "up"), key("↓", "down"), key("←", "left"), key("→", "right")},
	{key("Space", "space"), key("Tab", "tab"), escape, enter},
}

var escape, enter = key("Esc", "esc"), key("Enter", "enter")

func key(word, value string) card.Option { return card.Option{Text: word, Value: value} }

const (
	shownOptions = 12  // bounds the options that have a button; the keys reach any other
	spareRoom    = 600 // is kept free below a screen, for a warning and the sentence of the end
)

// content returns the card of a dialog: the terminal's words, a button per option, and keys. If a
// part of what an answer would allow may be invisible, or the session floods the chat, no option
// can be chosen: the keys only move or leave the dialog. A permission without its request has a
// warning, and no keys that reach other options.
func (d *Dialogs) content(r port.Session, now port.Dialog, head render.Text, attach string) card.Content {
	p := d.chat.In(r.Conversation)
	foot := render.Join(render.Plain("\n"), p.Text(i18n.AttachHint, i18n.Args{"Command": render.Code(attach)}))
	screen := chat.TightScreen(strings.Join(now.Lines, "\n"))
	if now.Suspends {
		head = p.Text(i18n.DialogSuspended, i18n.Args{"Name": r.Name})
	}
	text := []render.Text{head}
	parts := render.Pre(glyph.LeftToRight(glyph.Signs(screen)), "").Split(render.Limit - spareRoom - text[0].Length() - foot.Length())
	if len(parts) > 0 {
		text = append(text, render.Plain("\n"), parts[len(parts)-1]) // the options are at the end
	}
	var warning render.Text
	switch {
	case d.floods(r.ID):
		warning = p.Text(i18n.AskFlood, i18n.Args{"Name": r.Name})
	case now.Enters && !glyph.Hides(screen) && len(parts) <= 1:
		warning = p.Text(i18n.DialogNotWholeList)
	case !now.Whole || glyph.Hides(screen) || len(parts) > 1:
		warning = p.Text(i18n.DialogNotWhole)
		now.Enters = false
	}
	content := card.Content{To: r.Conversation, Session: r.ID, Options: append(choices(now), keyRows...), Needs: card.Answer, Sounds: d.chat.Sounds(chat.AgentAsks, r)}
	switch {
	case now.Suspends:
		warning = render.Text{}
		content.Options = [][]card.Option{{p.Option(i18n.ButtonContinue, port.KeyContinue, "")}}
	case !warning.Blank():
		content.Options = [][]card.Option{keyRows[0], {escape}}
		if now.Enters && !d.floods(r.ID) {
			content.Options[1] = append(content.Options[1], enter)
		}
	case now.Unasked:
		if warning = p.Text(i18n.DialogUnasked); now.ByPolicy {
			warning = p.Text(i18n.DialogByPolicy)
		}
		content.Options = append(choices(now), []card.Option{escape})
	}
	if now.Stops && warning.Blank() {
		content.Options = append([][]card.Option{{key(p.Say(i18n.ButtonStopIt), "x")}}, content.Options...)
	}
	if !warning.Blank() {
		text = append(text, render.Plain("\n"), warning)
	}
	content.Text = render.Join(append(text, foot)...)
	return content
}

// choices returns a button per option that may be chosen.
func choices(d port.Dialog) (all [][]card.Option) {
	for i, label := range d.Options[:min(len(d.Options), shownOptions)] {
		if !d.CanChoose(i) {
			continue
		}
		words := chat.OneLine(label) // the terminal draws columns
		text := cmp.Or(chat.Head(words, 60), strconv.Itoa(i+1))
		all = append(all, []card.Option{{Text: text, Value: strconv.Itoa(i)}})
	}
	return all
}
