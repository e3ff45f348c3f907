package brain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"ccbot/try/demoagent/script"
)

// shellLimit bounds a command of bash mode.
const shellLimit = 2 * time.Minute

// Shell is a running command of bash mode. Its output comes from another goroutine.
type Shell struct {
	Command string
	Started time.Time

	mu  sync.Mutex
	out bytes.Buffer // both of its outputs
}

func (s *Shell) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

// Printed returns the output so far.
func (s *Shell) Printed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimRight(s.out.String(), "\n")
}

// runShell is bash mode: the command is really run. Nothing is written down before it has ended.
func (b *Brain) runShell(p Prompt) {
	t := b.NewTurn()
	s := &Shell{Command: strings.TrimSpace(p.Plain), Started: time.Now()}
	t.Shell = s
	b.note(Event{Kind: ShellBegan, Turn: t, Shell: s})
	var failed error
	b.Async(func() {
		ctx, cancel := context.WithTimeout(t.Context, shellLimit)
		defer cancel()
		cmd := exec.CommandContext(ctx, "/bin/sh", "-c", s.Command) //nolint:gosec // the person asked for it
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = b.Dir, b.Env, s, s
		cmd.WaitDelay = 2 * time.Second
		if failed = cmd.Run(); errors.Is(failed, exec.ErrWaitDelay) {
			failed = nil // it has ended, and a child has its output still
		}
	}, func() {
		if b.turn != t {
			return
		}
		t.Shell = nil
		b.note(Event{Kind: ShellEnded, Turn: t, Shell: s, Result: script.Result{Text: s.Printed(), Failed: failed != nil}})
		b.Play(t, script.Step{Text: fmt.Sprintf("Seen: `%s` ran in your shell.", s.Command)})
	})
}
