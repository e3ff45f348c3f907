package codexui

import (
	"slices"
	"strconv"
	"strings"

	"ccbot/agent"
	"ccbot/internal/capture"
	"ccbot/internal/lazyregexp"
)

// Reader is the agent.Reader of Codex.
type Reader struct{}

// sign is before the box, the selected option and each prompt. The list of logins has loginSign.
const (
	sign      = "›"
	loginSign = "> "
)

// row is a row of the screen, with the styles of its first two characters that are visible.
type row struct {
	text   string
	styles []capture.Style
}

func rowsOf(text string) (rows []row) {
	var now row
	capture.Parse(text, func(r rune, s capture.Style) {
		if now.text += string(r); r != ' ' && len(now.styles) < 2 {
			now.styles = append(now.styles, s)
		}
	}, func() {
		now.text = strings.TrimRight(now.text, " \u00a0")
		rows, now = append(rows, now), row{}
	})
	for len(rows) > 0 && rows[len(rows)-1].text == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// Read looks for the lowest row with the sign. Status is not used: Codex runs no command for it.
func (Reader) Read(text string, _ ...string) (s agent.Screen) {
	rows := rowsOf(text)
	all := make([]string, len(rows))
	for i, r := range rows {
		all[i] = r.text
	}
	s.Text = strings.Join(all, "\n")
	if len(rows) == 0 || strings.HasPrefix(all[len(all)-1], "Pane is dead") {
		return s
	}
	at := len(rows) - 1
	for at >= 0 && !strings.HasPrefix(rows[at].text, sign) && !isList(rows[at].text) {
		at--
	}
	if at < 0 {
		return s
	}
	if s.Dialog = dialog(all, at); s.Dialog != nil || isList(all[at]) {
		return s
	}
	if first := rows[at].styles[0]; !first.Bold || first.Dim || first.Reverse {
		return s // an earlier prompt
	}
	s.Box = box(rows[at:])
	for _, text := range all[max(0, at-busyRows):at] {
		s.Busy = s.Busy || strings.Contains(text, "esc to interrupt")
		if m := retrying.FindStringSubmatch(text); m != nil {
			s.Retry = m[1]
		}
	}
	return s
}

// retrying matches the line of a turn whose request has failed and is repeated: "Reconnecting... 2/4".
var retrying = lazyregexp.New(`^[•◦] (Reconnecting\b.*) \(\d.*esc to interrupt\)`)

// busyRows is more than the rows between the line of a running turn and the box.
const busyRows = 8

func box(rows []row) agent.Box {
	b := agent.Box{Present: true, Whole: true, Empty: len(rows[0].styles) < 2 || rows[0].styles[1].Dim}
	if b.Empty {
		return b
	}
	draft := []string{strings.TrimSpace(strings.TrimPrefix(rows[0].text, sign))}
	for _, r := range rows[1:] {
		if r.text == "" {
			break
		}
		draft = append(draft, strings.TrimSpace(r.text))
	}
	b.Text = strings.Join(draft, "\n")
	b.Bash = strings.HasPrefix(b.Text, "!")
	b.Whole = !strings.Contains(b.Text, "[Pasted Content")
	return b
}

// option matches an option. Those of a question of the agent and of a form are indented.
var option = lazyregexp.New(`^ {0,2}(?:[›>] |  )(\d{1,2})\. (.+)$`)

// isList reports whether a row is the selected option of a list that no other row begins with the sign
// of: the list of logins, a question, or a form.
func isList(text string) bool {
	n, _ := number(text)
	return n > 0 && (strings.HasPrefix(text, loginSign) || strings.HasPrefix(text, "  "+sign))
}

// isSelected reports whether a row has a sign of the selected option.
func isSelected(text string) bool {
	return strings.HasPrefix(text, sign) || strings.HasPrefix(text, loginSign) || isList(text)
}

// number returns the number and the label of an option, 0 for another row.
func number(text string) (n int, label string) {
	m := option.FindStringSubmatch(text)
	if m == nil {
		return 0, ""
	}
	n, _ = strconv.Atoi(m[1])             // it has one or two digits
	label, _, _ = strings.Cut(m[2], "  ") // its description may follow in a column of its own
	return n, label
}

// dialog reads the list of options around a row, and what is above it; nil: there is no list of at
// least two options.
func dialog(all []string, at int) *agent.Dialog {
	selected, _ := number(all[at])
	first, last := at, at
	d := &agent.Dialog{}
	for i, want := at, selected; i >= 0 && want > 0; i-- { // labels may wrap to rows without a number
		if n, label := number(all[i]); n == want {
			d.Options = append([]string{label}, d.Options...)
			first, want = i, want-1
		}
	}
	d.Selected = len(d.Options) - 1
	for i, want := at+1, selected+1; i < len(all); i++ { // each may have a text and an empty row
		if n, label := number(all[i]); n == want {
			d.Options = append(d.Options, label)
			last, want = i, want+1
		}
	}
	if selected == 0 || len(d.Options) < 2 || last-first > maxRows {
		return nil
	}
	lastNumber, _ := number(all[last])
	top := first
	for top > 0 && (all[top-1] == "" || strings.HasPrefix(all[top-1], "  ")) {
		top--
	}
	for _, text := range all[top:] {
		if text == "" && (len(d.Lines) == 0 || d.Lines[len(d.Lines)-1] == "") {
			continue
		}
		d.Lines = append(d.Lines, unanswered.ReplaceAllString(text, "$1"))
	}
	d.Title = strings.TrimSpace(d.Lines[0])
	head := slices.Index(d.Lines, all[first])
	d.Head = d.Lines[:head]
	second := slices.ContainsFunc(slices.Concat(all[first:at], all[at+1:]), isSelected)
	d.Whole, d.FromTop = first-top < maxRows && len(d.Options) == lastNumber && !second, top == 0
	d.Permits = strings.HasPrefix(d.Options[0], "Yes") || strings.HasPrefix(d.Options[0], "Allow")
	return d
}

// unanswered is in the first row of a form once its cursor was moved. It is the same question as before.
var unanswered = lazyregexp.New(`^(  Field \d+/\d+) \(\d+ required unanswered\)$`)

// maxRows is more than a dialog has.
const maxRows = 60

// Holds reports whether the draft is the text, apart from white space.
func (Reader) Holds(b agent.Box, text string) bool {
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
	return b.Present && !b.Empty && squeeze(b.Text) == squeeze(text)
}

// Runs knows no command: a person's command is a turn.
func (Reader) Runs(*agent.Shell, string) bool { return false }

// Steady leaves out the row of a running turn, which has its duration.
func (Reader) Steady(text string) string {
	if strings.Contains(text, "esc to interrupt") {
		return ""
	}
	return text
}

// Hides finds the texts in the place of rows: "… +15 lines", "+ 15 lines (^t to expand)".
func (Reader) Hides(text string) bool { return hidden.MatchString(text) }

var hidden = lazyregexp.New(`\+ ?\d+ lines?\b`)
