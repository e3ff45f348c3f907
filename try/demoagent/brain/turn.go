package brain

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ccbot/try/demoagent/script"
)

const (
	// Thinking is the time before an answer.
	Thinking  = 150 * time.Millisecond
	wordEvery = 100 * time.Millisecond // the pace of a slow one
)

// Turn runs from a prompt until the session is idle again. A callback that finds another turn, or
// none, comes too late and does nothing.
type Turn struct {
	Context  context.Context
	Started  time.Time
	Streamed string // the received part of an answer
	LastText string
	Shell    *Shell // the command of bash mode that runs

	cancel context.CancelFunc
	steps  []script.Step
	calls  int // tool calls so far
}

// Turn returns the current turn, nil if the session is idle.
func (b *Brain) Turn() *Turn { return b.turn }

// Queue returns the prompts that wait for the end of the turn.
func (b *Brain) Queue() []Prompt { return b.queue }

// Submit takes a prompt: at once, or at the end of the turn.
func (b *Brain) Submit(p Prompt) {
	b.record(p)
	if b.turn == nil {
		b.perform([]Prompt{p}, false)
		return
	}
	b.queue = append(b.queue, p)
	b.note(Event{Kind: Queued, Turn: b.turn, Prompts: []Prompt{p}})
}

// Enqueue adds a prompt that no person submitted.
func (b *Brain) Enqueue(p Prompt) {
	b.queue = append(b.queue, p)
	if b.turn == nil {
		b.Next()
	}
}

// record adds a line to the log of what arrived.
func (b *Brain) record(p Prompt) {
	if b.Log == "" {
		return
	}
	text := p.Plain
	if p.Kind == Bash {
		text = "!" + text
	}
	data, err := json.Marshal(map[string]any{"text": text, "pasted": p.Pasted, "at": time.Now().UTC(), "session": p.Session, "kind": p.Kind})
	if err == nil {
		err = appendFile(b.Log, append(data, '\n'))
	}
	if err != nil {
		b.trouble(err)
	}
}

func appendFile(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// Next takes up what was queued: all plain prompts up to the first other thing become one turn.
func (b *Brain) Next() {
	if len(b.queue) == 0 {
		return
	}
	n := 1
	for b.queue[0].Kind == Words && n < len(b.queue) && b.queue[n].Kind == Words {
		n++
	}
	prompts := b.queue[:n:n]
	b.queue = b.queue[n:]
	b.note(Event{Kind: Taken, Prompts: prompts})
	b.perform(prompts, true)
}

func (b *Brain) perform(prompts []Prompt, waited bool) {
	switch p := prompts[0]; p.Kind {
	case Bash:
		b.runShell(p)
	case Words:
		t := b.NewTurn()
		b.skin.Note(Event{Kind: Prompted, Turn: t, Prompts: prompts, Waited: waited}, func() {
			for _, p := range prompts {
				t.steps = append(t.steps, script.Decide(p.Plain)...)
			}
			b.Play(t)
		})
	default:
		b.skin.Do(p)
	}
}

// NewTurn makes the session busy; a second-hand keeps the spinner's clock going.
func (b *Brain) NewTurn() *Turn {
	t := &Turn{Started: time.Now()}
	t.Context, t.cancel = context.WithCancel(b.ctx)
	b.turn = t
	var tick func()
	tick = func() {
		if b.turn == t {
			b.After(time.Second, tick)
		}
	}
	b.After(time.Second, tick)
	return t
}

// Play adds steps to the turn and begins with them.
func (b *Brain) Play(t *Turn, steps ...script.Step) {
	t.steps = append(t.steps, steps...)
	b.After(Thinking, func() { b.step(t) })
}

// step does the next thing of the turn.
func (b *Brain) step(t *Turn) {
	if b.turn != t {
		return
	}
	if len(t.steps) == 0 {
		b.skin.Note(Event{Kind: Finished, Turn: t}, func() { b.Rest(t) })
		return
	}
	s := t.steps[0]
	t.steps = t.steps[1:]
	switch {
	case s.Crash:
		b.exit = &exit{code: 3}
	case s.Error != "":
		b.skin.Note(Event{Kind: Failed, Turn: t, Text: s.Error}, func() { b.Rest(t) })
	case s.Over > 0:
		b.stream(t, s, time.Now().Add(s.Over))
	default:
		b.deliver(t, s, s.Text)
	}
}

// stream adds a word at a time.
func (b *Brain) stream(t *Turn, s script.Step, end time.Time) {
	if b.turn != t {
		return
	}
	if !time.Now().Before(end) || t.Streamed != "" && b.has(s.Until) { // at least one word is said
		b.deliver(t, s, strings.TrimSpace(t.Streamed))
		return
	}
	t.Streamed += s.Text + " "
	b.After(wordEvery, func() { b.stream(t, s, end) })
}

// has reports whether a file exists in the session's folder; "" is none.
func (b *Brain) has(file string) bool {
	_, err := os.Stat(filepath.Join(b.Dir, file))
	return file != "" && err == nil
}

// Rest ends the turn; a queued prompt begins at once.
func (b *Brain) Rest(t *Turn) {
	if b.turn != t {
		return
	}
	t.cancel()
	b.turn = nil
	b.Next()
}

// Interrupt ends the turn before its end.
func (b *Brain) Interrupt() {
	t := b.turn
	b.note(Event{Kind: Interrupted, Turn: t})
	b.Rest(t)
}
