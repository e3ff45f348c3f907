package lifecycle

import (
	"ccbot/bot/port/decisions"
	"ccbot/bot/port/phase"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// doing is what the agent does, as people are shown it. The first row that holds decides. It is
// pure.
//
//	the terminal asks, or a subagent waits for the chat    it waits for a person
//	the screen counts down to another try of a request     the API refuses its requests
//	a turn runs                                            it works
//	no turn runs, and the last one has failed              the failure; a limit until its end
//	no turn runs                                           it is idle
//
// failed is the failure of the last turn according to the transcript; the zero value means that it
// has not failed. A subagent counts as waiting only while the presence file says that the agent is
// busy: the request may outlive the agent's work.
func doing(v View, failed transcript.Failure) phase.Now {
	p := v.Phase()
	switch {
	case p.Waiting() && v.Tool != "":
		return waitingFor(v.Tool)
	case p == PhaseWorking && v.Below != "":
		return waitingFor(v.Below)
	case p == PhaseWorking && v.Captured && v.Screen.Retry != nil:
		return phase.Now{Phase: phase.APIError, What: v.Screen.Retry.What, Until: v.Now.Add(v.Screen.Retry.In).UTC()}
	case p == PhaseIdle && phaseAfter[failed.Kind] != "":
		return After(failed).At(v.Now)
	}
	return phase.Now{Phase: p}
}

// After is the state in which a failure leaves an agent; the zero value if there was no failure.
func After(failed transcript.Failure) phase.Now {
	return phase.Now{Phase: phaseAfter[failed.Kind], What: failed.Text, Until: failed.Until}
}

var phaseAfter = map[transcript.FailureKind]Phase{
	transcript.FailedRequest: phase.APIError,
	transcript.FailedLogin:   phase.LoggedOut,
	transcript.FailedLimit:   phase.Limited,
	transcript.FailedHook:    phase.Blocked,
}

// waitingFor is the state of an agent that waits for the answer to a request for this tool.
func waitingFor(tool string) phase.Now {
	if (decisions.Request{Tool: tool}).IsQuestion() {
		return phase.Now{Phase: PhaseWaitingAnswer, What: tool}
	}
	return phase.Now{Phase: PhaseWaitingPermission, What: tool}
}

// Noted returns what the record says that its agent does.
func Noted(r session.Record) phase.Now {
	return phase.Now{Phase: Phase(r.Phase), What: r.PhaseWhat, Until: r.PhaseUntil}
}
