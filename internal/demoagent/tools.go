package demoagent

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// shellLimit bounds a command of bash mode.
const shellLimit = 2 * time.Minute

// call asks for permission and pretends to run the tool. The dialog is open while the PermissionRequest
// hooks run; whoever answers first wins.
func (a *agent) call(t *turn, c Call) {
	if c.Name == "Bash" {
		a.say(toolEntry, "Bash\n⎿  $ "+c.Command)
		if a.always || a.mode == "auto" || a.mode == "bypassPermissions" {
			a.ran(t, c, Result{Text: pretend(c.Command)})
			return
		}
	}
	a.openDialog(a.dialogFor(c), func(out *outcome) { a.chosen(t, c, out) })

	ctx, cancel := context.WithCancel(a.ctx)
	t.stopHook = cancel
	id := t.callID
	more := map[string]any{"permission_mode": a.mode, "effort": map[string]string{"level": "medium"}, "tool_name": c.Name, "tool_input": c.Input()}
	if c.Name == "Bash" {
		more["permission_suggestions"] = []any{map[string]any{"type": "addDirectories", "directories": []string{a.cwd}, "destination": "session"}}
	}
	if c.Background {
		more["agent_id"], more["agent_type"] = "a2be91fc2671cadb0", "general-purpose"
	}
	payload := a.payload("PermissionRequest", more)
	var results []hookResult
	a.async(func() { results = a.hooks.run(ctx, "PermissionRequest", c.Name, payload) }, func() {
		d, ok := permission(results)
		if ok && a.turn == t && t.callID == id && a.dialog != nil {
			a.decided(t, c, d)
		}
	})
}

func (a *agent) dialogFor(c Call) dialog {
	switch c.Name {
	case "AskUserQuestion":
		return newAsk(c.Questions)
	case "ExitPlanMode":
		return planMenu(c)
	}
	return permissionMenu(c, a.cwd)
}

// chosen is an answer in the terminal. A hook that still runs is left alone; its answer comes too late.
func (a *agent) chosen(t *turn, c Call, out *outcome) {
	switch {
	case out.escaped, c.Name == "Bash" && out.option == 4, c.Name == "ExitPlanMode" && out.option == 3:
		a.interrupt()
		return
	case c.Name == "Bash":
		a.always = a.always || out.option == 2
		if out.option == 3 {
			a.setMode("auto")
		}
	case c.Name == "ExitPlanMode":
		a.setMode(map[int]string{1: "auto", 2: "default"}[out.option])
	}
	a.permitted(t, c, out.answers, "")
}

// decided is an answer of a hook. A bare "allow" cannot answer a question or approve a plan: there the
// dialog stays open.
func (a *agent) decided(t *turn, c Call, d decision) {
	if d.Behavior == "allow" && c.Name != "Bash" && d.UpdatedInput == nil {
		return
	}
	if d.Behavior == "deny" && d.Interrupt {
		a.interrupt()
		return
	}
	a.dialog, a.onClose = nil, nil
	a.write(a.transcript.chained("attachment", line{"attachment": line{
		"type": "hook_permission_decision", "decision": d.Behavior, "toolUseID": t.callID, "hookEvent": "PermissionRequest"}}))
	if d.Behavior == "deny" {
		a.say(noteEntry, "Denied by PermissionRequest hook")
		a.ran(t, c, Result{Text: firstOf(d.Message, "Permission denied by hook"), Denied: true, Message: d.Message})
		return
	}
	for _, update := range d.UpdatedPermissions {
		a.always = a.always || update.Type == "addRules" || update.Type == "addDirectories"
		if update.Type == "setMode" {
			a.setMode(update.Mode)
		}
	}
	if command, ok := d.UpdatedInput["command"].(string); ok {
		c.Command = command
	}
	answers := map[string]string{}
	given, _ := d.UpdatedInput["answers"].(map[string]any)
	for question, answer := range given {
		answers[question], _ = answer.(string)
	}
	a.permitted(t, c, answers, "Allowed by PermissionRequest hook")
}

// permitted gives the tool's invented result.
func (a *agent) permitted(t *turn, c Call, answers map[string]string, how string) {
	r := Result{Text: pretend(c.Command)}
	switch c.Name {
	case "AskUserQuestion":
		r.Text = answerText(c.Questions, answers)
		shown := "Answered Claude's questions:"
		for _, q := range c.Questions {
			shown += fmt.Sprintf("\n⎿  · %s → %s", q.Question, answers[q.Question])
		}
		a.say(toolEntry, shown)
	case "ExitPlanMode":
		r.Text = "User has approved your plan. You can now start coding."
		a.say(toolEntry, "User approved Claude's plan")
	}
	if how != "" {
		a.say(noteEntry, how)
	}
	a.ran(t, c, r)
}

// ran writes the result of a call and lets the turn go on.
func (a *agent) ran(t *turn, c Call, r Result) {
	a.write(a.transcript.toolResult(t.callID, r.Text, r.Denied, line{"sourceToolAssistantUUID": t.callLine}))
	t.callID = ""
	t.steps = append(afterTool(c, r), t.steps...)
	a.after(thinking, func() { a.step(t) })
}

func (a *agent) setMode(mode string) { a.mode, a.transcript.mode = mode, mode }

// spring is the armed dialog: a subagent asks for permission between a paste and its Enter.
func (a *agent) spring() {
	if !a.armed || a.turn != nil {
		return
	}
	a.armed = false
	a.deliver(a.newTurn(), Step{Text: "A subagent wants to run something.",
		Tool: &Call{Name: "Bash", Command: "make deploy", Background: true}}, "A subagent wants to run something.")
}

// runChild starts a real process as a tool does: with a session of its own, so that no hang-up reaches
// it. It is ended with the turn, but survives a SIGKILL of the agent.
func (a *agent) runChild(t *turn, c Call) {
	cmd := exec.CommandContext(t.ctx, "/bin/sh", "-c", "exec "+c.Command) //nolint:gosec // "sleep N"
	cmd.Dir, cmd.SysProcAttr = a.cwd, &syscall.SysProcAttr{Setsid: true}
	a.say(toolEntry, "Bash\n⎿  $ "+c.Command)
	a.async(func() { _ = cmd.Run() }, func() {
		if a.turn == t {
			a.ran(t, c, Result{Text: "(no output)"})
		}
	})
}

// runShell is bash mode: the command is really run, without any hook but the Stop at the end.
func (a *agent) runShell(p prompt) {
	t := a.newTurn()
	command := strings.TrimSpace(p.plain)
	a.say(bashEntry, command)
	a.write(a.transcript.note("<bash-input>"+command+"</bash-input>", nil))
	var out, errOut strings.Builder
	a.async(func() {
		ctx, cancel := context.WithTimeout(t.ctx, shellLimit)
		defer cancel()
		cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command) //nolint:gosec // the person asked for it
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = a.cwd, a.env, &out, &errOut
		cmd.WaitDelay = 200 * time.Millisecond
		if err := cmd.Run(); err != nil && errOut.Len() == 0 {
			errOut.WriteString(err.Error())
		}
	}, func() {
		if a.turn != t {
			return
		}
		stdout, stderr := strings.TrimRight(out.String(), "\n"), strings.TrimRight(errOut.String(), "\n")
		a.write(a.transcript.note(fmt.Sprintf("<bash-stdout>%s</bash-stdout><bash-stderr>%s</bash-stderr>", stdout, stderr), nil))
		a.say(noteEntry, firstOf(strings.TrimSpace(stdout+"\n"+stderr), "(No output)"))
		t.steps = []Step{{Text: fmt.Sprintf("Seen: `%s` ran in your shell.", command)}}
		a.after(thinking, func() { a.step(t) })
	})
}
