package lifecycle

import (
	"ccbot/internal/claudeui"
	"ccbot/internal/process"
)

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
