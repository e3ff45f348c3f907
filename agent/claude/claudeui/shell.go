package claudeui

import (
	"slices"
	"strconv"
	"strings"

	"ccbot/agent"
	"ccbot/internal/lazyregexp"
)

var (
	// shellClock is the last row of a command that runs: "(4s)", "… +12 lines (1m 2s)".
	shellClock = lazyregexp.New(`^(?:… \+(\d+) lines? )?\((?:\d+[dhms] ?)+\)$`)
	// shellHint matches the row below it.
	shellHint = lazyregexp.New(`^\(ctrl\+`)
)

const (
	shellSilent = "Running…" // a command has printed nothing yet
	shellHook   = '⎿'
	shellIndent = 5 // indent of the output
)

// Runs reports whether this is the command, with or without its sign. Rows wrap anywhere, so white
// space is left out.
func (Reader) Runs(s *agent.Shell, command string) bool {
	command = strings.TrimPrefix(command, string(bashSign))
	shown, want := squeeze(s.Command), squeeze(command)
	if want == "" {
		return strings.Join(strings.Fields(s.Command), "") == strings.Join(strings.Fields(command), "")
	}
	return shown == want
}

// runningShell reads the command of bash mode that runs, from the rows above the box. Claude Code
// redraws its output about once a second, and shows only the last few rows. It is the last thing
// there, and its last row is a clock. A command that has ended has no clock.
func runningShell(above []line) *agent.Shell {
	at := lastUnindented(above)
	if at < 0 || above[at][0].r != bashSign || !hasSign(above[at]) {
		return nil
	}
	block := above[at:]
	if end := slices.IndexFunc(block, func(l line) bool { return l.indent() < 0 }); end >= 0 {
		block = block[:end]
	}
	hook := slices.IndexFunc(block, func(l line) bool { return l.first() == shellHook && l.indent() < shellIndent })
	if hook < 1 {
		return nil
	}
	var words []string
	for _, l := range block[:hook] {
		words = append(words, strings.TrimSpace(strings.ReplaceAll(l[min(2, len(l)):].String(), "\u00a0", " ")))
	}
	s := &agent.Shell{Command: strings.Join(words, " ")}
	if !readOutput(s, block[hook:]) {
		return nil
	}
	return s
}

// readOutput reads the output of a command; it returns false when the command does not run.
func readOutput(s *agent.Shell, rows []line) bool {
	var out []string
	for _, l := range rows {
		out = append(out, l[min(shellIndent, len(l)):].String())
	}
	if hint := slices.IndexFunc(out, shellHint.MatchString); hint > 0 {
		out = out[:hint]
	}
	if len(out) == 1 && out[0] == shellSilent {
		return true
	}
	last := len(out) - 1
	clock := shellClock.FindStringSubmatch(out[last])
	if clock == nil {
		return false
	}
	s.Above, _ = strconv.Atoi(clock[1]) // without a number all of the output is shown
	if s.Lines = out[:last]; last == 1 && out[0] == shellSilent {
		s.Lines = nil
	}
	return true
}
