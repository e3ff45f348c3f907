package demoagent

import (
	"cmp"
	"context"
	"fmt"

	"ccbot/try/demoagent/brain"
	"ccbot/try/demoagent/script"
)

// Ask asks for permission. The dialog is open while the PermissionRequest hooks run; the first
// answer wins.
func (a *agent) Ask(t *brain.Turn, c script.Call, done func(script.Call, script.Result)) {
	w := a.state(t)
	if c.Name == "Agent" {
		done(c, a.launch(w, c))
		return
	}
	if c.Name == "ExitPlanMode" && a.mode != "plan" {
		a.beforePlan = a.mode
		a.setMode("plan")
	}
	a.sayTitle(c)
	if a.allowed(c) {
		done(c, a.permitted(c, nil, ""))
		return
	}
	w.dialog = a.dialogFor(c)
	a.openDialog(w.dialog, func(out *outcome) {
		w.dialog = nil
		a.chosen(c, out, done)
	})

	ctx, cancel := context.WithCancel(a.brain.Context())
	w.stopHook = cancel
	id := w.callID
	payload := a.payload("PermissionRequest", a.request(c))
	var results []hookResult
	a.brain.Async(func() { results = a.hooks.run(ctx, "PermissionRequest", c.Name, payload) }, func() {
		d, ok := permission(results)
		if ok && a.brain.Turn() == t && w.callID == id && w.dialog != nil {
			a.decided(w, c, d, done)
		}
	})
}

// title returns the call as the screen shows it.
func title(c script.Call) string {
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

func (a *agent) sayTitle(c script.Call) {
	if title := title(c); title != "" {
		a.say(toolEntry, title)
	}
}

// purpose is what a command of Bash is for.
func purpose(c script.Call) string { return cmp.Or(c.Purpose, "Run the command you asked for") }

// toolInput returns the tool_input of a call as hooks and transcript show it.
func toolInput(c script.Call) map[string]any {
	switch c.Name {
	case "Bash":
		return map[string]any{"command": c.Command, "description": purpose(c)}
	case "AskUserQuestion":
		return map[string]any{"questions": c.Questions}
	case "Edit":
		return map[string]any{"file_path": c.Path, "old_string": script.EditOld, "new_string": script.EditNew, "replace_all": false}
	case "Write":
		return map[string]any{"file_path": c.Path, "content": "# Notes\n\nThe demo agent would write this.\n"}
	case "Read":
		return map[string]any{"file_path": c.Path}
	case "Grep":
		return map[string]any{"pattern": c.Command}
	case "TodoWrite":
		return script.Todos(c.Done)
	case "Agent":
		return map[string]any{"description": "demo agent", "prompt": c.Command, "subagent_type": subagentType}
	}
	return map[string]any{"plan": c.Plan, "planFilePath": "~/.claude/plans/demo-plan.md"}
}

func (a *agent) dialogFor(c script.Call) dialog {
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
func (a *agent) chosen(c script.Call, out *outcome, done func(script.Call, script.Result)) {
	if a.refused(c, out) {
		a.brain.Interrupt()
		return
	}
	if c.Name == "ExitPlanMode" {
		a.setMode(map[int]string{1: "auto", 2: "default"}[out.option])
	}
	done(c, a.permitted(c, out.answers, ""))
}

// refused reports whether the person refused, and stores the effect of a yes on later calls.
func (a *agent) refused(c script.Call, out *outcome) bool {
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
func (a *agent) decided(w *turnState, c script.Call, d decision, done func(script.Call, script.Result)) {
	if d.Behavior == "allow" && (c.Name == "AskUserQuestion" || c.Name == "ExitPlanMode") && d.UpdatedInput == nil {
		return
	}
	if d.Behavior == "deny" && d.Interrupt {
		a.brain.Interrupt()
		return
	}
	a.closeDialog(w.dialog)
	w.dialog, w.byHook, w.decided = nil, d.Behavior, stamp()
	if d.Behavior == "deny" {
		a.say(noteEntry, "Denied by PermissionRequest hook")
		done(c, denial(d))
		return
	}
	if c.Name == "ExitPlanMode" { // without a word about the mode it is the one before plan mode
		a.setMode(firstOf(a.beforePlan, "default"))
	}
	a.apply(d.UpdatedPermissions)
	c, answers := changed(c, d.UpdatedInput)
	done(c, a.permitted(c, answers, "Allowed by PermissionRequest hook"))
}

func denial(d decision) script.Result {
	return script.Result{Text: firstOf(d.Message, "Permission denied by hook"), Denied: true, Message: d.Message}
}

// permitted shows a permitted call and returns its result; without one the call pretends to run.
func (a *agent) permitted(c script.Call, answers map[string]string, how string) (r script.Result) {
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
	return r
}

func (a *agent) setMode(mode string) { a.mode, a.transcript.mode = mode, mode }
