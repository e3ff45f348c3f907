package claudeui

import (
	"slices"
	"strings"

	"ccbot/agent"
)

// Read parses the output of `tmux capture-pane -p -e` for a pane that runs Claude Code. It never
// fails: for a screen that it does not recognise it returns a Screen without box and without
// dialog.
//
// status has outputs that the person's status line command has printed. If the rows right below the
// box are exactly one of them, and the row below these names the permission mode, they are left
// out: Claude Code draws both only while the box has the keys (2.1.328).
func Read(text string, status ...string) agent.Screen {
	s := read(text, status)
	s.Box.Whole = s.Box.Present && !collapses(s.Box)
	s.Visual = strings.HasPrefix(s.Editor, "VISUAL") // of vim: Enter does nothing there
	if s.Dialog != nil {
		s.Dialog.Question, s.Dialog.Permits = isQuestion(s.Dialog), slices.Contains(s.Dialog.Options, "Yes")
		s.Dialog.Opened = isOpened(s.Dialog)
		s.Models = modelsOf(s.Dialog)
	}
	return s
}

func read(text string, status []string) agent.Screen {
	lines := parseCells(text)
	for len(lines) > 0 && lines[len(lines)-1].indent() < 0 {
		lines = lines[:len(lines)-1]
	}
	s := agent.Screen{Text: plain(lines)}
	if len(lines) == 0 || strings.HasPrefix(lines[len(lines)-1].String(), "Pane is dead") {
		return s // tmux has written this line: the program above it no longer takes keys
	}
	if isFlat(lines) {
		return readFlat(lines, status)
	}
	top, bottom, found := findBox(lines)
	if !found {
		if s.Dialog = suspended(lines); s.Dialog == nil {
			s.Dialog = findDialog(lines)
		}
		return s
	}
	footer, continues := withoutLimit(withoutStatus(lines[bottom+1:], status))
	if takesKeys(footer) {
		// The lower rule of an old box is the upper edge of the dialog that is drawn below it.
		if s.Dialog = findDialog(lines[bottom:]); s.Dialog == nil {
			s.Dialog = newDialog(lines[bottom:], noList)
		}
		return s
	}
	if !belongsToBox(footer) {
		return s
	}
	s.Continues = continues
	s.Mode, s.Editor = modeOf(footer)
	s.Exits = strings.Contains(fold(footer), "ctrl-c again to exit")
	s.Box = readBox(lines[top+1 : bottom])
	s.Busy = interruptible(footer) || spinning(lines[:top])
	last := lastRow(lines[:top])
	waitedFor, rests := resting(last)
	s.Agents = max(agentsBelow(footer), waitedFor)
	begins := strings.HasPrefix(last, "❯") && !answered(lines[:top]) // a prompt that was just submitted: its spinner comes
	s.Background = !s.Busy && (rests || s.Agents > 0 && !begins)
	if interruptible(footer) {
		s.Shell = runningShell(lines[:top])
		s.Retry, s.RetryIn = retrying(lines[:top])
		s.Compacts = compacts.MatchString(last)
	}
	return s
}

func plain(lines []line) string {
	rows := make([]string, len(lines))
	for i, l := range lines {
		rows[i] = l.String()
	}
	return strings.Join(rows, "\n")
}
