package usage

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/internal/glyph"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/talk"
)

// page is the name of the page.
const page = "usage"

const (
	shownSessions = 8
	shownModels   = 8
	// timeout is how long counting may keep a person waiting.
	timeout = 5 * time.Second
)

// usage shows the consumption of agents.
type usage struct {
	chat     *chat.Chat
	spending talk.Spending
	budgets  func(to outbox.Conversation, rep talk.Report) []string // a line each
	cards    chat.Cards[warning]                                    // each open until its window ends: it proves that the chat was warned
}

// New returns the feature.
func New(c *chat.Chat, s talk.Spending, budgets func(to outbox.Conversation, rep talk.Report) []string) chat.Feature {
	u := &usage{chat: c, spending: s, budgets: budgets, cards: chat.NewCards[warning](c, warningKind)}
	return chat.Feature{Name: page, Commands: []chat.Command{c.Pages.Command(page, page)},
		Pages: map[string]chat.Page{page: {Draw: u.draw}},
		Cards: map[string]chat.OnTap{warningKind: u.cards.OnTap(func(_ context.Context, t chat.Tap, _ warning) (chat.Answer, error) {
			return chat.Do(func(ctx context.Context) error { // the page, below the warning
				return c.Pages.Open(ctx, chat.Incoming{Message: conversation.Message{To: t.To}, From: t.From}, page)
			})
		})}, Run: u.run}
}

// place is the address of the page.
type place struct {
	Span int `json:"span,omitempty"` // the index of a span
	Page int `json:"page,omitempty"` // of its sessions
}

func (p place) address() string { return chat.Address(page, p) }

// draw shows a page.
func (u *usage) draw(ctx context.Context, v chat.Visit) (chat.Screen, error) {
	at, w := chat.ViewAt[place](v.Rest), words{u.chat.In(v.To)}
	rep, err := u.spending.Spent(ctx, timeout)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return chat.Screen{Text: render.Plain(w.Say(i18n.UsageBusy)), Back: "menu",
			Options: [][]card.Option{{w.Option(i18n.ButtonRefresh, chat.ToPage(at.address()), "")}}}, nil
	case err != nil:
		return chat.Screen{}, err
	}
	at.Span = min(max(at.Span, 0), len(rep.Spans)-1)
	rep.Spans = slices.Clone(rep.Spans) // the sums are of all sessions, the rows of a group its own
	rep.Spans[at.Span].Sessions = slices.DeleteFunc(slices.Clone(rep.Spans[at.Span].Sessions), func(l talk.Line) bool {
		r, _ := u.chat.Book.Records.Get(l.Session) // an unknown one belongs to no chat
		return u.chat.Book.Veils(v.To, r.Conversation)
	})
	part := card.PartOf(len(rep.Spans[at.Span].Sessions), shownSessions, at.Page)
	at.Page = part.Page
	known, err := u.spending.Limits(ctx)
	if err != nil {
		return chat.Screen{}, err
	}
	limits := append(each.As(known, w.limit), u.budgets(v.To, rep)...)
	return chat.Screen{Text: w.page(rep, limits, at, part), Options: w.options(at, part), Back: "menu"}, nil
}

// words are the sentences of the page in one language.
type words struct{ chat.Phrases }

// page is the text of the page. limits are the lines about limits and budgets.
func (w words) page(rep talk.Report, limits []string, at place, part card.Part) render.Text {
	span := rep.Spans[at.Span]
	parts := []render.Text{render.Bold(w.Say(i18n.UsageTitle)), render.Plain(strings.Join(limits, "\n")), w.spans(rep, at)}
	if span.All.Tokens() == 0 {
		parts = append(parts, render.Plain(w.Say(i18n.UsageNone)))
	} else {
		parts = append(parts, w.lines(i18n.UsageModels, span.Models[:min(len(span.Models), shownModels)]))
		if len(span.Machines) > 0 {
			parts = append(parts, w.lines(i18n.UsageMachines, span.Machines))
		}
		parts = append(parts, w.sessions(span.Sessions, part))
	}
	return chat.Paragraphs(append(parts, w.notes(rep, span.All))...)
}

// lines are models or machines below a title.
func (w words) lines(title i18n.Key, all []talk.Line) render.Text {
	lines := []render.Text{render.Plain(w.Say(title))}
	for _, l := range all {
		lines = append(lines, w.line(render.Plain(glyph.Name(chat.Head(l.Name, 40))), l.Sum))
	}
	return chat.Lines(lines...)
}

// limit shows the use of a limit, and when it ends.
func (w words) limit(l talk.Limit) string {
	return w.Say(i18n.LimitUsed, i18n.Args{"Window": w.Say(i18n.LimitKey.Of(string(l.Window))), "Percent": w.Percent(math.Floor(l.Percent)), "At": w.At(l.Resets)})
}

// spans are the sums of all spans; the page's span is bold, and has its tokens below.
func (w words) spans(rep talk.Report, at place) render.Text {
	var lines []render.Text
	for i, days := range talk.ReportSpans() {
		said := render.Plain(w.Say(i18n.Named, i18n.Args{"What": w.span(days), "Said": w.money(rep.Spans[i].All.Cost)}))
		if i == at.Span {
			s := rep.Spans[i].All
			said = chat.Lines(render.Bold(said.Text), render.Plain(w.Say(i18n.StatusTokens, i18n.Args{"In": w.Rounded(s.Input + s.CacheWrite),
				"Cached": w.Rounded(s.CacheRead), "Out": w.Rounded(s.Output)})))
		}
		lines = append(lines, said)
	}
	return chat.Lines(lines...)
}

func (w words) span(days int) string {
	if days == 1 {
		return w.Say(i18n.UsageToday)
	}
	return w.Say(i18n.UsageDays, i18n.Args{"Count": days})
}

// sessions are the sessions of one page, the most expensive first.
func (w words) sessions(all []talk.Line, part card.Part) render.Text {
	title := w.Say(i18n.UsageSessions)
	if at := w.Place(part); at != "" {
		title = w.Say(i18n.Noted, i18n.Args{"What": title, "Note": at})
	}
	lines := []render.Text{render.Plain(title)}
	for _, l := range all[part.First:part.Last] {
		name := render.Bold(chat.ShownName(l.Name))
		if l.Name == "" { // ccbot does not know it: people know the folder
			name = render.Plain(chat.ShownName(strings.TrimLeft(path.Base(l.Dir), "./")) + " " + l.Session.String()[:8])
		}
		lines = append(lines, w.line(name, l.Sum))
	}
	return chat.Lines(lines...)
}

// line is one model or session, with its consumption.
func (w words) line(name render.Text, s talk.Sum) render.Text {
	tokens := w.Rounded(s.Tokens())
	said := w.money(s.Cost) + w.Say(i18n.JoinParts) + tokens
	if s.Unpriced && s.Cost == 0 {
		said = w.Say(i18n.UsageNoPrice, i18n.Args{"Tokens": tokens})
	}
	return render.Join(render.Plain("• "), w.Text(i18n.Named, i18n.Args{"What": name, "Said": said}))
}

// notes describes the basis of the figures, and what is missing in them.
func (w words) notes(rep talk.Report, all talk.Sum) render.Text {
	var lines []render.Text
	if rep.Unread > 0 {
		lines = append(lines, render.Plain(chat.Warning+w.Say(i18n.UsageUnread, i18n.Args{"Count": rep.Unread})))
	}
	if rep.Silent > 0 {
		lines = append(lines, render.Plain(chat.Warning+w.Say(i18n.UsageSilent, i18n.Args{"Count": rep.Silent})))
	}
	if rep.Broken != "" {
		lines = append(lines, render.Join(render.Plain(chat.Warning), w.Text(i18n.UsagePricesBroken, i18n.Args{"Path": render.Code(w.Short(rep.Broken))})))
	}
	if all.Unpriced {
		lines = append(lines, render.Plain(w.Say(i18n.UsageIncomplete)))
	}
	prices := rep.Prices
	if day, err := time.ParseInLocation(time.DateOnly, prices, time.Local); err == nil {
		prices = w.Day(day)
	}
	lines = append(lines, render.Plain(w.Say(i18n.UsagePrices, i18n.Args{"Date": prices, "Source": glyph.Name(chat.Head(rep.Source, 60))})))
	return chat.Lines(lines...)
}

// options lead to the spans and through the sessions.
func (w words) options(at place, part card.Part) [][]card.Option {
	var spans []card.Option
	for i, days := range talk.ReportSpans() {
		word := w.span(days)
		if i == at.Span {
			word = "✓ " + word
		}
		spans = append(spans, card.Option{Text: word, Value: chat.ToPage(place{Span: i}.address())})
	}
	turns := part.Turns(func(page int) card.Option {
		return card.Option{Value: chat.ToPage(place{at.Span, page}.address())}
	})
	return [][]card.Option{spans, turns, {w.Option(i18n.ButtonRefresh, chat.ToPage(at.address()), "")}}
}

// money is an amount of dollars.
func (w words) money(d float64) string {
	if d > 0 && d < 0.005 {
		return "<" + w.Dollars(0.01, 2)
	}
	return w.Dollars(d, 2)
}

// levels are the percents at which people are warned, the highest first; occasions decide whether a
// warning sounds.
var (
	levels    = []int{95, 80}
	occasions = []chat.Occasion{chat.LimitUrgent, chat.LimitNear}
)

// warning is one that a chat has had.
type warning struct {
	Window talk.LimitWindow `json:"window"`
	Level  int              `json:"level"`
	Resets time.Time        `json:"resets"`
}

const warningKind = "limit-warning"

// unreachableInterval is the time between two calls to a silent machine.
const unreachableInterval = 30 * time.Second

// run warns whenever limits change.
func (u *usage) run(ctx context.Context) error {
	for {
		err := u.spending.LimitsChange(ctx)
		if ctx.Err() != nil {
			return nil
		}
		known, unread := u.spending.Limits(ctx)
		if errors.Join(err, unread) != nil { // the machine does not answer
			_ = pause.For(ctx, unreachableInterval)
			continue
		}
		for _, l := range known {
			if err := u.warn(ctx, l); err != nil {
				u.chat.Log.Warn("limit_not_told", logkey.Error, err)
			}
		}
	}
}

// warn warns each private chat that was not warned as loudly in this window.
func (u *usage) warn(ctx context.Context, l talk.Limit) (all error) {
	i := slices.IndexFunc(levels, func(level int) bool { return l.Percent >= float64(level) })
	if i < 0 {
		return nil
	}
	warned := u.cards.List()
	for _, to := range u.chat.Book.PrivateChats() {
		if slices.ContainsFunc(warned, func(c card.Card[warning]) bool {
			p := c.Payload
			return c.Content.To == to && p.Window == l.Window && p.Level >= levels[i] && p.Resets.Sub(l.Resets).Abs() < talk.LimitsApart
		}) {
			continue
		}
		p := words{u.chat.In(to)}
		look := card.Content{To: to, Text: render.Plain(chat.Warning + p.limit(l)), Until: l.Resets,
			Sounds:  u.chat.Sounds(occasions[i], port.Session{Conversation: to}),
			Options: [][]card.Option{{p.Option(i18n.ButtonUsage, page, outbox.Primary)}}}
		key := fmt.Sprintf("%s-%d-%d-%d", l.Window, levels[i], l.Resets.Unix(), to.ChatID)
		all = errors.Join(all, u.cards.Show(ctx, key, look, warning{l.Window, levels[i], l.Resets}))
	}
	return all
}
