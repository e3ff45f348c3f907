package claudeui

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Screen is the content of one capture of a Claude Code pane. The zero value means "nothing
// recognised".
type Screen struct {
	Box    Box     // the prompt box
	Dialog *Dialog // something open that takes keys instead of the box; nil when none is recognised
	// a turn is running: "esc to interrupt" in the footer, or a spinner line above the box
	Busy  bool
	Shell *Shell // a command of bash mode that runs; nil when none is recognised
	Retry *Retry // a request that has failed, and is made again; nil when none is recognised
	Flat  bool   // the layout of screen reader mode
	Text  string // the whole capture as plain text, trailing spaces and trailing blank lines cut

	// Claude Code continues by itself when a limit of the account ends: Esc cancels that
	Continues bool

	// permission mode that the footer names, in Claude Code's words; "" when it names none that is
	// known
	Mode string

	// Editor is the vim mode that the footer names: "INSERT", "VISUAL", "VISUAL LINE" and others.
	// It is empty in vim's normal mode, which has no name there, and without vim.
	Editor string
	Exits  bool // C-c was pressed a moment ago, and a second one would end Claude Code

	Agents     int  // agents that work in the background, as far as they are shown
	Background bool // the turn has ended, and only agents in the background work
}

// Box is the prompt box at the bottom of the screen. If it is not present no text may be typed:
// something else is open, or the screen is unknown.
type Box struct {
	Present bool
	Empty   bool   // nothing typed; a dim placeholder counts as nothing
	Text    string // the draft as shown, one line per shown line; "" when Empty
	Bash    bool   // "!" mode: a submitted text runs as a shell command
}

// Dialog is an open thing that takes keys: a permission, a question, a settings page, a picker. A
// dialog may have no options (a page that can only be closed).
type Dialog struct {
	Title    string   // first line of the dialog
	Lines    []string // everything it shows, options and key hints included, without rules
	Options  []string // labels as shown, first line of each, without numbers
	Selected int      // index into Options; -1 without options
	// its upper edge is on the screen, and none of its rows says that others are hidden
	Whole bool
	// of a dialog in which the answer is typed, the text of each of Options; otherwise none
	Keys  []string
	Typed string // the answer that was typed there, before its Enter
	head  int    // number of Lines above the first option; all without options
}

// IsQuestion reports whether Claude asks a question, and no permission: Claude Code begins such a
// dialog with its topics and their ticks. A dialog that is not Whole may have lost its first row.
func (d *Dialog) IsQuestion() bool {
	if len(d.Lines) == 0 {
		return false
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimSpace(d.Lines[0]))
	return strings.ContainsRune("←☐☒✔", first)
}

// Head returns the rows above the first option, or all rows of a dialog without options.
func (d *Dialog) Head() []string { return d.Lines[:d.head] }

// Asks reports whether other is the same question with the same options, wherever its cursor
// stands. The rows below the options, above all key hints, change with the cursor and are not
// compared.
func (d *Dialog) Asks(other *Dialog) bool {
	return d != nil && other != nil &&
		slices.Equal(d.Head(), other.Head()) && slices.Equal(d.Options, other.Options)
}

// Visual reports whether the box is in a visual mode of vim, in which Enter does nothing.
func (s Screen) Visual() bool { return strings.HasPrefix(s.Editor, "VISUAL") }

// Steady is Text without the rows that change by themselves: spinner rows, the blinking sign before
// a running tool, and blank rows.
func (s Screen) Steady() string {
	rows := strings.Split(s.Text, "\n")
	rows = slices.DeleteFunc(rows, func(row string) bool { return row == "" || IsSpinner(row) })
	for i, row := range rows {
		if rest, ok := strings.CutPrefix(row, "●"); ok {
			rows[i] = " " + rest
		}
	}
	return strings.Join(rows, "\n")
}

// HidesRows reports whether a row of the screen stands for others that are not shown.
func (s Screen) HidesRows() bool {
	return slices.ContainsFunc(strings.Split(s.Text, "\n"), hidden.MatchString)
}

// ReadyToType reports whether text and Enter would go into the prompt box and nowhere else: the box
// is there, empty and not in bash mode, no dialog is open and no turn runs.
func (s Screen) ReadyToType() bool {
	return s.Box.Present && s.Box.Empty && !s.Box.Bash && s.Dialog == nil && !s.Busy
}
