package bot

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/google/uuid"

	"ccbot/bot/ask"
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
)

// heldKind is that of the cards which say that a text waits behind a request. The key of a card is
// that of the text in the inbox.
const heldKind = "held"

// The options of such a card.
const (
	heldAnswer = "answer"
	heldDeny   = "deny"
	heldAfter  = "after"
)

// held is the payload of such a card.
type held struct {
	Request string `json:"request"`
}

// heldTexts offers texts that wait behind a request as its answer, or as the reason to deny it.
// There is one offer for a request at a time: the other texts wait, too.
type heldTexts struct {
	*chat.Chat
	entries  Entries
	requests *ask.Requests
	cards    card.Kind[held]
	mu       sync.Mutex // held from the look at the cards to the change of one
}

func newHeldTexts(c *chat.Chat, entries Entries) *heldTexts {
	return &heldTexts{Chat: c, entries: entries, cards: card.NewKind[held](c.Cards, heldKind, nil)}
}

// Feature is what the roof knows of these offers.
func (h *heldTexts) Feature() chat.Feature {
	return chat.Feature{Name: "held",
		Cards: map[string]tap{heldKind: h.tap},
		Run:   func(ctx context.Context) error { h.closeOver(ctx); return nil },
		Late: map[string]func(chat.Tap) string{heldKind: func(t chat.Tap) string {
			of, err := h.cards.Payload(t.Card)
			if c, ok := h.requests.Store.Get(of.Request); err != nil || !ok || c.State == ask.StateOpen {
				return ""
			}
			return h.requests.LateText(of.Request)
		}},
	}
}

// offer says under a prompt that it waits behind a request. Until a person has decided about it
// this is said once: the other prompts wait, too.
func (h *heldTexts) offer(ctx context.Context, e inbox.Entry, request string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	c, ok := h.requests.Store.Get(request)
	if !ok || c.State != ask.StateOpen || len(h.of(request)) > 0 {
		return nil
	}
	return h.cards.Show(ctx, e.Key, h.look(e, c), held{Request: request})
}

// of are the open offers for a request.
func (h *heldTexts) of(request string) []card.Card[held] {
	return slices.DeleteFunc(h.cards.List(), func(one card.Card[held]) bool { return one.Payload.Request != request })
}

func (h *heldTexts) look(e inbox.Entry, c ask.Card) card.Look {
	what := h.Words.Say(i18n.HeldAskPermission, i18n.Args{"Tool": chat.Head(glyph.Name(c.Request.Tool), 60)})
	switch {
	case c.Request.IsQuestion():
		what = h.Words.Say(i18n.HeldAskQuestion)
	case c.Request.IsPlan():
		what = h.Words.Say(i18n.HeldAskPlan)
	}
	options := []card.Option{
		{Text: h.Words.Say(i18n.ButtonDenyWith), Value: heldDeny, Style: outbox.Danger},
		{Text: h.Words.Say(i18n.ButtonSendAfter), Value: heldAfter},
	}
	rows := [][]card.Option{options}
	if c.OneLeft() {
		answer := card.Option{Text: h.Words.Say(i18n.ButtonAnswerWith), Value: heldAnswer, Style: outbox.Success}
		rows = [][]card.Option{{answer, options[0]}, options[1:]}
	}
	text := h.Words.Say(i18n.HeldAsk, i18n.Args{"Name": h.requests.NameOf(c), "What": what})
	return card.Look{To: e.Conversation, Text: render.Plain(text), Options: rows, Session: e.Session, ReplyTo: e.MessageID,
		Silent: true}
}

// over says under a text that it waits no more, once its request is over.
func (h *heldTexts) over(ctx context.Context, c ask.Card) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, one := range h.of(c.Request.ID) {
		key := i18n.HeldAskOver
		e, err := h.entries.Load(one.Key)
		switch {
		case one.Key == c.Prompt: // a crash came before that was said
			key = i18n.DeniedWith
		case err != nil || e.State != inbox.Held:
			key = i18n.HeldAskGone
		case c.Outcome.What == ask.Ended:
			key = i18n.HeldAskEnded
		}
		if err := h.close(ctx, one.Key, key, c); err != nil {
			h.Log.Error("offer_not_closed", "key", one.Key, "error", err.Error())
		}
	}
}

// closeOver closes offers that a kill left open after the end of their requests was on disk.
func (h *heldTexts) closeOver(ctx context.Context) {
	for _, one := range h.cards.List() {
		c, ok := h.requests.Store.Get(one.Payload.Request)
		if !ok { // what is left of the request is whose it was
			c.Request.ID, c.Request.Session = one.Payload.Request, one.Look.Session
		}
		if !ok || c.IsOver() {
			h.over(ctx, c)
		}
	}
}

// close ends an offer with a sentence.
func (h *heldTexts) close(ctx context.Context, key string, said i18n.Key, c ask.Card) error {
	return h.cards.Close(ctx, key, render.Plain(h.Words.Say(said, i18n.Args{"Name": h.requests.NameOf(c)})))
}

// tap decides the request of an offer with the text, or lets the text wait, as it does anyway.
func (h *heldTexts) tap(ctx context.Context, t chat.Tap) (chat.Answer, error) {
	of, err := h.cards.Payload(t.Card)
	if err != nil {
		return chat.Answer{}, err
	}
	c, _ := h.requests.Store.Get(of.Request)
	e, err := h.entries.Load(t.Card.Key)
	if errors.Is(err, inbox.ErrNoEntry) || err == nil && (e.State != inbox.Held || e.Session != c.Request.Session) {
		return chat.Answer{Text: h.Words.Say(i18n.StaleButton)}, h.cards.Close(ctx, t.Card.Key, render.Text{})
	}
	if err != nil {
		return chat.Answer{}, err
	}
	said, turn := i18n.DeniedWith, ask.DenyWith
	switch t.Card.Option {
	case heldAfter:
		return chat.Answer{}, h.close(ctx, e.Key, i18n.SendAfter, c)
	case heldAnswer:
		said, turn = i18n.AnsweredWith, ask.AnswerWith
	}
	answer, err := h.requests.DecideWith(ctx, of.Request,
		ask.Text{By: t.From, Words: e.Text, Key: e.Key, Message: e.MessageID}, turn)
	switch {
	case errors.Is(err, ask.ErrOver), errors.Is(err, ask.ErrNotNow):
		late := chat.Answer{Text: h.requests.LateText(of.Request), Alert: true}
		return late, h.cards.Close(ctx, e.Key, render.Text{})
	case err != nil:
		return chat.Answer{}, err
	}
	give := answer.Then
	answer.Then = func(ctx context.Context) error {
		switch err := give(ctx); {
		case errors.Is(err, ask.ErrLeft): // it was typed
			return errors.Join(h.Tell(ctx, t, h.Words.Say(i18n.StaleButton)), h.cards.Close(ctx, e.Key, render.Text{}))
		case err != nil:
			return err
		}
		return h.close(ctx, e.Key, said, c)
	}
	return answer, nil
}

// withdrawer takes texts out of the queues of their sessions.
type withdrawer struct{ bot *Bot }

func (w withdrawer) Withdraw(ctx context.Context, id uuid.UUID, key string) error {
	e, err := w.bot.Entries.Load(key)
	if err == nil && e.State != inbox.Accepted { // else it was meant for the request from the start
		err = w.bot.Sessions.Withdraw(ctx, id, key)
	}
	if chat.IsGone(err) {
		return errors.Join(ask.ErrLeft, err)
	}
	return err
}
