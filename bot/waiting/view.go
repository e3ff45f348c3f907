package waiting

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccbot/bot/attention"
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/quotation"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/each"
	"ccbot/internal/glyph"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
)

const (
	pageSize  = 8
	perRow    = 4
	shownLine = 50              // letters of the first line of a prompt
	timeout   = 5 * time.Second // for the state of the agent
)

// draw shows a queue, or one of its prompts. Instead of a page that no longer exists it shows the
// last one, and instead of a prompt that no longer waits the list.
func (w *Waiting) draw(ctx context.Context, v chat.Visit) (chat.Screen, error) {
	at, say := chat.ViewAt[view](v.Rest), words{w.chat.In(v.To), w.chat.Book, v.To}
	r, known := w.chat.Book.Records.Get(at.Session)
	if !known {
		return chat.Screen{Text: render.Plain(say.Say(i18n.SessionGone))}, nil
	}
	all, s := held(w.entry, r), chat.Screen{Session: r.ID}
	if r.State == port.StateUnknown {
		return s, refusal.ErrUnreachable
	}
	if len(all) == 0 {
		undecided := render.Plain(attention.Undecided(say.Phrases, attention.In(w.chat, r, r.Now)))
		s.Text = chat.Lines(say.Text(i18n.QueueEmpty, i18n.Args{"Name": r.Name}), undecided)
		return s, nil
	}
	var now port.Status
	if r.State.Live() {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		looks, err := w.looks(ctx, r.ID)
		if err != nil {
			return s, err
		}
		now = looks[r.ID]
	}
	asks := attention.In(w.chat, r, now.Now)
	head := []render.Text{say.title(r, now), render.Plain(say.why(r, now, all[0])), render.Plain(attention.Undecided(say.Phrases, asks))}
	if i := slices.IndexFunc(all, func(e inbox.Entry) bool { return e.Key == at.Prompt }); i >= 0 {
		said := i18n.Args{"First": i + 1, "Count": len(all), "Time": say.sent(all[i])}
		parts := render.Quote(glyph.Signs(say.said(all[i]))).Split(render.Limit - room)
		text := parts[0]
		if len(parts) > 1 {
			text = render.Join(text, render.Plain("\n…"))
		}
		s.Text = chat.Paragraphs(chat.Lines(head...),
			chat.Lines(render.Plain(say.Say(i18n.QueueOne, said)), text))
		back := chat.ToPage(view{Session: r.ID, Page: at.Page}.address())
		s.Options = append(say.decisions(r, now, asks, i), []card.Option{say.Option(i18n.AskBack, back, "")})
		return s, nil
	}
	s.Text, s.Options = say.list(head, all, view{Session: r.ID, Page: at.Page})
	return s, nil
}

// held are the prompts that wait, in order. entry reads the inbox.
func held(entry func(key string) (inbox.Entry, error), r port.Session) (all []inbox.Entry) {
	for _, key := range r.Prompts {
		if e, err := entry(key); err == nil && e.State == inbox.Held {
			all = append(all, e)
		}
	}
	return all
}

// Lines are the first lines of the prompts that wait for a session, in order. They are shown in the
// session's chat, which does not get the texts of other chats.
func Lines(entry func(key string) (inbox.Entry, error), r port.Session) []string {
	shown := slices.DeleteFunc(held(entry, r), func(e inbox.Entry) bool { return e.Conversation.ChatID != r.Conversation.ChatID })
	return each.As(shown, func(e inbox.Entry) string { return firstLine(e.Text) })
}

// words builds the texts of a page.
type words struct {
	chat.Phrases
	book *conversation.Book
	to   address.Conversation // the place of the page
}

// list is one page of the queue, with a button for each prompt.
func (w words) list(head []render.Text, all []inbox.Entry, at view) (render.Text, [][]card.Option) {
	part := card.PartOf(len(all), pageSize, at.Page)
	var lines []render.Text
	var buttons []card.Option
	for i, e := range all[part.First:part.Last] {
		number := strconv.Itoa(part.First + i + 1)
		line := w.Say(i18n.Named, i18n.Args{"What": w.sent(e), "Said": firstLine(w.said(e))})
		lines = append(lines, render.Plain(number+". "+line))
		one := view{Session: at.Session, Page: part.Page, Prompt: e.Key}
		buttons = append(buttons, card.Option{Text: number, Value: chat.ToPage(one.address())})
	}
	title := render.Plain(w.Say(i18n.StatusQueue, i18n.Args{"Count": len(all)}))
	text := chat.Paragraphs(chat.Lines(head...), chat.Lines(append([]render.Text{title}, lines...)...))
	turns := part.Turns(func(page int) card.Option {
		return card.Option{Value: chat.ToPage(view{Session: at.Session, Page: page}.address())}
	})
	return chat.Lines(text, render.Plain(w.Place(part))), append(chat.Rows(perRow, buttons...), turns)
}

// decisions returns the actions on the prompt at a place in the queue. A turn is interrupted only
// if one may run: Esc would answer an agent's question, which is shown instead, and an idle agent
// has another obstacle.
func (w words) decisions(r port.Session, now port.Status, asks attention.Attention, at int) (options [][]card.Option) {
	switch {
	case !r.State.Open():
	case asks.Question:
		options = append(options, []card.Option{w.Option(i18n.ButtonShowQuestion, askOption, outbox.Primary)})
	case !now.Idle:
		options = append(options, []card.Option{w.Option(i18n.ButtonInterruptSend, nowOption, outbox.Primary)})
	}
	var row []card.Option
	if at > 0 {
		row = append(row, w.Option(i18n.ButtonSendNext, nextOption, ""))
	}
	row = append(row, w.Option(i18n.ButtonDrop, discardOption, ""))
	return append(options, row)
}

// title is the session and its activity.
func (w words) title(r port.Session, now port.Status) render.Text {
	does := w.StateWithAge(r)
	if r.State == port.StateRunning {
		does = w.NowText(now.Now)
	}
	return w.Text(i18n.Named, i18n.Args{"What": chat.BoldName(r), "Said": does})
}

// inTheWay names the obstacles of a prompt other than the agent's work and its questions.
var inTheWay = map[news.Wait]i18n.Key{
	news.HeldDraft: i18n.QueueDraft, news.HeldBash: i18n.QueueBash,
	news.HeldUnknown: i18n.QueueUnknown, news.HeldScroll: i18n.QueueScroll, news.HeldKeys: i18n.QueueKeys,
	news.HeldSync: i18n.QueueSync, news.HeldSmall: i18n.QueueSmall, news.HeldBudget: i18n.QueueBudget,
	news.HeldCosts: i18n.QueueCosts,
}

// why returns why the first prompt waits, if the title does not have it.
func (w words) why(r port.Session, now port.Status, first inbox.Entry) string {
	switch {
	case !r.State.Live():
		return w.Say(i18n.QueueOver)
	case now.Idle && len(first.Reported) > 0:
		if key := inTheWay[first.Reported[len(first.Reported)-1]]; key != "" {
			return w.Say(key)
		}
	}
	return ""
}

// sent returns when a prompt was sent, and by whom if several people may.
func (w words) sent(e inbox.Entry) string {
	return quotation.Sent(w.Phrases, e, w.book.Several())
}

// said returns a prompt as it is shown in the place of the page.
func (w words) said(e inbox.Entry) string {
	if w.book.Veils(w.to, e.Conversation) {
		return w.Say(i18n.WrittenElsewhere)
	}
	return e.Text
}

// firstLine is the beginning of a prompt in a line.
func firstLine(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if line = glyph.Name(line); rest != "" {
		line += " …"
	}
	return chat.Head(line, shownLine)
}

// room is kept free next to a prompt that is shown in full.
const room = 600
