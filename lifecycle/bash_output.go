package lifecycle

import (
	"context"
	"slices"

	"ccbot/bot/port/desk"
	"ccbot/internal/claudeui"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// Output is what the terminal shows of a command of bash mode. Claude Code draws
// it about once a second and writes nothing into the transcript before the command
// has ended, and nothing at all of one that was interrupted.
type Output = desk.Output

// Output looks at the terminal of a session for a command of bash mode, with or
// without its sign. The zero value says that nobody knows, or that the agent works
// on something else.
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

// shell is the command of bash mode that the bound agent runs; seen says whether
// the screen tells at all.
func (v View) shell() (sh *claudeui.Shell, seen bool) {
	seen = v.Agent == process.Alive && v.Fate == PaneOurs && v.Captured && v.Screen.Box.Present
	if !seen || v.Phase() != PhaseWorking {
		return nil, seen
	}
	return v.Screen.Shell, true
}

// runs says whether the agent is seen to run the prompt, a command of bash mode
// whose Enter was pressed: the agent was idle then. Nothing else tells of it
// before the command has ended, however long that takes.
func (p *Prompt) runs(v View) bool {
	if !p.entered() || p.Class != ClassBash {
		return false
	}
	sh, _ := v.shell()
	return sh.Runs(p.Text)
}
