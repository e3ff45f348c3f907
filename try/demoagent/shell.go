package demoagent

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"ccbot/try/demoagent/brain"
)

// shellShown is the number of output lines on the screen while a command of bash mode runs.
const shellShown = 5

// ranShell writes what a command was and what it has printed: all of it as errors when it has
// failed. Only the Stop hook at the end of the turn runs for it.
func (a *agent) ranShell(e brain.Event) {
	stdout, stderr := e.Result.Text, ""
	shown := firstOf(stdout, "(No output)")
	switch {
	case e.Result.Failed:
		stdout, stderr = "", stdout
	case stdout == "":
		stdout = "(Bash completed with no output)"
		shown = stdout
	}
	a.write(a.transcript.note("<bash-input>"+e.Shell.Command+"</bash-input>", line{"timestamp": stampOf(e.Shell.Started)}),
		a.transcript.note(fmt.Sprintf("<bash-stdout>%s</bash-stdout><bash-stderr>%s</bash-stderr>", stdout, stderr), nil))
	a.say(outEntry, shown)
}

// interruptShell ends a command of bash mode. It returns to the box, and the transcript does not
// mention it.
func (a *agent) interruptShell(s *brain.Shell) {
	if last := len(a.entries) - 1; last >= 0 && a.entries[last].kind == bashEntry {
		a.entries = a.entries[:last]
	}
	if a.box.empty() {
		a.box.insert("!" + s.Command)
	}
}

// shellView is the view of a running command.
type shellView struct {
	rows  []string
	above int // lines that are not shown
	took  time.Duration
}

// viewOf returns the view of a command, nil for none.
func viewOf(s *brain.Shell) *shellView {
	if s == nil {
		return nil
	}
	v := &shellView{took: time.Since(s.Started).Truncate(time.Second)}
	if v.took < time.Second {
		return v // drawn with the clock
	}
	v.rows = strings.FieldsFunc(ansi.Strip(s.Printed()), func(r rune) bool { return r == '\n' || r == '\r' })
	if more := len(v.rows) - shellShown; more > 0 {
		v.above = more + 1
		v.rows = slices.Clone(v.rows[v.above:])
	}
	return v
}

func (v *shellView) lines(width int) []string {
	if v == nil {
		return nil
	}
	if len(v.rows) == 0 {
		return shellRows("Running…", width)
	}
	clock := fmt.Sprintf("(%s)", v.took)
	if v.above > 0 {
		clock = fmt.Sprintf("… +%d lines %s", v.above, clock)
	}
	return shellRows(strings.Join(append(slices.Clone(v.rows), clock), "\n"), width)
}

// shellRows hangs what a command has printed below it.
func shellRows(text string, width int) []string {
	rows := strings.Split(ansi.Hardwrap(strings.ReplaceAll(text, "\t", "    "), max(width-5, 1), true), "\n")
	for i := range rows {
		mark := "     "
		if i == 0 {
			mark = "  ⎿ \u00a0"
		}
		rows[i] = grey + mark + rows[i] + plain
	}
	return rows
}
