package demoagent

import (
	"context"
	"fmt"
	"os/exec"
	"syscall"
)

// call asks for permission and pretends to run the tool. The dialog is open while the
// PermissionRequest hooks run; whoever answers first wins.
func (a *agent) call(t *turn, c Call) {
	if c.Name == "Agent" {
		a.launch(t, c)
		return
	}
	if c.Free {
		a.free(t, c)
		return
	}
	if c.Name == "ExitPlanMode" && a.mode != "plan" {
		a.beforePlan = a.mode
		a.setMode("plan")
	}
	if title := c.title(); title != "" {
		a.say(toolEntry, title)
	}
	if a.allowed(c) {
		a.permitted(t, c, nil, "")
		return
	}
	t.dialog = a.dialogFor(c)
	a.openDialog(t.dialog, func(out *outcome) { a.chosen(t, c, out) })

	ctx, cancel := context.WithCancel(a.ctx)
	t.stopHook = cancel
	id := t.callID
	payload := a.payload("PermissionRequest", a.request(c))
	var results []hookResult
	a.async(func() { results = a.hooks.run(ctx, "PermissionRequest", c.Name, payload) }, func() {
		d, ok := permission(results)
		if ok && a.turn == t && t.callID == id && t.dialog != nil {
			a.decided(t, c, d)
		}
	})
}

// title returns the call as the screen shows it.
func (c Call) title() string {
	switch c.Name {
	case "Bash":
		return "Bash\n⎿  $ " + c.Command
	case "Edit":
		return "Update(" + c.Path + ")"
	case "Write":
		return "Write(" + c.Path + ")"
	case "Read":
		return "Read(" + c.Path + ")"
	case "Grep":
		return "Search(pattern: \"" + c.Command + "\")"
	}
	return ""
}

func (a *agent) dialogFor(c Call) dialog {
	switch c.Name {
	case "AskUserQuestion":
		return newAsk(c.Questions)
	case "ExitPlanMode":
		return planMenu(c)
	case "Edit", "Write":
		return fileMenu(c)
	}
	return permissionMenu(c, a.cwd)
}

// chosen is an answer in the terminal. A hook that still runs is left alone; its answer comes too
// late.
func (a *agent) chosen(t *turn, c Call, out *outcome) {
	t.dialog = nil
	if a.refused(c, out) {
		a.interrupt()
		return
	}
	if c.Name == "ExitPlanMode" {
		a.setMode(map[int]string{1: "auto", 2: "default"}[out.option])
	}
	a.permitted(t, c, out.answers, "")
}

// refused reports whether the person refused, and stores the effect of a yes on later calls.
func (a *agent) refused(c Call, out *outcome) bool {
	last := map[string]int{"Bash": 4, "ExitPlanMode": 3, "Edit": 3, "Write": 3}[c.Name]
	if out.escaped || last > 0 && out.option == last {
		return true
	}
	switch {
	case c.Name == "Bash" && out.option == 2:
		a.always = true
	case c.Name == "Bash" && out.option == 3:
		a.setMode("auto")
	case last == 3 && c.Name != "ExitPlanMode" && out.option == 2:
		a.setMode("acceptEdits")
	}
	return false
}

// decided is an answer of a hook. A bare "allow" cannot answer a question or approve a plan: there
// the dialog stays open.
func (a *agent) decided(t *turn, c Call, d decision) {
	if d.Behavior == "allow" && (c.Name == "AskUserQuestion" || c.Name == "ExitPlanMode") && d.UpdatedInput == nil {
		return
	}
	if d.Behavior == "deny" && d.Interrupt {
		a.interrupt()
		return
	}
	a.closeDialog(t.dialog)
	t.dialog, t.byHook, t.decided = nil, d.Behavior, stamp()
	if d.Behavior == "deny" {
		a.say(noteEntry, "Denied by PermissionRequest hook")
		a.ran(t, c, denial(d))
		return
	}
	if c.Name == "ExitPlanMode" { // without a word about the mode it is the one before plan mode
		a.setMode(firstOf(a.beforePlan, "default"))
	}
	a.apply(d.UpdatedPermissions)
	c, answers := c.with(d.UpdatedInput)
	a.permitted(t, c, answers, "Allowed by PermissionRequest hook")
}

func denial(d decision) Result {
	return Result{Text: firstOf(d.Message, "Permission denied by hook"), Denied: true, Message: d.Message}
}

// permitted writes the tool's invented result, after the time that a command pretends to take.
func (a *agent) permitted(t *turn, c Call, answers map[string]string, how string) {
	r := Result{Text: c.result()}
	switch c.Name {
	case "AskUserQuestion":
		r.Text = answerText(c.Questions, answers)
		shown := "Answered Claude's questions:"
		for _, q := range c.Questions {
			shown += fmt.Sprintf("\n⎿  · %s → %s", q.Question, answers[q.Question])
		}
		a.say(toolEntry, shown)
	case "ExitPlanMode":
		a.say(toolEntry, "User approved Claude's plan")
	}
	if how != "" {
		a.say(noteEntry, how)
	}
	id := t.callID
	if wait := takes(c.Command); wait > 0 {
		a.after(wait, func() {
			if a.turn == t && t.callID == id {
				a.ran(t, c, r)
			}
		})
		return
	}
	a.ran(t, c, r)
}

// result invents what a tool says.
func (c Call) result() string {
	switch {
	case c.Fails:
		return "Exit code 2\nmake: *** [test] Error 1"
	case c.Name == "Read":
		return "     1\tcolour = \"red\""
	case c.Name == "Grep":
		return "Found 1 file\n" + "colours.conf"
	case c.Name == "TodoWrite":
		return "Todos have been modified successfully."
	}
	switch c.Name {
	case "Edit":
		return "The file " + c.Path + " has been updated successfully."
	case "Write":
		return "File created successfully at: " + c.Path
	case "ExitPlanMode":
		return "User has approved your plan. You can now start coding. Start with updating your todo list if applicable\n\n" +
			"## Approved Plan:\n" + c.Plan
	}
	return pretend(c.Command)
}

// ran writes the result of a call and continues the turn.
func (a *agent) ran(t *turn, c Call, r Result) {
	a.write(a.transcript.outcome(t.callID, t.callLine, r, t.byHook, t.decided)...)
	t.callID, t.byHook = "", ""
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

// runChild starts a real process as a tool does: in a separate session, so that no hang-up reaches
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
