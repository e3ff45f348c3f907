package waiting

import (
	"context"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// Waiting shows the queues of all sessions.
type Waiting struct {
	chat    *chat.Chat
	entry   func(key string) (inbox.Entry, error)
	order   talk.PromptOrder
	looks   func(ctx context.Context, ids ...uuid.UUID) (map[uuid.UUID]port.Status, error)
	discard func(ctx context.Context, e inbox.Entry, by int64) error
	again   func(ctx context.Context, session uuid.UUID) (shown bool, err error)
	stops   func(session uuid.UUID, by int64) (ends func(refused error))
}

const page = "queue"

// view is the address of a page.
type view struct {
	Session uuid.UUID `json:"session"`
	Page    int       `json:"page,omitempty"`
	Prompt  string    `json:"prompt,omitempty"` // key of the prompt that is shown in full; empty: the list
}

func (v view) address() string { return chat.Address(page, v) }

// New returns the queues of a chat. entry reads the inbox. discard takes a prompt out of its queue
// for good, and reports that under it; chat.IsGone of its error: the prompt no longer waits. again
// brings the agent's question below. stops notes who interrupts a turn; ends gets the error of that.
func New(c *chat.Chat, entry func(key string) (inbox.Entry, error), order talk.PromptOrder,
	looks func(ctx context.Context, ids ...uuid.UUID) (map[uuid.UUID]port.Status, error), discard func(ctx context.Context, e inbox.Entry, by int64) error,
	again func(ctx context.Context, session uuid.UUID) (shown bool, err error),
	stops func(session uuid.UUID, by int64) (ends func(refused error))) *Waiting {
	return &Waiting{chat: c, entry: entry, order: order, looks: looks, discard: discard, again: again, stops: stops}
}

// Feature describes the queues to the dispatcher.
func (w *Waiting) Feature() chat.Feature {
	live := func(news.News) bool { return true }
	f := chat.Feature{Name: "waiting", Pages: map[string]chat.Page{page: {Draw: w.draw, Do: w.tap, Live: live}}}
	w.chat.PageByName(&f, page, chat.AnySession)
	return f
}

// Show shows the queue of a session. Two taps are one message.
func (w *Waiting) Show(ctx context.Context, in chat.Incoming, r port.Session) error {
	return w.chat.Pages.Show(ctx, in, chat.About(page, r.ID))
}

// The options of a page.
const (
	nowOption     = "now"
	askOption     = "ask"
	nextOption    = "next"
	discardOption = "discard"
)

// tap does something with the prompt that is shown, and leads back to the list. Any allowed person
// may.
func (w *Waiting) tap(_ context.Context, v chat.Visit, what string) (chat.Answer, string, error) {
	at, p := chat.ViewAt[view](v.Rest), w.chat.In(v.To)
	list := view{Session: at.Session, Page: at.Page}.address()
	e, err := w.entry(at.Prompt)
	switch {
	case err == nil && (e.State == inbox.Typing || e.State == inbox.Unproven):
		return chat.Answer{Text: p.Say(i18n.QueueTyping)}, list, nil
	case chat.IsGone(err), err == nil && e.State != inbox.Held:
		return chat.Answer{Text: p.Say(i18n.QueueLeft)}, list, nil
	case err != nil:
		return chat.Answer{}, "", err
	}
	r, _ := w.chat.Book.Records.Get(e.Session)
	a := chat.Answer{Then: func(ctx context.Context) error {
		err := w.do(ctx, v, what, e, r)
		if err == nil || chat.IsGone(err) { // another tap was quicker: the page shows that
			return nil
		}
		return w.chat.Explain(ctx, v.To, p.Failure(r, err)) // and the list follows
	}}
	if what == nowOption {
		a.Text = p.Say(i18n.Interrupting, i18n.Args{"Name": r.Name})
	}
	return a, list, nil
}

// do carries out a person's decision about a prompt.
func (w *Waiting) do(ctx context.Context, v chat.Visit, what string, e inbox.Entry, r port.Session) error {
	switch what {
	case askOption:
		return w.showQuestion(ctx, e.Session)
	case nowOption:
		ends := w.stops(e.Session, v.By)
		reported, err := w.order.SendNow(ctx, e.Session, e.Key)
		ends(err)
		if refusal.Is(err, refusal.Asks) {
			return w.showQuestion(ctx, e.Session)
		}
		if err != nil || reported {
			return err
		}
		if err := w.chat.TellShown(ctx, v.To, r, v.By, i18n.TurnInterrupted, i18n.Args{"Name": r.Name}); err != nil {
			return err
		}
		return w.chat.Post(ctx, card.Content{To: v.To, ReplyTo: v.Message, Text: chat.Lines(w.chat.In(v.To).Text(i18n.TurnInterrupted, i18n.Args{"Name": r.Name}), w.chat.By(v.To, v.By))})
	case nextOption:
		return w.order.ToFront(ctx, e.Session, e.Key)
	case discardOption:
		return w.discard(ctx, e, v.By)
	}
	return nil
}

// showQuestion shows an agent's question again, which has to be answered before anything is sent.
func (w *Waiting) showQuestion(ctx context.Context, session uuid.UUID) error {
	if shown, err := w.again(ctx, session); err != nil || shown {
		return err
	}
	return &refusal.Error{Code: refusal.Asks}
}
