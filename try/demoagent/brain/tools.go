package brain

import (
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"ccbot/try/demoagent/script"
)

// pace is how long a call without a question takes at least.
const pace = 100 * time.Millisecond

// deliver completes an answer: it is written down, then what it asks for happens.
func (b *Brain) deliver(t *Turn, s script.Step, text string) {
	t.Streamed, t.LastText = "", text
	call := s.Tool
	if s.Child > 0 {
		call = &script.Call{Name: "Bash", Command: fmt.Sprintf("sleep %d", int(s.Child.Seconds()))}
	}
	if call != nil {
		t.calls++
	}
	b.armed = b.armed || s.Arm
	b.note(Event{Kind: Said, Turn: t, Text: text, Call: call, Unasked: s.Child > 0 || call != nil && call.Free})
	switch {
	case s.Child > 0:
		b.runChild(t, *call)
	case call == nil:
		b.step(t)
	case call.Free:
		b.free(t, *call)
	default:
		b.ask(t, *call)
	}
}

func (b *Brain) ask(t *Turn, c script.Call) {
	n := t.calls
	b.skin.Ask(t, c, func(c script.Call, r script.Result) {
		if b.turn != t || t.calls != n {
			return
		}
		if r.Text != "" {
			b.ran(t, c, r)
			return
		}
		b.pretend(t, script.Takes(c.Command), func() { b.ran(t, c, script.Result{Text: c.Output()}) })
	})
}

// free runs a call without a permission.
func (b *Brain) free(t *Turn, c script.Call) {
	b.pretend(t, max(script.Takes(c.Command), pace), func() {
		r := script.Result{Text: c.Output(), Failed: c.Fails}
		if err := c.Change(b.Dir); err != nil {
			r = script.Result{Text: err.Error(), Failed: true}
		}
		b.ran(t, c, r)
	})
}

// pretend calls done after the time that the turn's call pretends to take.
func (b *Brain) pretend(t *Turn, took time.Duration, done func()) {
	if took == 0 {
		done()
		return
	}
	n := t.calls
	b.After(took, func() {
		if b.turn == t && t.calls == n {
			done()
		}
	})
}

// ran writes the result of a call and continues the turn.
func (b *Brain) ran(t *Turn, c script.Call, r script.Result) {
	b.note(Event{Kind: Ran, Turn: t, Call: &c, Result: r})
	t.calls++ // a later answer to the call comes too late
	t.steps = append(script.AfterTool(c, r), t.steps...)
	b.Play(t)
}

// Spring is the armed dialog: a subagent asks for permission between a paste and its Enter.
func (b *Brain) Spring() {
	if !b.armed || b.turn != nil {
		return
	}
	b.armed = false
	b.deliver(b.NewTurn(), script.Step{Tool: &script.Call{Name: "Bash", Command: "make deploy", Background: true}}, "A subagent wants to run something.")
}

// runChild starts a real process as a tool does: in a separate session, so that no hang-up reaches
// it. It is ended with the turn, but survives a SIGKILL of the agent.
func (b *Brain) runChild(t *Turn, c script.Call) {
	cmd := exec.CommandContext(t.Context, "/bin/sh", "-c", "exec "+c.Command) //nolint:gosec // "sleep N"
	cmd.Dir, cmd.SysProcAttr = b.Dir, &syscall.SysProcAttr{Setsid: true}
	b.Async(func() { _ = cmd.Run() }, func() {
		if b.turn == t {
			b.ran(t, c, script.Result{Text: "(no output)"})
		}
	})
}
