package demoagent

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
)

const (
	thinking  = 150 * time.Millisecond // before an answer
	wordEvery = 100 * time.Millisecond // the pace of a slow one
)

// prompt is something that was submitted.
type prompt struct {
	kind  string // prompt, bash, slash; notice: not a person's
	text  string // as Claude Code hands it on: long pastes wrapped
	plain string // as it was typed
}

// turn runs from a prompt until the session is idle again. A callback that finds another turn, or
// none, comes too late and does nothing.
type turn struct {
	ctx      context.Context
	cancel   context.CancelFunc
	started  time.Time
	onOpened func() // waits for the SessionStart hooks
	hook     string // the event whose hooks it waits for
	steps    []Step
	streamed string // the received part of an answer
	lastText string

	callID   string // of the tool call that waits for permission or runs; "" for none
	callLine any    // its line in the transcript
	byHook   string // a hook's decision about it, "" for none
	decided  string // when, as a line's timestamp
	dialog   dialog
	stopHook context.CancelFunc

	shell *shell // the command of bash mode that runs
}

var slashCommand = regexp.MustCompile(`^\s*/([a-zA-Z][\w:-]*)(\s|$)`)

// enter submits the box.
func (a *agent) enter() {
	if !a.ready || a.box.continueLine() || strings.TrimSpace(a.box.plain()) == "" {
		return
	}
	p := prompt{kind: "prompt", text: a.box.prompt(newPasteID), plain: a.box.plain()}
	switch {
	case a.box.bash:
		p.kind = "bash"
	case slashCommand.MatchString(p.text):
		p.kind = "slash"
	}
	a.box.clear()
	a.submit(p)
}

func newPasteID() string { return fmt.Sprintf("%04x", rand.IntN(1<<16)) } //nolint:gosec // only to tell pastes apart

func (a *agent) submit(p prompt) {
	a.record(p)
	switch {
	case a.turn != nil:
		a.enqueue(p)
	default:
		a.perform([]prompt{p}, "typed")
	}
}

// record tells a test what arrived.
func (a *agent) record(p prompt) {
	path := a.env.get("DEMOAGENT_LOG")
	if path == "" {
		return
	}
	text := p.plain
	if p.kind == "bash" {
		text = "!" + text
	}
	data, err := json.Marshal(map[string]any{"text": text, "pasted": a.pasted, "at": time.Now().UTC(), "session": a.id, "kind": p.kind})
	if err == nil {
		err = appendFile(path, append(data, '\n'))
	}
	if err != nil {
		a.note(err)
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

// enqueue keeps a prompt for the end of the turn. Its hooks run now, not when its turn comes.
func (a *agent) enqueue(p prompt) {
	if p.kind == "slash" && strings.TrimSpace(p.plain) == "/exit" {
		a.quit(0, "prompt_input_exit")
		return
	}
	a.queue = append(a.queue, p)
	if p.kind != "prompt" {
		return
	}
	a.promptID = uuid.NewString()
	a.write(a.transcript.queue("enqueue", p.text))
	payload := a.payload("UserPromptSubmit", map[string]any{"permission_mode": a.mode, "prompt": p.text})
	a.async(func() { a.hooks.run(a.ctx, "UserPromptSubmit", "", payload) }, func() {})
}

// next takes up what was queued: all plain prompts up to the first other thing become one turn.
func (a *agent) next() {
	if len(a.queue) == 0 {
		return
	}
	n := 1
	for a.queue[0].kind == "prompt" && n < len(a.queue) && a.queue[n].kind == "prompt" {
		n++
	}
	prompts := a.queue[:n:n]
	a.queue = a.queue[n:]
	for _, p := range prompts {
		if p.kind == "prompt" {
			a.write(a.transcript.queue("dequeue", ""))
		}
	}
	a.perform(prompts, "queued")
}

func (a *agent) perform(prompts []prompt, source string) {
	switch p := prompts[0]; p.kind {
	case "bash":
		a.runShell(p)
	case "slash":
		a.runCommand(p)
	case "notice":
		a.runNotice(p)
	default:
		a.runPrompts(prompts, source)
	}
}

// newTurn makes the session busy; a second-hand keeps the spinner's clock going.
func (a *agent) newTurn() *turn {
	t := &turn{started: time.Now()}
	t.ctx, t.cancel = context.WithCancel(a.ctx)
	a.turn = t
	var tick func()
	tick = func() {
		if a.turn == t {
			a.after(time.Second, tick)
		}
	}
	a.after(time.Second, tick)
	return t
}

func (a *agent) runPrompts(prompts []prompt, source string) {
	t := a.newTurn()
	for _, p := range prompts {
		a.say(userEntry, p.plain)
	}
	if source == "queued" { // the hooks ran when it was queued
		a.accept(t, prompts, source)
		return
	}
	a.promptID = uuid.NewString()
	t.onOpened = func() { a.offer(t, prompts, source) }
	if t.hook = "SessionStart"; a.opened {
		t.onOpened()
	}
}

// offer lets the UserPromptSubmit hooks see the prompt; a hook that blocks it puts it back into the
// box.
func (a *agent) offer(t *turn, prompts []prompt, source string) {
	t.hook, t.onOpened = "UserPromptSubmit", nil
	payload := a.payload("UserPromptSubmit", map[string]any{"permission_mode": a.mode, "prompt": prompts[0].text})
	var results []hookResult
	a.async(func() { results = a.hooks.run(t.ctx, "UserPromptSubmit", "", payload) }, func() {
		if a.turn != t {
			return
		}
		t.hook = ""
		if reason, no := blocked(results); no {
			a.say(noteEntry, "UserPromptSubmit operation blocked by hook:\n"+reason)
			a.box.insert(prompts[0].plain)
			a.rest(t)
			return
		}
		a.accept(t, prompts, source)
	})
}

func (a *agent) accept(t *turn, prompts []prompt, source string) {
	for _, p := range prompts {
		a.write(a.transcript.human(p.text, a.promptID, source))
		t.steps = append(t.steps, Decide(p.plain)...)
	}
	a.after(thinking, func() { a.step(t) })
}

// step does the next thing of the turn.
func (a *agent) step(t *turn) {
	if a.turn != t {
		return
	}
	if len(t.steps) == 0 {
		a.finish(t)
		return
	}
	s := t.steps[0]
	t.steps = t.steps[1:]
	switch {
	case s.Crash:
		a.exit = &exit{code: 3}
	case s.Error != "":
		a.failTurn(t, s.Error)
	case s.Over > 0:
		a.stream(t, s, time.Now().Add(s.Over))
	default:
		a.deliver(t, s, s.Text)
	}
}

// stream adds a word at a time.
func (a *agent) stream(t *turn, s Step, end time.Time) {
	if a.turn != t {
		return
	}
	if !time.Now().Before(end) {
		a.deliver(t, s, strings.TrimSpace(t.streamed))
		return
	}
	t.streamed += s.Text + " "
	a.after(wordEvery, func() { a.stream(t, s, end) })
}

// deliver completes an answer: its lines are written, then what it asks for happens.
func (a *agent) deliver(t *turn, s Step, text string) {
	t.streamed, t.lastText = "", text
	if text != "" {
		a.say(assistantEntry, text)
	}
	call := s.Tool
	if s.Child > 0 {
		call = &Call{Name: "Bash", Command: fmt.Sprintf("sleep %d", int(s.Child.Seconds()))}
	}
	messageID, usage, stop := newID("msg_"), tokenUsage(1000+50*len(a.entries), len(text)/4+1), "end_turn"
	if call != nil {
		stop = "tool_use"
	}
	var lines []line
	if text != "" {
		lines = append(lines, a.transcript.assistant(messageID, stop, usage, textBlock(text)))
	}
	if call != nil {
		t.callID = newID("toolu_")
		lines = append(lines, a.transcript.assistant(messageID, stop, usage,
			line{"type": "tool_use", "id": t.callID, "name": call.Name, "input": call.Input()}))
		t.callLine = a.transcript.parent
	}
	a.write(lines...)
	a.armed = a.armed || s.Arm
	a.runStatusLine()
	switch {
	case s.Child > 0:
		a.runChild(t, *call)
	case call != nil:
		a.call(t, *call)
	default:
		a.step(t)
	}
}

func newID(prefix string) string {
	id := uuid.New()
	return fmt.Sprintf("%s%x", prefix, id[:12])
}

// finish runs the Stop hooks; the session stays busy until they are done.
func (a *agent) finish(t *turn) {
	t.hook = "Stop"
	payload := a.payload("Stop", map[string]any{
		"permission_mode": a.mode, "effort": map[string]string{"level": "medium"}, "stop_hook_active": false,
		"last_assistant_message": t.lastText, "background_tasks": a.backgroundTasks(), "session_crons": []any{},
	})
	var results []hookResult
	a.async(func() { results = a.hooks.run(t.ctx, "Stop", "", payload) }, func() {
		if a.turn != t {
			return
		}
		worked := time.Since(t.started)
		var lines []line
		if len(results) > 0 {
			lines = append(lines, a.transcript.system("stop_hook_summary", line{"hookCount": len(results), "level": "suggestion"}))
		}
		lines = append(lines, a.transcript.system("turn_duration", line{"durationMs": worked.Milliseconds(), "messageCount": len(a.entries)}))
		a.write(lines...)
		a.say(endEntry, fmt.Sprintf("Worked for %s · done %s", worked.Truncate(time.Second), time.Now().Format("3:04 PM")))
		a.rest(t)
	})
}

func (a *agent) failTurn(t *turn, text string) {
	a.write(a.transcript.apiError(text))
	a.say(errorEntry, text)
	t.hook = "StopFailure"
	payload := a.payload("StopFailure", map[string]any{"error": "unknown", "last_assistant_message": text})
	a.async(func() { a.hooks.run(t.ctx, "StopFailure", "", payload) }, func() { a.rest(t) })
}

// rest ends the turn; a queued prompt begins at once.
func (a *agent) rest(t *turn) {
	if a.turn != t {
		return
	}
	t.cancel()
	a.turn = nil
	a.next()
}

// interrupt is Esc while working: neither Stop nor StopFailure runs.
func (a *agent) interrupt() {
	t := a.turn
	if t.shell != nil {
		a.interruptShell(t)
		return
	}
	text := "[Request interrupted by user]"
	switch {
	case t.callID != "":
		a.write(a.transcript.rejected(t.callID, t.callLine))
		text = "[Request interrupted by user for tool use]"
	case t.streamed != "":
		a.say(assistantEntry, t.streamed)
		a.write(a.transcript.assistant(newID("msg_"), "", tokenUsage(1000, 1), textBlock(t.streamed)))
	}
	a.write(a.transcript.note([]line{textBlock(text)}, nil))
	a.say(noteEntry, "Interrupted · What should Claude do instead?")
	if t.stopHook != nil {
		t.stopHook()
	}
	a.closeDialog(t.dialog)
	a.rest(t)
}
