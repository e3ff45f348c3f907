package show

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"

	"github.com/google/uuid"

	"ccbot/cmd/ccbot/terminal"
	"ccbot/port/talk"
)

// Usage is the usage of the agents, in JSON.
type Usage struct {
	Limits []talk.Limit `json:"limits"`
	Spans  []Span       `json:"spans"`
	Days   []float64    `json:"cost_usd_by_day"` // of the last 30 days, today last
	Prices string       `json:"prices"`          // their date
	Unread int          `json:"unread_transcripts,omitempty"`
	Broken string       `json:"broken_prices,omitempty"` // an unusable file of prices

	words string // that express it
}

// Span is the usage of some days, in JSON.
type Span struct {
	Days     int         `json:"days"` // today is the last of them
	All      talk.Sum    `json:"all"`
	Models   []talk.Line `json:"models"` // the most expensive first, and so are the sessions
	Sessions []talk.Line `json:"sessions"`
}

// Used prints what agents use. broken says that a person's own prices cannot be used.
func Used(out io.Writer, rep talk.Report, limits []talk.Limit, broken string, asJSON bool) error {
	u := Usage{Limits: []talk.Limit{}, Spans: []Span{}, Days: rep.Days, Prices: rep.Prices, Unread: rep.Unread, Broken: rep.Broken, words: broken}
	for _, l := range limits {
		l.Resets = l.Resets.UTC()
		u.Limits = append(u.Limits, l)
	}
	for i, days := range talk.ReportSpans() {
		one := rep.Spans[i]
		u.Spans = append(u.Spans, Span{Days: days, All: one.All, Models: append([]talk.Line{}, one.Models...),
			Sessions: append([]talk.Line{}, one.Sessions...)})
	}
	return terminal.Show(out, asJSON, u, u.print)
}

// windows are the limits in words.
var windows = map[talk.LimitWindow]string{talk.FiveHours: "5 hours", talk.Week: "week"}

// print shows the parts of the longest span.
func (u Usage) print(p *terminal.Printer) {
	for _, l := range u.Limits {
		p.Line("limit of the %s: %.0f%% used, until %s", cmp.Or(windows[l.Window], string(l.Window)), l.Percent, when(l.Resets))
	}
	for _, s := range u.Spans {
		p.Line("%-8s %s", fmt.Sprintf("%dd", s.Days), sumText(s.All))
	}
	if len(u.Spans) == 0 {
		return
	}
	longest := u.Spans[len(u.Spans)-1]
	for _, part := range []struct {
		title string
		lines []talk.Line
	}{{"models", longest.Models}, {"sessions", longest.Sessions}} {
		p.Line("%s of %d days", part.title, longest.Days)
		for _, l := range part.lines {
			p.Line("  %s  %s", terminal.Printable(lineName(l)), sumText(l.Sum))
		}
	}
	if u.Unread > 0 {
		p.Line("%s not read in time: call it again", terminal.Several(u.Unread, "transcript"))
	}
	if u.Broken != "" {
		p.Line("%s", terminal.Printable(u.words))
	}
	p.Line("costs are estimates, by prices of %s", terminal.Printable(u.Prices))
}

func lineName(l talk.Line) string {
	if l.Name != "" || l.Session == uuid.Nil {
		return cmp.Or(l.Name, filepath.Base(l.Dir))
	}
	return filepath.Base(l.Dir) + " " + l.Session.String()[:8]
}

func sumText(s talk.Sum) string {
	text := fmt.Sprintf("$%.2f, tokens: %d in, %d from the cache, %d out", s.Cost, s.Input+s.CacheWrite, s.CacheRead, s.Output)
	if s.Unpriced {
		text += ", some models without a price"
	}
	return text
}
