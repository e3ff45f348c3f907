package claudeui

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"ccbot/agent"
	"ccbot/internal/lazyregexp"
)

const (
	promptSign = '❯'
	bashSign   = '!'

	// minRule keeps short runs of dashes from being taken for an edge of the box. It is the width
	// of the narrowest pane in which a box is recognised.
	minRule = 8
	// maxFooter is more rows than the mode line, a status line of several rows and tmux hints have.
	// Below a live box there are never more rows; below a frozen one there often are.
	maxFooter = 12
)

// isRule reports whether a row is an edge: from the first column, nothing but ─.
func isRule(l line) bool {
	return len(l) >= minRule && l[0].r == '─' && l.only("─")
}

// isNamedRule reports whether a row is the upper edge of a box and as wide as the rule below it.
// The row is a plain rule, or a rule with the session's name in it ("──── ccbot-topic-7 ─").
func isNamedRule(l, below line) bool {
	if len(l) < minRule || l[0].r != '─' || l[len(l)-1].r != '─' {
		return false
	}
	// tmux and this package may disagree about the width of an emoji in the name.
	const tolerance = 4
	d := ansi.StringWidth(l.String()) - len(below)
	return d >= -tolerance && d <= tolerance
}

// findBox finds the rows of the two rules of the prompt box. The lower one is the last rule on the
// screen. Between them stand the row with the sign and, indented by two, the other rows of the
// draft. Text of the agent is indented too, and earlier prompts have no rules, so nothing that an
// agent prints makes a box.
func findBox(lines []line) (top, bottom int, found bool) {
	bottom = -1
	for i, l := range lines {
		if isRule(l) {
			bottom = i
		}
	}
	for i := bottom - 1; i > 0; i-- {
		l := lines[i]
		if hasSign(l) {
			return i - 1, bottom, isNamedRule(lines[i-1], lines[bottom])
		}
		if l.indent() == 0 || l.indent() == 1 {
			return 0, 0, false
		}
	}
	return 0, 0, false
}

// hasSign reports whether a row starts with the prompt sign and a space (no-break in real boxes).
func hasSign(l line) bool {
	if len(l) == 0 || l[0].r != promptSign && l[0].r != bashSign {
		return false
	}
	return len(l) == 1 || blank(l[1].r)
}

func readBox(rows []line) agent.Box {
	b := agent.Box{Present: true, Bash: rows[0][0].r == bashSign}
	var cells []cell // everything visible, in order
	var text []string
	for _, row := range rows {
		row = row[min(2, len(row)):]
		text = append(text, row.String())
		for _, c := range row {
			if !blank(c.r) {
				cells = append(cells, c)
			}
		}
	}
	draft := strings.Trim(strings.ReplaceAll(strings.Join(text, "\n"), "\u00a0", " "), "\n")
	b.Empty = len(cells) == 0 || isPlaceholder(cells) && !pasted.MatchString(draft)
	if !b.Empty {
		b.Text = draft
	}
	return b
}

// isPlaceholder reports whether the visible cells of a box are Claude Code's own hint: dim, except
// the first one if the drawn cursor (reverse video) is on it. A single character under the cursor
// is a person's draft.
func isPlaceholder(cells []cell) bool {
	if !cells[0].Dim && (!cells[0].Reverse || len(cells) == 1) {
		return false
	}
	return !slices.ContainsFunc(cells[1:], func(c cell) bool { return !c.Dim })
}

// belongsToBox reports whether the rows below a box are its footer. A row that begins in the first
// column is something else: the shell after the agent was killed, tmux, or a dialog drawn over an
// old box.
func belongsToBox(footer []line) bool {
	visible := 0
	for _, l := range footer {
		switch {
		case l.indent() < 0:
			continue
		case l.indent() == 0, l.only("─▔╌"), l.first() == '╭':
			return false
		}
		visible++
	}
	return visible <= maxFooter
}

// interrupts matches the offer of the key that ends a turn, which a person may have changed. A
// narrow pane cuts the words.
var interrupts = lazyregexp.New(`(?:^|[ ·])\S+ to int(?:e|$|…)`)

// interruptible reports whether the footer offers the key that ends a turn.
func interruptible(footer []line) bool { return interrupts.MatchString(fold(footer)) }

// These match the last row above the box while work goes on in the background and no turn runs: what Claude Code waits for (2.1.328,
// 2.1.332), or that a turn has ended and left shells (2.1.128, which calls itself busy then). More may follow.
var (
	waiting = lazyregexp.New(`^[✢✳✶✻✽*·] Waiting for (.+) to finish(?: · .*)?$`)
	agents  = lazyregexp.New(`(\d+) (?:background agents?|dynamic workflows?)`)
	leaves  = lazyregexp.New(`^[✢✳✶✻✽*·] \S+ for .+ · \d+ .+ still running(?: · .*)?$`)
)

// lastRow is the last row above the box that begins in the first column.
func lastRow(above []line) string {
	for _, l := range slices.Backward(above) {
		if l.indent() == 0 {
			return l.String()
		}
	}
	return ""
}

// answered reports whether the last row above the box that begins in the first column has output below it, as a command of Claude
// Code's own has: it begins no turn (2.1.332).
func answered(above []line) bool {
	for _, l := range slices.Backward(above) {
		if l.indent() == 0 {
			return false
		}
		if l.indent() > 0 && l.first() == '⎿' {
			return true
		}
	}
	return false
}

// resting reads the last row above the box: whether no turn runs while work goes on in the background, and for how many agents and
// workflows of agents Claude Code waits.
func resting(last string) (waitedFor int, rests bool) {
	said := waiting.FindStringSubmatch(last)
	if said == nil {
		return 0, leaves.MatchString(last)
	}
	return agentsIn(said[1]), true
}

// agentsIn adds up the agents and workflows in the words for what Claude Code waits for.
func agentsIn(words string) (n int) {
	for _, part := range agents.FindAllStringSubmatch(words, -1) {
		one, _ := strconv.Atoi(part[1])
		n += one
	}
	return n
}

// workflow matches the row of a workflow in that list, which has no "● main" above it if no agent is in it (2.1.332).
var workflow = lazyregexp.New(`^◯ .+ \d+/\d+ · [\dhms ]+$`)

// agentsBelow counts the agents and workflows in the background that the list below the box names,
// except those that were stopped.
func agentsBelow(footer []line) (n int) {
	listed := false
	for _, l := range footer {
		row := strings.TrimSpace(l.String())
		if listed && strings.HasPrefix(row, "◯ ") && !strings.Contains(row, " stopped · ") || workflow.MatchString(row) {
			n++
		}
		listed = listed || row == "● main"
	}
	return n
}

// spinning looks for a spinner row ("✶ Zesting… (5s · ↓ 119 tokens)") above the box, up to the last
// thing said. It is the second sign of a running turn, for panes where the footer is cut.
func spinning(above []line) bool {
	for i := len(above) - 1; i >= 0; i-- {
		l := above[i]
		if l.indent() != 0 {
			continue
		}
		if strings.ContainsRune("●❯", l[0].r) {
			return false
		}
		if IsSpinner(l.String()) {
			return true
		}
	}
	return false
}

// IsSpinner reports whether a row is the spinner of a running turn, which changes by itself ("✶
// Zesting… (5s · ↓ 119 tokens)").
func IsSpinner(row string) bool {
	sign, _ := utf8.DecodeRuneInString(row)
	return row != "" && strings.ContainsRune("·✢✳✶✻✽*", sign) && strings.Contains(row, "… (")
}

// compacts matches the spinner while Claude Code shortens the conversation, by itself or after /compact (2.1.328).
var compacts = lazyregexp.New(`^[✢✳✶✻✽*·] Compacting conversation… `)

// fold joins rows into one line of lower-case words, so that wrapped hints are found.
func fold(rows []line) string {
	return strings.ToLower(strings.Join(strings.FieldsFunc(plain(rows), func(r rune) bool {
		return blank(r) || r == '\n'
	}), " "))
}
