package demoagent

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/try/demoagent/brain"
)

var slashCommand = regexp.MustCompile(`^\s*/([a-zA-Z][\w:-]*)(\s|$)`)

// enter submits the box.
func (a *agent) enter() {
	if !a.ready || a.box.continueLine() || strings.TrimSpace(a.box.plain()) == "" {
		return
	}
	p := brain.Prompt{Kind: brain.Words, Text: a.box.prompt(newPasteID), Plain: a.box.plain()}
	switch {
	case a.box.bash:
		p.Kind = brain.Bash
	case slashCommand.MatchString(p.Text):
		p.Kind = brain.Slash
	}
	a.box.clear()
	a.submit(p)
}

func newPasteID() string { return fmt.Sprintf("%04x", rand.IntN(1<<16)) } //nolint:gosec // only to tell pastes apart

func (a *agent) submit(p brain.Prompt) {
	p.Pasted, p.Session = a.pasted, a.id
	a.brain.Submit(p)
}

// Do runs a slash command, or the turn after a subagent.
func (a *agent) Do(p brain.Prompt) {
	if p.Kind == brain.Notice {
		a.runNotice(p)
		return
	}
	a.runCommand(p)
}

// Note writes the transcript and runs the hooks of an event.
func (a *agent) Note(e brain.Event, then func()) {
	switch e.Kind {
	case brain.Queued:
		a.queued(e.Prompts[0])
	case brain.Taken:
		for _, p := range e.Prompts {
			if p.Kind == brain.Words {
				a.write(a.transcript.queue("dequeue", ""))
			}
		}
	case brain.Prompted:
		a.prompted(e, then)
	case brain.Said:
		a.said(e)
	case brain.Ran:
		w := a.state(e.Turn)
		a.write(a.transcript.outcome(w.callID, w.callLine, e.Result, w.byHook, w.decided)...)
		w.callID, w.byHook = "", ""
	case brain.Finished:
		a.finish(e.Turn, then)
	case brain.Failed:
		a.failed(e, then)
	case brain.Interrupted:
		a.interrupted(e.Turn)
	case brain.ShellBegan:
		a.say(bashEntry, e.Shell.Command)
	case brain.ShellEnded:
		a.ranShell(e)
	case brain.Trouble:
		a.say(errorEntry, e.Text)
	}
}

// queued is a prompt that waits for the end of the turn. Its hooks run now, not when its turn
// comes.
func (a *agent) queued(p brain.Prompt) {
	if p.Kind == brain.Slash && strings.TrimSpace(p.Plain) == "/exit" {
		a.brain.Quit(0, "prompt_input_exit")
		return
	}
	if p.Kind != brain.Words {
		return
	}
	a.promptID = uuid.NewString()
	a.write(a.transcript.queue("enqueue", p.Text))
	payload := a.payload("UserPromptSubmit", map[string]any{"permission_mode": a.mode, "prompt": p.Text})
	a.brain.Async(func() { a.hooks.run(a.brain.Context(), "UserPromptSubmit", "", payload) }, func() {})
}

func (a *agent) prompted(e brain.Event, then func()) {
	for _, p := range e.Prompts {
		a.say(userEntry, p.Plain)
	}
	if e.Waited { // the hooks ran when it was queued
		a.accept(e.Prompts, "queued")
		then()
		return
	}
	a.promptID = uuid.NewString()
	w := a.state(e.Turn)
	w.onOpened = func() { a.offer(w, e.Prompts, then) }
	if w.hook = "SessionStart"; a.opened {
		w.onOpened()
	}
}

// offer lets the UserPromptSubmit hooks see the prompt; a hook that blocks it puts it back into the
// box.
func (a *agent) offer(w *turnState, prompts []brain.Prompt, then func()) {
	t := w.turn
	w.hook, w.onOpened = "UserPromptSubmit", nil
	payload := a.payload("UserPromptSubmit", map[string]any{"permission_mode": a.mode, "prompt": prompts[0].Text})
	var results []hookResult
	a.brain.Async(func() { results = a.hooks.run(t.Context, "UserPromptSubmit", "", payload) }, func() {
		if a.brain.Turn() != t {
			return
		}
		w.hook = ""
		if reason, no := blocked(results); no {
			a.say(noteEntry, "UserPromptSubmit operation blocked by hook:\n"+reason)
			a.box.insert(prompts[0].Plain)
			a.brain.Rest(t)
			return
		}
		a.accept(prompts, "typed")
		then()
	})
}

func (a *agent) accept(prompts []brain.Prompt, source string) {
	for _, p := range prompts {
		a.write(a.transcript.human(p.Text, a.promptID, source))
	}
}

// said writes the lines of an answer, which share a message.
func (a *agent) said(e brain.Event) {
	if e.Text != "" {
		a.say(assistantEntry, e.Text)
	}
	messageID, usage, stop := newID("msg_"), tokenUsage(1000+50*len(a.entries), len(e.Text)/4+1), "end_turn"
	if e.Call != nil {
		stop = "tool_use"
	}
	var lines []line
	if e.Text != "" {
		lines = append(lines, a.transcript.assistant(messageID, stop, usage, textBlock(e.Text)))
	}
	w := a.state(e.Turn)
	if e.Call != nil {
		w.callID = newID("toolu_")
		lines = append(lines, a.transcript.assistant(messageID, stop, usage,
			line{"type": "tool_use", "id": w.callID, "name": e.Call.Name, "input": toolInput(*e.Call)}))
		w.callLine = a.transcript.parent
	}
	a.write(lines...)
	a.runStatusLine()
	if e.Unasked {
		a.sayTitle(*e.Call)
	}
}

func newID(prefix string) string {
	id := uuid.New()
	return fmt.Sprintf("%s%x", prefix, id[:12])
}

// finish runs the Stop hooks; the session stays busy until they are done.
func (a *agent) finish(t *brain.Turn, then func()) {
	a.state(t).hook = "Stop"
	payload := a.payload("Stop", map[string]any{
		"permission_mode": a.mode, "effort": map[string]string{"level": "medium"}, "stop_hook_active": false,
		"last_assistant_message": t.LastText, "background_tasks": a.backgroundTasks(), "session_crons": []any{},
	})
	var results []hookResult
	a.brain.Async(func() { results = a.hooks.run(t.Context, "Stop", "", payload) }, func() {
		if a.brain.Turn() != t {
			return
		}
		worked := time.Since(t.Started)
		var lines []line
		if len(results) > 0 {
			lines = append(lines, a.transcript.system("stop_hook_summary", line{"hookCount": len(results), "level": "suggestion"}))
		}
		lines = append(lines, a.transcript.system("turn_duration", line{"durationMs": worked.Milliseconds(), "messageCount": len(a.entries)}))
		a.write(lines...)
		a.say(endEntry, fmt.Sprintf("Worked for %s · done %s", worked.Truncate(time.Second), time.Now().Format("3:04 PM")))
		then()
	})
}

func (a *agent) failed(e brain.Event, then func()) {
	a.write(a.transcript.apiError(e.Text))
	a.say(errorEntry, e.Text)
	a.state(e.Turn).hook = "StopFailure"
	payload := a.payload("StopFailure", map[string]any{"error": "unknown", "last_assistant_message": e.Text})
	a.brain.Async(func() { a.hooks.run(e.Turn.Context, "StopFailure", "", payload) }, then)
}

// interrupted is Esc while working: neither Stop nor StopFailure runs.
func (a *agent) interrupted(t *brain.Turn) {
	if t.Shell != nil {
		a.interruptShell(t.Shell)
		return
	}
	w, text := a.state(t), "[Request interrupted by user]"
	switch {
	case w.callID != "":
		a.write(a.transcript.rejected(w.callID, w.callLine))
		text = "[Request interrupted by user for tool use]"
	case t.Streamed != "":
		a.say(assistantEntry, t.Streamed)
		a.write(a.transcript.assistant(newID("msg_"), "", tokenUsage(1000, 1), textBlock(t.Streamed)))
	}
	a.write(a.transcript.note([]line{textBlock(text)}, nil))
	a.say(noteEntry, "Interrupted · What should Claude do instead?")
	if w.stopHook != nil {
		w.stopHook()
	}
	a.closeDialog(w.dialog)
}
