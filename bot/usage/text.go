package usage

import (
	"fmt"
	"path"
	"strings"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/port/spending"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
)

// words are the sentences of the page in one language.
type words struct{ chat.Phrases }

// page is all that the page says.
func (w words) page(rep spending.Report, limits []spending.Limit, at place) render.Text {
	span := rep.Spans[at.span]
	parts := []render.Text{render.Bold(w.Say(i18n.UsageTitle)), w.limits(limits), w.spans(rep, at)}
	if span.All.Tokens() == 0 {
		parts = append(parts, render.Plain(w.Say(i18n.UsageNone)))
	} else {
		parts = append(parts, w.models(span.Models), w.sessions(span.Sessions, at.page))
	}
	return chat.Paragraphs(append(parts, w.notes(rep, span.All))...)
}

func (w words) limits(all []spending.Limit) render.Text {
	var lines []render.Text
	for _, l := range all {
		lines = append(lines, render.Plain(w.limit(l)))
	}
	return chat.Lines(lines...)
}

// limit says how far a limit is used, and when it ends.
func (w words) limit(l spending.Limit) string {
	return w.Say(i18n.LimitUsed, i18n.Args{"Window": w.Say(i18n.LimitKey(string(l.Window))), "Percent": int(l.Percent), "Time": w.Moment(l.Resets)})
}

// spans are the sums of all spans; that of the page is bold, and has its tokens below.
func (w words) spans(rep spending.Report, at place) render.Text {
	var lines []render.Text
	for i, days := range spending.Spans() {
		said := render.Plain(w.Say(i18n.Named, i18n.Args{"What": w.span(days), "Said": money(rep.Spans[i].All.Cost)}))
		if i == at.span {
			s := rep.Spans[i].All
			said = chat.Lines(render.Bold(said.Text), render.Plain(w.Say(i18n.StatusTokens, i18n.Args{"In": i18n.Rounded(s.Input + s.CacheWrite),
				"Cached": i18n.Rounded(s.CacheRead), "Out": i18n.Rounded(s.Output)})))
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

func (w words) models(all []spending.Line) render.Text {
	lines := []render.Text{render.Plain(w.Say(i18n.UsageModels))}
	for _, l := range all[:min(len(all), shownModels)] {
		lines = append(lines, w.line(render.Plain(glyph.Name(chat.Head(l.Name, 40))), l.Sum))
	}
	return chat.Lines(lines...)
}

// sessions are those of one page, the most expensive first.
func (w words) sessions(all []spending.Line, page int) render.Text {
	first := page * shownSessions
	last := min(first+shownSessions, len(all))
	title := w.Say(i18n.UsageSessions)
	if len(all) > shownSessions {
		title = w.Say(i18n.Noted, i18n.Args{"What": title,
			"Note": w.Say(i18n.ChoicePage, i18n.Args{"First": first + 1, "Last": last, "Count": len(all)})})
	}
	lines := []render.Text{render.Plain(title)}
	for _, l := range all[first:last] {
		name := render.Bold(chat.ShownName(l.Name))
		if l.Name == "" { // ccbot does not know it: people know the folder
			name = render.Plain(chat.ShownName(strings.TrimLeft(path.Base(l.Dir), "./")) + " " + l.Session.String()[:8])
		}
		lines = append(lines, w.line(name, l.Sum))
	}
	return chat.Lines(lines...)
}

// line is one model or session, with what it has used.
func (w words) line(name render.Text, s spending.Sum) render.Text {
	tokens := i18n.Rounded(s.Tokens())
	said := money(s.Cost) + w.Say(i18n.JoinParts) + tokens
	if s.Unpriced && s.Cost == 0 {
		said = w.Say(i18n.UsageNoPrice, i18n.Args{"Tokens": tokens})
	}
	return render.Join(render.Plain("• "), w.Text(i18n.Named, i18n.Args{"What": name, "Said": said}))
}

// notes say what the figures rest on, and what is missing in them.
func (w words) notes(rep spending.Report, all spending.Sum) render.Text {
	var lines []render.Text
	if rep.Unread > 0 {
		lines = append(lines, render.Plain(chat.Warning+w.Say(i18n.UsageUnread, i18n.Args{"Count": rep.Unread})))
	}
	if rep.Broken != "" {
		lines = append(lines, render.Join(render.Plain(chat.Warning), w.Text(i18n.UsagePricesBroken, i18n.Args{"Path": render.Code(w.Short(rep.Broken))})))
	}
	if all.Unpriced {
		lines = append(lines, render.Plain(w.Say(i18n.UsageIncomplete)))
	}
	lines = append(lines, render.Plain(w.Say(i18n.UsagePrices, i18n.Args{"Date": rep.Prices, "Source": glyph.Name(chat.Head(rep.Source, 60))})))
	return chat.Lines(lines...)
}

// options lead to the spans, through the sessions, and to the picture.
func (w words) options(at place, more bool) [][]card.Option {
	var spans []card.Option
	for i, days := range spending.Spans() {
		word := w.span(days)
		if i == at.span {
			word = "✓ " + word
		}
		spans = append(spans, card.Option{Text: word, Value: chat.ToPage(place{span: i}.address())})
	}
	rows := [][]card.Option{spans}
	if turns := chat.Turns(at.page, more, func(page int) card.Option {
		return card.Option{Value: chat.ToPage(place{at.span, page}.address())}
	}); len(turns) > 0 {
		rows = append(rows, turns)
	}
	return append(rows, []card.Option{w.Option(i18n.ButtonPicture, chat.Does(picture), ""),
		w.Option(i18n.ButtonRefresh, chat.ToPage(at.address()), "")})
}

// money is an amount of dollars.
func money(d float64) string {
	if d > 0 && d < 0.005 {
		return "<$0.01"
	}
	return fmt.Sprintf("$%.2f", d)
}
