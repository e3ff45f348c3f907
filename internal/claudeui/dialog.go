package claudeui

import (
	"regexp"
	"slices"
	"strings"
)

var (
	numbered = regexp.MustCompile(`^(\s*(?:❯\s*)?)(\d{1,2})\.\s+(\S.*)$`)

	// submits finds hints that Enter or Esc go elsewhere than into the box. The box's own footer only
	// says "esc to interrupt" and "esc to undo".
	submits = regexp.MustCompile(`\b(?:enter|return|esc|escape) to\b ?(\S*)`)
	// keyHint finds the hints at the foot of any dialog.
	keyHint = regexp.MustCompile(`(?:\b(?:enter|return|esc|escape|tab|space|shift\+tab|ctrl\+\S)|↑/↓|←/→|arrow keys) to \S`)
)

// hintRows is how many rows at the foot of a screen are searched for key hints; long ones wrap.
const hintRows = 4

// takesKeys reports whether the rows below a box belong to something that takes keys instead of it.
func takesKeys(footer []line) bool {
	for _, l := range footer {
		if l.first() == promptSign || numberedOption(l) {
			return true
		}
	}
	for _, m := range submits.FindAllStringSubmatch(fold(footer), -1) {
		if !strings.HasPrefix(m[1], "int") && !strings.HasPrefix(m[1], "undo") {
			return true
		}
	}
	return false
}

// dialogBelow reads a dialog drawn below an old box, whose lower rule is the first row: it is the upper edge
// here. It always returns a dialog.
func dialogBelow(rows []line) *Dialog {
	if d := findDialog(rows); d != nil {
		return d
	}
	return newDialog(rows, optionList{selected: -1})
}

// findDialog reads the dialog at the foot of the screen: a list with a selected option, or a page with
// known key hints. It goes by structure, because wording, order and number of the options change between
// versions.
func findDialog(lines []line) *Dialog {
	hinted := keyHint.MatchString(fold(foot(lines)))
	if sel := lastSelected(lines, numberedOption); sel >= 0 {
		list := numberedList(lines, sel)
		// From the first option up: a question has a rule inside its list, above "Chat about this".
		top, edged := topEdge(lines, list.row)
		if !hinted && !edged {
			return nil
		}
		return newDialog(lines[top:], list.below(top))
	}
	if !hinted {
		return nil
	}
	anchor := len(lines) - 1
	list := optionList{selected: -1}
	if sel := lastSelected(lines, plainOption); sel >= 0 {
		anchor, list = sel, plainList(lines, sel)
	}
	top, edged := topEdge(lines, anchor)
	for edged && top > 0 && goesOn(lines[top:]) {
		top, edged = topEdge(lines, top)
	}
	return newDialog(lines[top:], list.below(top))
}

// goesOn reports whether a list of options has begun above these rows: a question has a rule inside its list,
// and its cursor may stand on a row that is none of the options.
func goesOn(lines []line) bool {
	for _, l := range lines {
		if _, n, _, ok := parseNumbered(l); ok {
			return n > 1
		}
	}
	return false
}

// foot is the last rows that are not blank.
func foot(lines []line) []line {
	var rows []line
	for i := len(lines) - 1; i >= 0 && len(rows) < hintRows; i-- {
		if lines[i].indent() >= 0 {
			rows = append(rows, lines[i])
		}
	}
	slices.Reverse(rows)
	return rows
}

// topEdge finds the row below which the dialog around row i starts: a rule, a ▔ row, or the last thing
// said. Without any it is the top of the screen and edged is false.
func topEdge(lines []line, i int) (top int, edged bool) {
	for i--; i >= 0; i-- {
		l := lines[i]
		if isRule(l) || l.indent() == 0 && l.only("▔") {
			return i, true
		}
		if isHistory(l) {
			return i + 1, false
		}
	}
	return 0, false
}

// isHistory reports whether a row is the first one of something the agent said or of a turn's end.
func isHistory(l line) bool {
	return l.indent() == 0 && strings.ContainsRune("●✻", l[0].r)
}

func newDialog(rows []line, list optionList) *Dialog {
	d := &Dialog{Options: list.labels, Selected: list.selected}
	for i, l := range rows {
		if len(list.labels) > 0 && i == list.row {
			d.head = len(d.Lines)
		}
		text := l.String()
		if l.only("─▔╌") || isSpinner([]rune(text)) || text == "" && (len(d.Lines) == 0 || d.Lines[len(d.Lines)-1] == "") {
			continue
		}
		if d.Title == "" && l.first() != '←' { // ← starts the tab bar of a question
			d.Title = strings.TrimSpace(text)
		}
		d.Lines = append(d.Lines, text)
	}
	if len(list.labels) == 0 {
		d.head = len(d.Lines)
	}
	return d
}
