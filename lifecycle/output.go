package lifecycle

import (
	"context"
	"slices"
	"time"

	"ccbot/bot/port/desk"
	"ccbot/internal/claudeui"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/tmux"
)

// Output is what the terminal shows of a command of bash mode. Claude Code draws
// it about once a second and writes nothing into the transcript before the command
// has ended, and nothing at all of one that was interrupted.
type Output = desk.Output

// Output looks at the terminal of a session for a command of bash mode, with or
// without its sign. The zero value says that nobody knows, or that the agent works
// on something else.
func (s *Service) Output(ctx context.Context, r session.Record, command string) Output {
	if !r.State.Live() || r.Binding == nil {
		return Output{}
	}
	v := s.View(ctx, r)
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

// noteShell finishes the prompt that is seen to run: what interrupts it puts it
// back into the box, where Enter would run it a second time.
func (w *work) noteShell(ctx context.Context) error {
	head, err := w.head()
	if err != nil || !head.runs(w.view) {
		return err
	}
	return w.proven(ctx, *head)
}

// noteTyped keeps in mind which command of bash mode ccbot has typed last.
func (w *work) noteTyped(p Prompt) {
	if p.Class == ClassBash {
		w.remember(w.r.ID, func(m *memory) { m.shell = p.Text })
	}
}

// takeBack empties the box of a command that was interrupted from the chat: Claude
// Code puts it back there, in bash mode, and whatever comes next would wait behind
// it. One that a person has typed at the desk stays.
func (w *work) takeBack(ctx context.Context, interrupted *claudeui.Shell) {
	p := Prompt{Text: w.recall(w.r.ID).shell, Class: ClassBash}
	if p.Text == "" || !interrupted.Runs(p.Text) {
		return
	}
	back := await(ctx, lookPace, shellBack, func() bool {
		w.view = w.View(ctx, *w.r)
		return w.view.boxFree() && w.view.Screen.Box.Bash && p.shows(w.view.Screen.Box)
	})
	if back && w.emptyBox(ctx) {
		w.leaveShell(ctx)
	}
}

// leaveShell takes an empty box out of bash mode, which the key that clears it
// does as well.
func (w *work) leaveShell(ctx context.Context) {
	before := w.view.Screen.Box
	if !before.Bash || !before.Empty || !w.view.boxFree() {
		return
	}
	err := w.press(func(g tmux.Guard) error { return w.Tmux.Press(ctx, g, tmux.KeyClear) })
	if err != nil || !w.seeChange(ctx, before) {
		w.Log.Debug("bash_mode_not_left", "session_id", w.r.ID.String())
	}
}

// shellBack is how long an interrupted command may take to end and to stand in
// the box again. The agent sends it a TERM first.
const shellBack = 5 * time.Second
