package claudeui

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"ccbot/agent"
	"ccbot/internal/lazyregexp"
)

var (
	// numbered matches an option. A label that an MCP server writes into a form is further from the
	// cursor.
	numbered = lazyregexp.New(`^(\s*(?:❯\s?)?)(\d{1,2})\.\s+(\S.*)$`)

	// submits finds hints that Enter or Esc do not go into the box. The box's own footer only says
	// "esc to interrupt" and "esc to undo".
	submits = lazyregexp.New(`\b(?:enter|return|esc|escape) to\b ?(\S*)`)
	// helps is in the help that "?" opens below the box, which takes keys as before (2.1.128: "double tap esc").
	helps = lazyregexp.New(`\b(?:esc|double tap) esc to clear input\b`)
	// keyHint finds the hints at the foot of any dialog.
	keyHint = lazyregexp.New(`(?:\b(?:enter|return|esc|escape|tab|space|shift\+tab|ctrl\+\S)|↑/↓|←/→|arrow keys) to \S`)
	// enterHint finds the hint that Enter chooses the selected row. A form has none: in its fields
	// Enter goes to the next field, and its last row has two answers, "❯ Accept Decline" (2.1.328).
	enterHint = lazyregexp.New(`\b(?:enter|return) to \S`)
	// stopHint is in the last row of the page of a command or an agent in the background (2.1.328).
	stopHint = lazyregexp.New(`^\s*← to go back · (?:.+ · )?x to stop · `)
)

var (
	// opens is the foot of a list that a person opens with a command: /rewind, /memory, /model, /resume (2.1.332). "Enter to confirm"
	// is at the foot of what asks: the trust of a folder, a key, managed settings.
	opens = lazyregexp.New(`(?i)\benter to (?:select|save|continue|resume|open|view)\b.*\besc to (?:close|cancel|exit|go back)\b`)
	// decides begins an answer, or the title of what asks for one.
	decides = lazyregexp.New(`(?im)^[\s❯>]*(?:\d+\.\s*)?(?:yes|no|allow|accept|enable|turn|continue|stay|switch|confirm|do you)\b`)
	// permits is in what asks whether the agent may do more, or whether something may cost.
	permits = lazyregexp.New(`(?i)\bauto[ -]mode\b|\bmanaged settings\b|\busage credits\b|\bcomputer use\b|\bremote control\b|` +
		`\btrust|\bbypass permissions\b|\bpermission mode\b|\bdo you want\b|\ballow (?:this|it|access)\b`)
)

// isOpened reports whether a dialog is surely a list that a person has opened. The presence file does not say it: Claude Code names
// its own questions in the same way.
func isOpened(d *agent.Dialog) bool {
	text := strings.TrimSpace(strings.Join(d.Lines, "\n"))
	foot := strings.ReplaceAll(text[strings.LastIndex(text, "\n\n")+1:], "\n", " ")
	return !d.Permits && !d.Question && opens.MatchString(foot) && !decides.MatchString(text) && !permits.MatchString(text)
}

var (
	// suspends matches what Claude Code writes after ctrl+z, on an empty screen. tmux continues it at once, but it draws nothing until
	// the next SIGCONT, and its presence file stays as it is (2.1.332).
	suspends = lazyregexp.New(`^Claude Code (?:is|has been) suspended\. `)
	// afterSuspension matches what may follow: the next row of Claude Code (another one in 2.1.128), and the terminal's echo of keys.
	afterSuspension = lazyregexp.New(`^(?:To undo typing, .*|Note: ctrl \+ z now suspends Claude Code.*|(?:\^[A-Z\[][\[A-D~0-9]*)*)$`)
)

// suspended returns the rows that say that Claude Code is suspended, as a dialog, or nil.
func suspended(lines []line) *agent.Dialog {
	for i := len(lines) - 1; i >= 0; i-- {
		switch row := lines[i].String(); {
		case suspends.MatchString(row):
			d := newDialog(lines[i:], noList)
			d.Whole, d.Suspends = true, true
			return d
		case !afterSuspension.MatchString(row):
			return nil
		}
	}
	return nil
}

// searches matches the row in which earlier prompts are searched: keys go there, and the box shows what was found (2.1.128).
var searches = lazyregexp.New(`^\s*(?:search prompts|no matching prompt):`)

// hintRows is the number of rows at the foot of a screen that are searched for key hints; long ones
// wrap.
const hintRows = 4

// takesKeys reports whether the rows below a box belong to something that takes the keys in place
// of the box. The row that names the permission mode is the box's own; a narrow pane cuts its hint
// to "esc to…".
func takesKeys(footer []line) bool {
	footer = slices.DeleteFunc(slices.Clone(footer), func(l line) bool { return modeRow.MatchString(l.String()) })
	option := func(l line) bool {
		return l.first() == promptSign || numberedOption(l) || searches.MatchString(l.String())
	}
	elsewhere := func(hint []string) bool {
		return !strings.HasPrefix(hint[1], "int") && !strings.HasPrefix(hint[1], "undo")
	}
	return slices.ContainsFunc(footer, option) || slices.ContainsFunc(submits.FindAllStringSubmatch(helps.ReplaceAllString(fold(footer), ""), -1), elsewhere)
}

var (
	limited   = lazyregexp.New(`^\s*⚠ Usage limit reached\b`)
	continues = lazyregexp.New(`^\s*Continuing [^·]+ · Esc to cancel\s*$`)
	// warned and goesOn match the same rows in the words that the service may send in their place: they always name the time (2.1.332).
	warned = lazyregexp.New(`^\s*⚠ \S`)
	goesOn = lazyregexp.New(`^\s*[^·❯]*\d[^·❯]* · Esc to cancel\s*$`)
)

// withoutLimit removes the two rows that announce a limit of the account and when Claude Code
// continues by itself: the box above them takes texts and Enter as usual, and Esc cancels the
// automatic continuation (2.1.328). In other words they are known only above the row that names the
// permission mode, which Claude Code draws while the box has the keys.
func withoutLimit(footer []line) (rest []line, limit bool) {
	boxed := slices.ContainsFunc(footer, func(l line) bool { return modeRow.MatchString(l.String()) })
	for i := range len(footer) - 1 {
		head, foot := footer[i].String(), footer[i+1].String()
		usual := limited.MatchString(head) && continues.MatchString(foot)
		served := boxed && warned.MatchString(head) && goesOn.MatchString(foot) && len(keyHint.FindAllString(strings.ToLower(head+foot), 2)) == 1
		if usual || served {
			return slices.Concat(footer[:i], footer[i+2:]), true
		}
	}
	return footer, false
}

// findDialog reads the dialog at the foot of the screen: a list with a selected option, or a page
// with known key hints. It uses the structure, because wording, order and number of the options
// change between versions.
func findDialog(lines []line) *agent.Dialog {
	hinted := keyHint.MatchString(fold(foot(lines)))
	list, listed := cursorList(lines)
	if !listed && !hinted {
		return nil
	}
	anchor := len(lines) - 1
	if listed {
		anchor = list.row
	}
	top, edged := topEdge(lines, anchor)
	for edged && ruleInList(lines, top) {
		top, edged = topEdge(lines, top)
	}
	if !hinted && !edged {
		return nil
	}
	rows := lines[top:]
	sure := cursors(rows) <= 1
	if !sure {
		list = noList
	}
	list.row -= top
	d := newDialog(rows, list)
	// an agent can write an edge into a question: its text begins in the first column
	_, forged := topEdge(lines, top)
	cut := slices.ContainsFunc(rows, func(l line) bool { return hidesRows(l, len(rows[0])) || IsSpinner(l.String()) })
	d.Whole = sure && edged && !forged && list.first <= 1 && !cut
	return d
}

// cursorList finds the list of the lowest cursor on the screen; false if that cursor is not on an
// option. Below the cursor there must be no row with which a dialog begins, and no row of the
// agent's text.
func cursorList(lines []line) (optionList, bool) {
	for i := len(lines) - 1; i >= 0; i-- {
		l := lines[i]
		switch {
		case l.first() == promptSign && numberedOption(l):
			return numberedList(lines, i), true
		// "❯ text" in the first column is an earlier prompt of a person.
		case l.first() == promptSign && l.indent() > 0 && labelColumn(l) > 0:
			if !enterHint.MatchString(fold(hints(lines))) {
				return noList, false
			}
			return plainList(lines, i), true
		case l.first() == promptSign, isHistory(l), isEdge(l) && !ruleInList(lines, i):
			return noList, false
		}
	}
	return noList, false
}

// cursors counts the cursor's signs, which also occur inside a row ("Accept ❯ Decline"). An agent
// may write that sign into the text of a dialog: then it is unknown what is selected.
func cursors(rows []line) int {
	n := 0
	for _, l := range rows {
		n += strings.Count(l.String(), string(promptSign))
	}
	return n
}

// ruleInList reports whether the rule in row i divides one list of numbered options: a question has
// such a rule above "Chat about this". It does if the number of the option below the rule follows
// the number of the last option above it.
func ruleInList(lines []line, i int) bool {
	if !isRule(lines[i]) || i+1 >= len(lines) {
		return false
	}
	column, n, _, ok := parseNumbered(lines[i+1])
	if !ok || n < 2 {
		return false
	}
	for i--; i >= 0 && !isHistory(lines[i]) && !isEdge(lines[i]); i-- {
		if c, k, _, ok := parseNumbered(lines[i]); ok && c == column {
			return k == n-1
		}
	}
	return false
}

// hidden matches the texts that Claude Code draws in place of rows that it does not show: "↑ 22
// more lines", "… +1,204 lines", "… (+3 more lines)", "↓ 4 more", "more below", "[truncated at 2000
// bytes]", an arrow in the place of the cursor. A form cuts the label of a field: "Allow this…: not
// set". If a row only looks like one of them, the chat loses a button and nothing else.
var hidden = lazyregexp.New(`(?i)(?:[↑↓▲▼…⋮]|\.\.\.)\s*\(?\+?\d[\d,.]*\s*(?:more|lines?|rows?|hidden|above|below|\)|$)|` +
	`\d (?:(?:more|hidden|other) (?:lines?|rows?)|(?:lines?|rows?) (?:hidden|more|above|below|omitted))\b|\+\d[\d,.]* (?:more|lines?|rows?)\b|` +
	`\bmore (?:above|below)\b|\btruncated\b|…: |^\s*[↑↓▲▼](?:\s|$)`)

// hidesRows reports whether a row of a dialog stands for others that are not shown, or is cut at
// the width of the dialog.
func hidesRows(l line, width int) bool {
	text := l.String()
	return hidden.MatchString(text) || strings.HasSuffix(text, "…") && ansi.StringWidth(text) >= width-2
}

// hints returns the last rows, up to a blank one. The text of an MCP server is above that.
func hints(lines []line) []line {
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i].indent() < 0 {
			return lines[i+1:]
		}
	}
	return lines
}

// foot is the last rows that are not blank.
func foot(lines []line) (rows []line) {
	for i := len(lines) - 1; i >= 0 && len(rows) < hintRows; i-- {
		if lines[i].indent() >= 0 {
			rows = append(rows, lines[i])
		}
	}
	slices.Reverse(rows)
	return rows
}

// topEdge finds the row below which the dialog around row i starts: a rule, a ▔ row, or the last
// thing said. If there is none, top is the top of the screen and edged is false.
func topEdge(lines []line, i int) (top int, edged bool) {
	for i--; i >= 0; i-- {
		l := lines[i]
		if isEdge(l) {
			return i, true
		}
		if isHistory(l) {
			return i + 1, false
		}
	}
	return 0, false
}

// isEdge reports whether a row is the upper edge of a dialog. An agent's text is indented, so an
// agent cannot draw an edge above a dialog; in the text of a question it can.
func isEdge(l line) bool { return isRule(l) || l.indent() == 0 && l.only("▔") }

// isHistory reports whether a row is the first row of a text that the agent said, or of the end of
// a turn.
func isHistory(l line) bool {
	return l.indent() == 0 && strings.ContainsRune("●✻", l[0].r)
}

func newDialog(rows []line, list optionList) *agent.Dialog {
	d, head := &agent.Dialog{Options: list.labels, Selected: list.selected}, 0
	for i, l := range rows {
		if len(list.labels) > 0 && i == list.row {
			head = len(d.Lines)
		}
		text := l.String()
		if l.only("─▔╌") || IsSpinner(text) || text == "" && (len(d.Lines) == 0 || d.Lines[len(d.Lines)-1] == "") {
			continue
		}
		if d.Title == "" && l.first() != '←' { // ← starts the tab bar of a question
			d.Title = strings.TrimSpace(text)
		}
		d.Lines = append(d.Lines, text)
	}
	if len(list.labels) == 0 {
		head = len(d.Lines)
	}
	d.Head = d.Lines[:head]
	d.Stops = len(list.labels) == 0 && len(d.Lines) > 0 && stopHint.MatchString(d.Lines[len(d.Lines)-1])
	if d.Stops {
		d.Head = nameOfTask(d.Lines)
	}
	return d
}

// nameOfTask returns the rows of the page of a command or an agent in the background that stay the same
// while it runs: its name, its fields but for the clock, and the prompt. They have no digit that counts.
func nameOfTask(rows []string) (name []string) {
	section := "" // the first row of the present one
	for i, row := range rows {
		if i > 0 && rows[i-1] == "" {
			section = strings.TrimSpace(row)
		}
		switch field, _, is := strings.Cut(strings.TrimSpace(row), ":"); {
		case section == "Output":
			return name
		case section == "": // its name and its kind: "general-purpose · 34s · 7.8k tokens"
			kind, _, _ := strings.Cut(row, " · ")
			name = append(name, kind)
		case (section == "Prompt" || strings.Contains(section, ":")) && !(is && field == "Runtime"):
			name = append(name, row)
		}
	}
	return name
}
