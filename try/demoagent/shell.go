package demoagent

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
)

const (
	// shellLimit bounds a command of bash mode.
	shellLimit = 2 * time.Minute
	// shellShown is the number of output lines on the screen while a command runs.
	shellShown = 5
)

// shell is a running command of bash mode. Its output comes from another goroutine.
type shell struct {
	command string
	started time.Time
	stamp   string // the same as the transcript writes it

	mu  sync.Mutex
	out bytes.Buffer // both of its outputs
}

func (s *shell) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

func (s *shell) printed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimRight(s.out.String(), "\n")
}

// runShell is bash mode: the command is really run, without any hook but the Stop at the end. Like
// the real one it writes nothing into the transcript before the command has ended.
func (a *agent) runShell(p prompt) {
	t := a.newTurn()
	s := &shell{command: strings.TrimSpace(p.plain), started: time.Now(), stamp: stamp()}
	t.shell = s
	a.say(bashEntry, s.command)
	var failed error
	a.async(func() {
		ctx, cancel := context.WithTimeout(t.ctx, shellLimit)
		defer cancel()
		cmd := exec.CommandContext(ctx, "/bin/sh", "-c", s.command) //nolint:gosec // the person asked for it
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = a.cwd, a.env, s, s
		cmd.WaitDelay = 200 * time.Millisecond
		failed = cmd.Run()
	}, func() {
		if a.turn == t {
			a.ranShell(t, failed)
		}
	})
}

// ranShell writes what a command was and what it has printed: all of it as errors when it has
// failed.
func (a *agent) ranShell(t *turn, failed error) {
	s := t.shell
	t.shell = nil
	stdout, stderr := s.printed(), ""
	shown := firstOf(stdout, "(No output)")
	switch {
	case failed != nil:
		stdout, stderr = "", stdout
	case stdout == "":
		stdout = "(Bash completed with no output)"
		shown = stdout
	}
	a.write(a.transcript.note("<bash-input>"+s.command+"</bash-input>", line{"timestamp": s.stamp}),
		a.transcript.note(fmt.Sprintf("<bash-stdout>%s</bash-stdout><bash-stderr>%s</bash-stderr>", stdout, stderr), nil))
	a.say(outEntry, shown)
	t.steps = []Step{{Text: fmt.Sprintf("Seen: `%s` ran in your shell.", s.command)}}
	a.after(thinking, func() { a.step(t) })
}

// interruptShell ends a command of bash mode. It returns to the box, and the transcript does not
// mention it.
func (a *agent) interruptShell(t *turn) {
	if last := len(a.entries) - 1; last >= 0 && a.entries[last].kind == bashEntry {
		a.entries = a.entries[:last]
	}
	if a.box.empty() {
		a.box.insert("!" + t.shell.command)
	}
	a.rest(t)
}

// shellView is the view of a running command.
type shellView struct {
	rows  []string
	above int // lines that are not shown
	took  time.Duration
}

func (s *shell) view() *shellView {
	if s == nil {
		return nil
	}
	v := &shellView{took: time.Since(s.started).Truncate(time.Second)}
	if v.took < time.Second {
		return v // drawn with the clock
	}
	v.rows = strings.FieldsFunc(ansi.Strip(s.printed()), func(r rune) bool { return r == '\n' || r == '\r' })
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
