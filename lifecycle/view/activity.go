package view

import (
	"ccbot/internal/session"
	"ccbot/port/talk"
)

// Doing returns the activity that people see. The first row that holds decides. It is
// pure.
//
//	the terminal asks, or a subagent waits for the chat    it waits for a person
//	the screen counts down to another try of a request     the API refuses its requests
//	the screen says so                                     it shortens its conversation
//	a turn runs, and a goal is not reached                 it pursues the goal
//	a turn runs                                            it works
//	no turn runs, and the last one has failed              the failure; a limit until its end
//	no turn runs                                           it is idle
//	the conversation has left the window                   the command that shows it
//
// failed is the failure of the last turn according to the transcript; the zero value means that it
// has not failed. A subagent counts as waiting only while the presence file says that the agent is
// busy: the request may outlive the agent's work.
func Doing(v View, failed talk.Failure) talk.Activity {
	p := v.Phase()
	switch {
	case p.Waiting() && v.Tool != "":
		return waitingFor(v.Tool)
	case p == talk.PhaseWorking && v.SubagentTool != "":
		return waitingFor(v.SubagentTool)
	case p == talk.PhaseWorking && v.Captured && v.Screen.Retry != "":
		return talk.Activity{Phase: talk.PhaseAPIError, What: v.Screen.Retry, Until: v.Now.Add(v.Screen.RetryIn).UTC()}
	case p == talk.PhaseWorking && v.Captured && v.Screen.Compacts:
		return talk.Activity{Phase: p, What: talk.Compacting}
	case v.Pursues && (p == talk.PhaseWorking || p == talk.PhaseIdle && failed.Kind == "" && v.Captured && v.Screen.Busy): // also for the moment between two turns
		return talk.Activity{Phase: talk.PhaseWorking, What: talk.Pursuing}
	case p == talk.PhaseIdle && phaseAfter[failed.Kind] != "":
		return After(failed).At(v.Now)
	}
	if p == talk.PhaseUnknown && v.State.Attach != "" {
		return talk.Activity{Phase: p, What: talk.Elsewhere + v.State.Attach}
	}
	if p == talk.PhaseUnknown {
		return talk.Activity{Phase: p, What: v.State.Word}
	}
	return talk.Activity{Phase: p}
}

// After is the state in which a failure leaves an agent; the zero value if there was no failure.
func After(failed talk.Failure) talk.Activity {
	return talk.Activity{Phase: phaseAfter[failed.Kind], What: failed.Text, Until: failed.Until}
}

var phaseAfter = map[talk.FailureKind]talk.Phase{
	talk.FailedRequest: talk.PhaseAPIError,
	talk.FailedLogin:   talk.PhaseLoggedOut,
	talk.FailedLimit:   talk.PhaseLimited,
	talk.FailedHook:    talk.PhaseBlocked,
	talk.FailedContext: talk.PhaseAPIError,
	talk.FailedAccount: talk.PhaseAPIError,
	talk.FailedRefused: talk.PhaseAPIError,
}

// waitingFor is the state of an agent that waits for the answer to a request for this tool.
func waitingFor(tool string) talk.Activity {
	if talk.KindOf(tool) == talk.AskQuestion {
		return talk.Activity{Phase: talk.PhaseWaitingAnswer, What: tool}
	}
	return talk.Activity{Phase: talk.PhaseWaitingPermission, What: tool}
}

// Noted returns what the record says that its agent does.
func Noted(r session.Record) talk.Activity {
	return talk.Activity{Phase: talk.Phase(r.Phase), What: r.PhaseWhat, Until: r.PhaseUntil}
}
