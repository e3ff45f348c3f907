package claudeui

import (
	"slices"
	"strconv"
	"strings"

	"ccbot/agent"
	"ccbot/internal/lazyregexp"
)

// The layout of screen reader mode (2.1.328): plain rows from the first column, without colours,
// rules or signs of the agent's text.
//
//	you: hello
//	claude: Good morning.
//	Worked for 1s · done 9:30 AM
//	manual mode on                     the head of the box
//	effort: medium · /effort           hints
//	$  a draft                         the box, up to the end of the screen
//
// An agent can draw each of these rows, but it cannot draw below them. So the lowest head counts,
// and all rows below its sign are the draft: a row that does not belong to the box makes the box
// not empty.
var (
	// flatHead matches the head, which has the mode of vim and the permission mode, or a note in
	// their place.
	flatHead = lazyregexp.New(`^(?:-- ([A-Z -]+) -- ?)?(?:(manual mode|accept edits|plan mode|auto mode|bypass permissions|don't ask) on(?:\s|$)|` +
		`(paste again to expand|Press Ctrl-C again to exit|! for shell mode|)$)`)
	flatSpeaker      = lazyregexp.New(`^(?:you|claude|tool|tool error|error): |^\[Screen Reader Mode: on`)
	flatSpinner      = lazyregexp.New(`^\p{Lu}[\p{L}-]*…(?: \(.*\))?$`)
	flatWaiting      = lazyregexp.New(`^Waiting for (.+) to finish$`)
	flatRetry        = lazyregexp.New(`^(.+) · retrying in ((?:\d{1,3}[hms] ?)+) · attempt \d+/\d+`)
	flatCommandAlone = lazyregexp.New(`^you: /[\w:-]+$`)
	// flatListed matches the row of a command in the list.
	flatListed = lazyregexp.New(`^/\S.* {2,}\S`)
	// flatMode matches the row below the box that repeats the mode after it was switched.
	flatMode = lazyregexp.New(`^\[(.+) on\]$`)
)

const (
	flatSign     = '$'
	flatExits    = "Press Ctrl-C again to exit"
	flatCompacts = "Compacting conversation…"
	flatShell    = "! for shell mode"
)

// isFlat reports whether a screen has the layout of screen reader mode. In the other layout only
// the text of a question begins in the first column; a question with such a row is refused.
func isFlat(lines []line) bool {
	return slices.ContainsFunc(lines, func(l line) bool {
		row := l.String()
		return flatSpeaker.MatchString(row) || flatAnswer.MatchString(row) || isFlatHead(row)
	})
}

func isFlatHead(row string) bool { return row != "" && flatHead.MatchString(row) }

// readFlat reads a screen of screen reader mode, in which a status line stands right above the
// head.
func readFlat(lines []line, status []string) agent.Screen {
	s := agent.Screen{Flat: true, Text: plain(lines)}
	if s.Dialog = flatDialog(lines); s.Dialog != nil {
		return s
	}
	head := len(lines) - 1
	for head >= 0 && !isFlatHead(lines[head].String()) {
		head--
	}
	if head < 0 {
		return readBelowCommands(s, lines, status)
	}
	named := flatHead.FindStringSubmatch(lines[head].String())
	s.Exits = named[3] == flatExits
	hints, rows, found := flatBox(lines[head:], named[3] == flatShell)
	if !found || isFlatHint(lines[len(lines)-1].String()) {
		return s
	}
	s.Editor, s.Mode = named[1], modes[named[2]]
	s.Box = readFlatBox(rows, named[2])
	s.Box.Bash = named[3] == flatShell
	return readAboveFlat(s, aboveStatus(lines[:head], status), hints)
}

// readBelowCommands reads a box with the beginning of a command: the list of commands stands in the place of the head, and of the list of
// agents (2.1.332). The mode is unknown then.
func readBelowCommands(s agent.Screen, lines []line, status []string) agent.Screen {
	box := len(lines) - 1
	top := box
	for i, l := range slices.Backward(lines[:box]) {
		if listed := flatListed.MatchString(l.String()); listed {
			top = i
		} else if l.indent() == 0 {
			break
		} // else it is the rest of a row, or a blank one: the list keeps the height that it had
	}
	if top == box || !strings.HasPrefix(lines[box].String(), string(flatSign)+"\u00a0 /") {
		return s
	}
	s.Box = readFlatBox(lines[box:], "")
	return readAboveFlat(s, aboveStatus(lines[:top], status), nil)
}

// readAboveFlat reads what the rows above the head, and the hints below it, say of the turn.
func readAboveFlat(s agent.Screen, above, hints []line) agent.Screen {
	offered, last := interruptible(hints), lastFlat(above)
	// The head offers no key while the box has a text.
	s.Busy = offered || !s.Box.Empty && (flatSpinner.MatchString(last) || flatRetry.MatchString(last) || last == flatCompacts)
	s.Agents = agentsBelow(hints)
	waitedFor := 0
	if said := flatWaiting.FindStringSubmatch(last); said != nil {
		waitedFor = agentsIn(said[1])
	}
	s.Agents = max(s.Agents, waitedFor)
	s.Background = !s.Busy && s.Agents > 0 && (waitedFor > 0 || strings.HasPrefix(last, "Interrupted · ") || !beginsFlat(above))
	if offered {
		s.Compacts = last == flatCompacts
		s.Shell = flatCommand(above)
		if m := flatRetry.FindStringSubmatch(last); m != nil {
			s.Retry, s.RetryIn = m[1], span(m[2])
		}
	}
	return s
}

// flatBox divides the rows from the head on into the head with its hints, and the box. In shell
// mode the box has no sign.
func flatBox(rows []line, shell bool) (hints, box []line, found bool) {
	if shell {
		return rows[:1], rows[1:], true
	}
	for i, l := range rows {
		if len(l) > 0 && l[0].r == flatSign && (len(l) == 1 || l[1].r == '\u00a0') {
			return rows[:i], rows[i:], i > 0 && i <= maxFooter
		}
	}
	return nil, nil, false
}

// readFlatBox reads the rows of a box. mode is the permission mode in the words of the head.
func readFlatBox(rows []line, mode string) agent.Box {
	b := agent.Box{Present: true}
	var text []string
	for i, l := range rows {
		row := strings.ReplaceAll(l.String(), "\u00a0", " ")
		if i == 0 {
			row = strings.TrimPrefix(strings.TrimPrefix(row, string(flatSign)), "  ")
		}
		text = append(text, row)
	}
	if n := len(text) - 1; n > 0 {
		if said := flatMode.FindStringSubmatch(text[n]); said != nil && said[1] == mode {
			text = text[:n]
		}
	}
	b.Text = strings.Trim(strings.Join(text, "\n"), "\n")
	if b.Empty = strings.TrimSpace(b.Text) == ""; b.Empty {
		b.Text = ""
	}
	return b
}

// lastFlat returns the last row above the head, without the tip.
func lastFlat(above []line) string {
	for _, l := range slices.Backward(above) {
		if row := l.String(); row != "" && !strings.HasPrefix(row, "Tip: ") {
			return row
		}
	}
	return ""
}

// beginsFlat reports whether a prompt was just submitted: its spinner comes. A command of Claude Code's own begins no turn, and has its
// output below it (2.1.332). Words after a command may go on in the next row, and are no output.
func beginsFlat(above []line) bool {
	below := false
	for _, l := range slices.Backward(above) {
		if said := l.String(); flatSpeaker.MatchString(said) {
			return strings.HasPrefix(said, "you: ") && !(below && flatCommandAlone.MatchString(said))
		}
		below = below || l.indent() >= 0
	}
	return false
}

// flatCommand reads the running command of bash mode: the rows from the last "!" on; the last row
// is a clock. A command that takes more than one row is not recognised by its first row.
func flatCommand(above []line) *agent.Shell {
	at := -1
	for i, l := range above {
		if len(l) > 1 && l[0].r == bashSign && blank(l[1].r) {
			at = i
		}
	}
	if at < 0 || at+1 == len(above) {
		return nil
	}
	var out []string
	for _, l := range above[at+1:] {
		out = append(out, l.String())
	}
	if hint := slices.IndexFunc(out, shellHint.MatchString); hint > 0 {
		out = out[:hint]
	}
	sh := &agent.Shell{Command: strings.TrimSpace(strings.ReplaceAll(above[at][1:].String(), "\u00a0", " "))}
	last := len(out) - 1
	if clock := strings.TrimPrefix(out[last], shellSilent); clock != out[last] {
		return silent(sh, strings.TrimSpace(clock), last)
	}
	clock := shellClock.FindStringSubmatch(out[last])
	if clock == nil {
		return nil
	}
	sh.Above, _ = strconv.Atoi(clock[1])
	sh.Lines = out[:last]
	return sh
}

// silent returns the command if it has printed nothing yet; above counts the rows between it and
// its clock.
func silent(sh *agent.Shell, clock string, above int) *agent.Shell {
	if above > 0 || clock != "" && !shellClock.MatchString(clock) {
		return nil
	}
	return sh
}
