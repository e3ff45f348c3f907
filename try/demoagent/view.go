package demoagent

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// Colours of the real screen.
const (
	plain   = "\x1b[0m"
	bold    = "\x1b[1m"
	grey    = "\x1b[38;5;246m"
	dark    = "\x1b[38;5;239m"
	border  = "\x1b[38;5;244m"
	blue    = "\x1b[38;5;153m"
	pink    = "\x1b[38;5;211m"
	orange  = "\x1b[38;5;174m"
	yellow  = "\x1b[38;5;220m"
	bright  = "\x1b[38;5;231m"
	userRow = "\x1b[48;5;237m"
)

// nbsp stands between the prompt mark and the text in the box, as in the real one.
const nbsp = "\u00a0"

// entry is one thing in the conversation as the screen shows it.
type entry struct {
	kind entryKind
	text string
}

type entryKind int

const (
	userEntry entryKind = iota
	assistantEntry
	toolEntry  // a tool call: title, then its details
	noteEntry  // hangs below the entry before: "⎿  Interrupted"
	errorEntry // an API error
	bashEntry  // "! command"
	outEntry   // the output
	endEntry   // "✻ Worked for 3s"
)

// view is everything the screen shows. Drawing it is pure.
type view struct {
	width, height int
	cwd           string
	entries       []entry
	streaming     string // the answer so far
	working       time.Duration
	busy          bool
	waitingHook   string // the hook event that the turn waits for
	queued        []string
	box           *box
	dialog        dialog
	mode          string
	hint          string     // replaces the footer for a moment
	statusLine    []string   // nil: not configured; an empty output still takes a row
	background    int        // subagents at work
	shell         *shellView // a command of bash mode that runs
	unsaved       bool
	starting      bool // a dialog before the session: nothing else is drawn
}

// lines draws exactly height lines.
func (v view) lines() []string {
	var lines []string
	switch {
	case v.starting:
		lines = v.dialog.lines(v.width)
	case v.dialog != nil:
		lines = append(v.body(), v.dialog.lines(v.width)...)
	default:
		lines = v.withBox()
	}
	if extra := len(lines) - v.height; extra > 0 {
		lines = lines[extra:]
	}
	for len(lines) < v.height {
		lines = append(lines, "")
	}
	for i, l := range lines { // a line that wraps would shift all below it
		lines[i] = ansi.Truncate(l, v.width, "")
	}
	return lines
}

// withBox puts the box at the bottom of the screen.
func (v view) withBox() []string {
	body, bottom := v.body(), v.bottom()
	for len(body)+len(bottom) < v.height {
		body = append(body, "")
	}
	return append(body, bottom...)
}

func (v view) body() []string {
	lines := v.header()
	for i, e := range v.entries {
		if e.kind != noteEntry && e.kind != outEntry && i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, e.lines(v.width)...)
	}
	lines = append(append(lines, v.shell.lines(v.width)...), "")
	if v.streaming != "" {
		lines = append(append(lines, entry{assistantEntry, v.streaming}.lines(v.width)...), "")
	}
	return append(lines, v.activity()...)
}

func (v view) header() []string {
	return []string{
		"",
		orange + " ▐▛███▛█   " + plain + bold + "Claude Code" + plain + grey + " v" + version + plain,
		orange + "▝▜██████▀  " + plain + grey + "Demo agent · every word is scripted" + plain,
		orange + " ▝▝   ▝▝   " + plain + grey + v.cwd + plain,
		"", "",
	}
}

// activity is the queue and the spinner.
func (v view) activity() []string {
	interrupted := len(v.entries) > 0 && v.entries[len(v.entries)-1].kind == noteEntry
	// nor does the real one say it then (2.1.328)
	if !v.busy && v.background > 0 && v.dialog == nil && !interrupted {
		return []string{grey + fmt.Sprintf("✻ Waiting for %d background agent to finish", v.background) + plain, ""}
	}
	if !v.busy || v.dialog != nil || v.shell != nil {
		return nil
	}
	var lines []string
	for i, text := range v.queued {
		lines = append(lines, entry{userEntry, text}.lines(v.width)...)
		if i == len(v.queued)-1 {
			lines = append(lines, grey+"  ⎿  Queued · ctrl+x ctrl+s to send now"+plain)
		}
		lines = append(lines, "")
	}
	detail := fmt.Sprintf("%s · ↓ %d tokens", v.working.Truncate(time.Second), len(v.streaming)/4)
	if v.waitingHook != "" {
		detail = fmt.Sprintf("running %s hook · %s", v.waitingHook, v.working.Truncate(time.Second))
	}
	return append(lines, orange+"✶ Rehearsing… "+grey+"("+detail+")"+plain, "")
}

func (v view) bottom() []string {
	colour, mark := border, "❯"
	if v.box.bash {
		colour, mark = pink, "!"
	}
	name := colour + ruler(v.width) + plain
	lines := []string{name}
	rows := v.box.rows(v.width - 3)
	if limit := max(v.height/2, 1); len(rows) > limit {
		rows = rows[len(rows)-limit:]
	}
	for i, row := range rows {
		if i == len(rows)-1 {
			row += "\x1b[7m " + plain
		}
		if i > 0 {
			lines = append(lines, "  "+row)
			continue
		}
		lines = append(lines, colour+mark+plain+nbsp+row)
	}
	if len(v.queued) > 0 && v.box.empty() {
		lines[1] = grey + "❯" + nbsp + "\x1b[7mP\x1b[0;2mress up to edit queued messages" + plain
	}
	lines = append(lines, name)
	for _, row := range v.statusLine {
		lines = append(lines, "  "+grey+ansi.Truncate(row, max(v.width-2, 0), "…")+plain)
	}
	lines = append(lines, "  "+v.footer())
	if v.background > 0 {
		lines = append(lines, "", "  ● main")
	}
	for range v.background {
		lines = append(lines, "  "+grey+"◯ "+subagentType+"  demo agent"+plain)
	}
	return lines
}

func (v view) footer() string {
	switch {
	case v.hint != "":
		return grey + v.hint + plain
	case v.box.bash:
		return pink + "! for shell mode" + plain
	}
	footer := modeLabel(v.mode)
	switch {
	case v.busy:
		footer += " · esc to interrupt"
	case v.statusLine == nil:
		footer += " · ? for shortcuts"
	}
	if v.background > 0 {
		footer += " · ↓ to manage"
	}
	if v.unsaved {
		footer = "⚠ Transcript saving is off — inherited CLAUDE_CODE_CHILD_SESSION marker"
	}
	return grey + footer + plain
}

func modeLabel(mode string) string {
	switch mode {
	case "auto":
		return "⏵⏵ auto mode on (shift+tab to cycle)"
	case "acceptEdits":
		return "⏵⏵ accept edits on (shift+tab to cycle)"
	case "plan":
		return "⏸ plan mode on (shift+tab to cycle)"
	case "bypassPermissions":
		return "⏵⏵ bypass permissions on (shift+tab to cycle)"
	}
	return "⏸ manual mode on"
}

func (e entry) lines(width int) []string {
	switch e.kind {
	case userEntry:
		return hang(e.text, width, userRow+grey+"❯ "+bright, plain)
	case bashEntry:
		return hang(e.text, width, "\x1b[48;5;59m"+pink+"! "+bright, plain)
	case outEntry:
		return shellRows(e.text, width)
	case errorEntry:
		return hang(e.text, width, yellow+"● ", plain)
	case endEntry:
		return []string{grey + "✻ " + e.text + plain}
	case noteEntry:
		return hang("⎿  "+e.text, width, grey+"  ", plain)
	case toolEntry:
		return hang(e.text, width, grey+"● "+plain, "")
	}
	return hang(e.text, width, bright+"● "+plain, "")
}

// hang wraps text to width with a mark before the first line and two spaces before the others.
func hang(text string, width int, mark, end string) []string {
	rows := strings.Split(ansi.Wrap(strings.ReplaceAll(text, "\t", "    "), max(width-2, 1), ""), "\n")
	for i := range rows {
		if i == 0 {
			rows[i] = mark + rows[i] + end
			continue
		}
		rows[i] = "  " + rows[i]
	}
	return rows
}

func ruler(width int) string { return strings.Repeat("─", max(width, 0)) }
