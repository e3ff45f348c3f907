package show

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/port/spending"
	"ccbot/cmd/ccbot/terminal"
)

// Usage is what agents use, in JSON.
type Usage struct {
	Limits []Limit   `json:"limits"`
	Spans  []Span    `json:"spans"`
	Days   []float64 `json:"cost_usd_by_day"` // of the last 30 days, today last
	Prices string    `json:"prices"`          // their date
	Unread int       `json:"unread_transcripts,omitempty"`
	Broken string    `json:"broken_prices,omitempty"` // the file of a person's own prices that cannot be used

	words string // that say so
}

// Limit is how far a limit of the account is used, in JSON.
type Limit struct {
	Window  string    `json:"window"` // five_hours or week
	Percent float64   `json:"percent"`
	Resets  time.Time `json:"resets_at"`
}

// Span is what was used in some days, in JSON.
type Span struct {
	Days     int    `json:"days"` // today is the last of them
	All      Sum    `json:"all"`
	Models   []Line `json:"models"`
	Sessions []Line `json:"sessions"`
}

// Line is the part of one model or session, the most expensive first.
type Line struct {
	Name    string    `json:"name,omitempty"`
	Session uuid.UUID `json:"session_id,omitzero"` // of ccbot, or else of Claude Code's conversation
	Dir     string    `json:"dir,omitempty"`       // of a session that ccbot does not know
	Sum
}

// Sum is tokens and what they cost.
type Sum struct {
	Input      int64   `json:"input_tokens"`
	Output     int64   `json:"output_tokens"`
	CacheRead  int64   `json:"cache_read_tokens"`
	CacheWrite int64   `json:"cache_write_tokens"`
	Cost       float64 `json:"cost_usd"`           // an estimate
	Unpriced   bool    `json:"unpriced,omitempty"` // it leaves out models whose price is not known
}

// Used prints what agents use. broken says that a person's own prices cannot be used.
func Used(out io.Writer, rep spending.Report, limits []spending.Limit, broken string, asJSON bool) error {
	u := Usage{Limits: []Limit{}, Spans: []Span{}, Days: rep.Days, Prices: rep.Prices, Unread: rep.Unread, Broken: rep.Broken, words: broken}
	for _, l := range limits {
		u.Limits = append(u.Limits, Limit{string(l.Window), l.Percent, l.Resets.UTC()})
	}
	for i, days := range spending.Spans() {
		one := rep.Spans[i]
		u.Spans = append(u.Spans, Span{Days: days, All: Sum(one.All), Models: linesOf(one.Models), Sessions: linesOf(one.Sessions)})
	}
	return terminal.Show(out, asJSON, u, u.print)
}

func linesOf(all []spending.Line) []Line {
	lines := []Line{}
	for _, l := range all {
		lines = append(lines, Line{Name: l.Name, Session: l.Session, Dir: l.Dir, Sum: Sum(l.Sum)})
	}
	return lines
}

// windows are the limits in words.
var windows = map[string]string{string(spending.FiveHours): "5 hours", string(spending.Week): "week"}

// print shows the parts of the longest span.
func (u Usage) print(p *terminal.Printer) {
	for _, l := range u.Limits {
		p.Line("limit of the %s: %.0f%% used, until %s", cmp.Or(windows[l.Window], l.Window), l.Percent, when(l.Resets))
	}
	for _, s := range u.Spans {
		p.Line("%-8s %s", fmt.Sprintf("%dd", s.Days), s.All.text())
	}
	if len(u.Spans) == 0 {
		return
	}
	longest := u.Spans[len(u.Spans)-1]
	for _, part := range []struct {
		title string
		lines []Line
	}{{"models", longest.Models}, {"sessions", longest.Sessions}} {
		p.Line("%s of %d days", part.title, longest.Days)
		for _, l := range part.lines {
			p.Line("  %s  %s", terminal.Printable(l.name()), l.text())
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

func (l Line) name() string {
	if l.Name != "" || l.Session == uuid.Nil {
		return cmp.Or(l.Name, filepath.Base(l.Dir))
	}
	return filepath.Base(l.Dir) + " " + l.Session.String()[:8]
}

func (s Sum) text() string {
	text := fmt.Sprintf("$%.2f, tokens: %d in, %d from the cache, %d out", s.Cost, s.Input+s.CacheWrite, s.CacheRead, s.Output)
	if s.Unpriced {
		text += ", some models without a price"
	}
	return text
}
