package textlist

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/each"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// waiting is the payload of a list of texts that wait while an agent asks something.
type waiting struct {
	Request string   `json:"request,omitempty"` // empty: the terminal asks
	Tool    string   `json:"tool,omitempty"`    // that the agent asks about, if it is known
	Answers bool     `json:"answers,omitempty"` // a text may answer the request
	Keys    []string `json:"keys"`              // of the texts that the message counts
}

// Queued lists a text that was queued, if a request is open before it: its session has not reported
// yet that it waits.
func (l *Lists) Queued(ctx context.Context, e inbox.Entry, r port.Session) error {
	if request, _, _ := l.Requests.OpenRequest(r.ID, e.Conversation); request == "" {
		return nil
	}
	return l.Held(ctx, e.Conversation, r.ID, talk.Activity{})
}

// Held lists the texts of a conversation that wait because the agent of a session asks something;
// now is the agent's activity, if known.
func (l *Lists) Held(ctx context.Context, to address.Conversation, session uuid.UUID, now talk.Activity) error {
	defer l.waiting.Hold()()
	c, open := of(l.waiting, session, to)
	texts, err := l.held(l.session(session), to)
	if err != nil || texts.count() == 0 && !open {
		return err
	}
	if !open {
		c.Content.ReplyTo = slices.MaxFunc(slices.Concat(texts.queued, texts.aside), func(a, b inbox.Entry) int { return a.MessageID - b.MessageID }).MessageID
	}
	if now.Phase.Waiting() && now.What != "" {
		c.Payload.Tool = now.What
	}
	return l.showWaiting(ctx, c, texts)
}

// onNews ends the list of texts that wait for an answer in a terminal, if the terminal asks
// nothing.
func (l *Lists) onNews(ctx context.Context, r port.Session, n news.News) error {
	if _, gone := n.(news.DialogGone); gone || news.IsEnd(n) {
		return l.endWaiting(ctx, func(c card.Card[waiting]) bool { return c.Content.Session == r.ID })
	}
	return nil
}

// drawWaiting draws the open list of a key again.
func (l *Lists) drawWaiting(ctx context.Context, key string) error {
	defer l.waiting.Hold()()
	c, open := l.waiting.Get(key)
	if !open {
		return nil
	}
	texts, err := l.held(l.session(c.Content.Session), c.Content.To)
	if err != nil {
		return err
	}
	return l.showWaiting(ctx, c, texts)
}

// showWaiting shows a list, or ends it: its request is settled, or nothing waits. While a person's
// decision is carried out, the list stays: its end shows the result.
func (l *Lists) showWaiting(ctx context.Context, c card.Card[waiting], texts held) error {
	if l.isBusy(c.Key) {
		return nil
	}
	r, p := l.session(c.Content.Session), l.Chat.In(c.Content.To)
	request, tool, answers := l.Requests.OpenRequest(r.ID, c.Content.To)
	switch {
	case texts.count() == 0, request == "" && c.Payload.Request != "":
		return l.waiting.Close(ctx, c.Key, waited(p, r, len(texts.queued), l.keptAside(c.Payload.Keys)))
	case request != "":
		c.Payload.Request, c.Payload.Tool, c.Payload.Answers = request, tool, answers
	}
	c.Payload.Keys = each.As(slices.Concat(texts.queued, texts.aside), func(e inbox.Entry) string { return e.Key })
	c.Content.Text, c.Content.Options = c.Payload.draw(p, r, texts)
	return l.waiting.Show(ctx, c.Key, c.Content, c.Payload)
}

// Left ends the list of a text that waits no longer, or for something else: its terminal asks
// nothing now.
func (l *Lists) Left(ctx context.Context, key string) error {
	return l.endWaiting(ctx, func(c card.Card[waiting]) bool { return slices.Contains(c.Payload.Keys, key) })
}

// endWaiting ends lists of texts that wait for an answer in a terminal. A list of a request ends
// with the request.
func (l *Lists) endWaiting(ctx context.Context, ends func(c card.Card[waiting]) bool) error {
	defer l.waiting.Hold()()
	var errs []error
	for _, c := range l.waiting.List() {
		if c.Payload.Request == "" && ends(c) {
			aside := l.keptAside(c.Payload.Keys)
			last := waited(l.Chat.In(c.Content.To), l.session(c.Content.Session), len(c.Payload.Keys)-aside, aside)
			errs = append(errs, l.waiting.Close(ctx, c.Key, last))
		}
	}
	return errors.Join(errs...)
}

// waited is the plain line of a list whose question was settled. It names no destination of the
// texts: the agent may have been stopped. A message below asks about those that were kept aside.
func waited(p chat.Phrases, r port.Session, queued, aside int) render.Text {
	switch {
	case queued > 0:
		return p.Text(i18n.TextsWaited, i18n.Args{"Count": queued, "Name": r.Name})
	case aside > 0:
		return p.Text(i18n.AsideLater, i18n.Args{"Count": aside, "Name": r.Name})
	}
	return p.Text(i18n.QueueEmpty, i18n.Args{"Name": r.Name})
}

// held are the texts of a conversation that wait for a session.
type held struct {
	queued []inbox.Entry // in their order
	aside  []inbox.Entry // kept aside for an open request
}

func (h held) count() int { return len(h.queued) + len(h.aside) }

func (l *Lists) held(r port.Session, to address.Conversation) (h held, err error) {
	all, err := l.Entries.List()
	for _, e := range all {
		switch {
		case e.Session == uuid.Nil || e.Session != r.ID || e.Conversation != to:
		case e.State == inbox.Held:
			h.queued = append(h.queued, e)
		case isAside(e) && l.Requests.IsOpen(e.Aside.Request):
			h.aside = append(h.aside, e)
		}
	}
	inOrder(r, h.queued)
	return h, err
}

const showOption = "show"

// draw is a list and its buttons. A command, or a line for the shell, is no reason, and neither is what
// people say to each other without a reply to the request.
func (w waiting) draw(p chat.Phrases, r port.Session, texts held) (render.Text, [][]card.Option) {
	head := p.Text(i18n.HeldDialog, i18n.Args{"Name": r.Name})
	if w.Tool != "" {
		head = p.Text(i18n.HeldAsk, i18n.Args{"Name": r.Name, "What": p.AskedText(w.Tool)})
	}
	queued, all := len(texts.queued), texts.count()
	text := head
	if queued > 0 {
		text = chat.Lines(text, render.Plain(p.Words.Say(i18n.TextsQueued, i18n.Args{"Count": queued})))
	}
	if all > 1 {
		text = chat.Lines(text, numbered(p, texts.queued, 0, all))
	}
	if len(texts.aside) > 0 {
		text = chat.Lines(text, render.Plain(p.Words.Say(i18n.AsideKept)), numbered(p, signed(p, texts.aside), queued, all))
	}
	options := [][]card.Option{{p.Option(i18n.ButtonShowQuestion, showOption, outbox.Primary)}}
	for i, e := range slices.Concat(texts.queued, texts.aside)[:min(all, mostShown)] {
		if w.Request == "" || e.Class != talk.ClassPlain || e.Aside != nil && !e.Aside.Replies {
			continue
		}
		before := number(i, all)
		row := []card.Option{option(p, before, i18n.ButtonDenyWith, e.Key, outbox.Danger)}
		if w.Answers && e.Aside == nil {
			row = slices.Insert(row, 0, option(p, before, i18n.ButtonAnswerWith, e.Key, outbox.Success))
		}
		options = append(options, row)
	}
	return text, options
}

// tapWaiting shows the question, or decides it with a text. Any allowed person of the chat may.
func (l *Lists) tapWaiting(ctx context.Context, t chat.Tap, was waiting) (chat.Answer, error) {
	if t.Card.Option == showOption {
		return chat.Do(func(ctx context.Context) error { return l.Chosen(ctx, t.To, t.Card.Session) })
	}
	word, key, _ := strings.Cut(t.Card.Option, ":")
	e, err := l.Entries.Load(key)
	request, _, _ := l.Requests.OpenRequest(t.Card.Session, t.To)
	if err == nil && isAside(e) { // it replied to one of several
		request, was.Request = e.Aside.Request, e.Aside.Request
	}
	switch {
	case chat.IsGone(err), err == nil && (e.State != inbox.Held && !isAside(e) || request != was.Request):
		return chat.Answer{Text: l.Chat.In(t.To).Say(i18n.StaleButton)}, l.drawWaiting(ctx, t.Card.Key)
	case err != nil:
		return chat.Answer{}, err
	}
	return chat.Do(func(ctx context.Context) error { return l.decideWith(ctx, t, was, e, i18n.Key(word)) })
}

// decideWith answers or denies a request with a text. The list shows the result, and how many texts
// stay for the session.
func (l *Lists) decideWith(ctx context.Context, t chat.Tap, was waiting, e inbox.Entry, word i18n.Key) error {
	r, p := l.session(t.Card.Session), l.Chat.In(t.To)
	l.Chat.React(ctx, e.Conversation, e.MessageID, chat.ReactionStored)
	err := l.during(t.Card.Key, func() error {
		err := l.Requests.DecideWith(ctx, was.Request, e, t.From, word == i18n.ButtonAnswerWith)
		if err != nil {
			return err
		}
		said := p.Text(i18n.DeniedWith, i18n.Args{"Name": r.Name})
		if word == i18n.ButtonAnswerWith {
			said = p.Text(i18n.AnsweredWith, i18n.Args{"Name": r.Name})
		}
		said = chat.Lines(said, l.Chat.By(t.To, t.From))
		defer l.waiting.Hold()()
		texts, err := l.held(r, t.To)
		if rest := slices.DeleteFunc(texts.queued, func(o inbox.Entry) bool { return o.Key == e.Key }); len(rest) > 0 {
			said = chat.Lines(said, became(p, r, len(rest), 0))
		}
		return errors.Join(err, l.waiting.Close(ctx, t.Card.Key, said))
	})
	if err != nil {
		return errors.Join(l.explain(ctx, t, r, err), l.drawWaiting(ctx, t.Card.Key))
	}
	return nil
}
