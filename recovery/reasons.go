package recovery

import (
	"fmt"
	"time"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// The functions of this file describe what was seen, for a plan, a history and a log.

func describePane(p tmux.Pane) string {
	where, ended := fmt.Sprintf("pane %s of window %s", p.ID, p.Window), ""
	switch {
	case !p.Dead:
		return fmt.Sprintf("%s holds process %d", where, p.PID)
	case p.DeadSignal != 0:
		ended = fmt.Sprintf(", signal %d", p.DeadSignal)
	case p.DeadStatus >= 0:
		ended = fmt.Sprintf(", status %d", p.DeadStatus)
	}
	return where + " is dead" + ended
}

// describeAgent returns the evidence that an agent is gone.
func describeAgent(b session.Binding) string {
	if !b.Agent.Valid() {
		return "its process had ended before it was known"
	}
	return "process " + b.Agent.String() + " is gone"
}

// describeGone returns the evidence that a session's pane and process are gone; closed is how it
// was lost.
func (w World) describeGone(b session.Binding, closed string) string {
	agent := describeAgent(b)
	switch {
	case closed == session.ClosedReboot:
		agent += ", the machine was restarted"
	case w.Tmux == TmuxAbsent:
		agent += ", no tmux server listens"
	case w.sameServer(b) == process.No:
		agent += fmt.Sprintf(", tmux server %d is another one", w.Server.PID)
	}
	return fmt.Sprintf("pane %s of tmux server %d is gone, %s", b.Pane, b.Server.PID, agent)
}

func describeWriter(w evidence.Writer) string {
	where, by := "", string(w.Source)
	if w.Source == process.SourceArgv {
		by = "command line"
	}
	if w.InTmux {
		where = " in window " + w.Pane.Window.String()
	}
	return fmt.Sprintf("process %s%s by its %s", w.Identity, where, by)
}

// describePending returns the reason why a cleanup waits.
func describePending(r session.Record) string {
	if r.Cleanup == nil {
		return "its remaining processes could not be ended"
	}
	return fmt.Sprintf("%s; tried again after %s", r.Cleanup.Reason, r.Cleanup.NotBefore.UTC().Format(time.RFC3339))
}
