package demoagent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ccbot/try/demoagent/brain"
	"ccbot/try/demoagent/script"

	"github.com/google/uuid"
)

const subagentType = "general-purpose"

// subagent works on one command concurrently with the session and outlives the turn that started
// it. Its lines are in a separate transcript.
type subagent struct {
	id         string
	call       script.Call
	toolID     string // of the call that started it
	transcript *transcript
	callID     string
	callLine   any
}

// launch starts a subagent and returns the result of the call, which does not wait for it.
func (a *agent) launch(w *turnState, c script.Call) script.Result {
	s := &subagent{id: strings.ReplaceAll(uuid.NewString(), "-", "")[:17], toolID: w.callID, callID: newID("toolu_"),
		call: script.Call{Name: "Bash", Command: c.Command, Background: true}}
	folder := strings.TrimSuffix(a.transcript.path, ".jsonl")
	s.transcript = &transcript{path: filepath.Join(folder, "subagents", "agent-"+s.id+".jsonl"), id: a.id, cwd: a.cwd,
		mode: a.mode, off: a.nested(), agentID: s.id, begun: true}
	a.subagents = append(a.subagents, s)
	a.say(toolEntry, "Agent(demo agent)\n⎿  Running in the background")
	a.brain.After(brain.Thinking, func() { a.work(s) })
	return script.Result{Text: "Async agent launched successfully.\nagentId: " + s.id}
}

// work writes the subagent's request. The real one waits for the hooks before it shows a dialog,
// unlike for the session's own calls: while they run the terminal has no dialog, and presence says
// busy.
func (a *agent) work(s *subagent) {
	messageID, usage := newID("msg_"), tokenUsage(500, 10)
	lines := []line{
		s.transcript.note(s.call.Command, line{"promptId": a.promptID}),
		s.transcript.assistant(messageID, "tool_use", usage, textBlock("Let me run that.")),
		s.transcript.assistant(messageID, "tool_use", usage, line{"type": "tool_use", "id": s.callID, "name": s.call.Name, "input": toolInput(s.call)}),
	}
	s.callLine = s.transcript.parent
	a.writeFor(s, lines...)
	if a.allowed(s.call) {
		a.workDone(s, script.Result{Text: script.Pretend(s.call.Command)}, "")
		return
	}
	more := a.request(s.call)
	more["agent_id"], more["agent_type"] = s.id, subagentType
	payload := a.payload("PermissionRequest", more)
	var results []hookResult
	a.brain.Async(func() { results = a.hooks.run(a.brain.Context(), "PermissionRequest", s.call.Name, payload) }, func() {
		d, ok := permission(results)
		switch {
		case !ok:
			a.openDialog(permissionMenu(s.call, a.cwd), func(out *outcome) { a.chosenFor(s, out) })
		case d.Behavior == "deny" && d.Interrupt:
			a.stopped(s)
		case d.Behavior == "deny":
			a.workDone(s, denial(d), d.Behavior)
		default:
			a.apply(d.UpdatedPermissions)
			c, _ := changed(s.call, d.UpdatedInput)
			a.workDone(s, script.Result{Text: script.Pretend(c.Command)}, d.Behavior)
		}
	})
}

func (a *agent) chosenFor(s *subagent, out *outcome) {
	if a.refused(s.call, out) {
		a.stopped(s)
		return
	}
	a.workDone(s, script.Result{Text: script.Pretend(s.call.Command)}, "")
}

// stopped is Esc in the subagent's dialog.
func (a *agent) stopped(s *subagent) {
	a.writeFor(s, s.transcript.rejected(s.callID, s.callLine), s.transcript.note([]line{textBlock("[Request interrupted by user for tool use]")}, nil))
	a.finished(s, "stopped by the user")
}

// workDone writes the result of the command, after the time it pretends to take, and ends the
// subagent.
func (a *agent) workDone(s *subagent, r script.Result, byHook string) {
	decided, wait := stamp(), script.Takes(s.call.Command)
	if r.Denied {
		wait = 0
	}
	a.brain.After(wait, func() {
		lines := s.transcript.outcome(s.callID, s.callLine, r, byHook, decided)
		lines = append(lines, s.transcript.assistant(newID("msg_"), "end_turn", tokenUsage(600, 5), textBlock(script.AfterTool(s.call, r)[0].Text)))
		a.writeFor(s, lines...)
		a.finished(s, "completed")
	})
}

// finished notifies the session, which gets a separate turn for it.
func (a *agent) finished(s *subagent, how string) {
	payload := a.payload("SubagentStop", map[string]any{"agent_id": s.id, "agent_type": subagentType, "agent_transcript_path": s.transcript.path,
		"background_tasks": a.backgroundTasks()})
	a.brain.Async(func() { a.hooks.run(a.brain.Context(), "SubagentStop", subagentType, payload) }, func() {
		a.subagents = slices.DeleteFunc(a.subagents, func(other *subagent) bool { return other == s })
		a.brain.Enqueue(brain.Prompt{Kind: brain.Notice, Plain: how, Text: fmt.Sprintf("<task-notification>\n<task-id>%s</task-id>\n"+
			"<tool-use-id>%s</tool-use-id>\n<status>%s</status>\n</task-notification>", s.id, s.toolID, how)})
	})
}

// runNotice runs the turn after a subagent: its prompt is not a person's, and no UserPromptSubmit
// hook sees it.
func (a *agent) runNotice(p brain.Prompt) {
	t := a.brain.NewTurn()
	a.write(a.transcript.note(p.Text, line{"origin": line{"kind": "task-notification"}}))
	a.brain.Play(t, script.Step{Text: "The background agent is done: " + p.Plain + "."})
}

// backgroundTasks returns the tasks for the input of the Stop hook.
func (a *agent) backgroundTasks() []any {
	tasks := []any{}
	for _, s := range a.subagents {
		tasks = append(tasks, map[string]any{"id": s.id, "type": "subagent", "status": "running", "description": "demo agent", "agent_type": subagentType})
	}
	return tasks
}

func (a *agent) writeFor(s *subagent, lines ...line) {
	err := os.MkdirAll(filepath.Dir(s.transcript.path), 0o700)
	if err == nil {
		err = s.transcript.append(lines...)
	}
	if err != nil {
		a.note(err)
	}
}
