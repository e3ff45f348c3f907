package lifecycle

import (
	"context"
	"slices"

	"ccbot/bot/port/desk"
	"ccbot/internal/claudeui"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// Output is what the terminal shows of a command of bash mode. Claude Code redraws it about once a
// second. It writes nothing into the transcript before the command has ended, and nothing at all if
// the command was interrupted.
type Output = desk.Output

// Output looks in the terminal of a session for a command of bash mode; command may be given with
// or without its "!". The zero value means that this is unknown, or that the agent works on
// something else.
func (o *Observer) Output(ctx context.Context, r session.Record, command string) Output {
	if !r.State.Live() || r.Binding == nil {
		return Output{}
	}
	v := o.View(ctx, r)
	sh, seen := v.shell()
	if !sh.Runs(command) {
		return Output{Idle: seen && v.Phase() == PhaseIdle}
	}
	return Output{Runs: true, Lines: slices.Clone(sh.Lines), Above: sh.Above}
}

// shell returns the command of bash mode that the bound agent runs. seen says whether the screen
// allows an answer.
func (v View) shell() (sh *claudeui.Shell, seen bool) {
	seen = v.Agent == process.Alive && v.Fate == PaneOurs && v.Captured && v.Screen.Box.Present
	if !seen || v.Phase() != PhaseWorking {
		return nil, seen
	}
	return v.Screen.Shell, true
}

// runs says whether the screen shows that the agent runs this prompt, a command of bash mode whose
// Enter was pressed while the agent was idle. Until the command has ended, however long that takes,
// nothing else shows that the prompt arrived.
func (p *Prompt) runs(v View) bool {
	if !p.entered() || p.Class != ClassBash {
		return false
	}
	sh, _ := v.shell()
	return sh.Runs(p.Text)
}
