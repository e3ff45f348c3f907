// Package phase names what an agent does, or what keeps it from doing anything: the words stand in
// records and in what programs are told, and each has its sentence in the chat.
package talk

import "time"

// Phase is what an agent does.
type Phase string

// The phases of an agent. The first five say what its terminal does with keys; the others say why
// its work has stopped.
const (
	PhaseUnknown           Phase = "unknown"
	PhaseIdle              Phase = "idle"
	PhaseWorking           Phase = "working"
	PhaseWaitingPermission Phase = "waiting_permission" // the agent, or a subagent of it
	PhaseWaitingAnswer     Phase = "waiting_answer"
	PhaseLoggedOut         Phase = "logged_out"    // the account or the key is not accepted
	PhaseLimited           Phase = "limit_reached" // the account has used what it may use
	PhaseAPIError          Phase = "api_error"     // a request has failed
	PhaseBlocked           Phase = "blocked"       // a hook of the person's has blocked a prompt
)

// Waiting reports whether the agent waits for a person's answer.
func (p Phase) Waiting() bool { return p == PhaseWaitingPermission || p == PhaseWaitingAnswer }

// Activity is what an agent does at a moment.
type Activity struct {
	Phase Phase
	// What is the tool of WaitingPermission and WaitingAnswer, and what Claude Code or the hook says
	// of LoggedOut, Limited, APIError and Blocked; empty: not known.
	What string
	// Until is the end of Limited, and when a request of APIError is made again; zero: not known, or
	// the request is given up.
	Until time.Time
}

// Works reports whether a turn runs that waits for no person.
func (n Activity) Works() bool {
	return n.Phase == PhaseWorking || n.Phase == PhaseAPIError && !n.Until.IsZero()
}

// requestFor is how long a request that is made again may take before nobody knows what became of it.
const requestFor = time.Minute

// At is what is left of it at a later moment: after its end a limit is none, and some time after a
// request was to be made again nobody knows what the agent does.
func (n Activity) At(now time.Time) Activity {
	switch {
	case n.Until.IsZero():
	case n.Phase == PhaseLimited && !now.Before(n.Until):
		return Activity{Phase: PhaseIdle}
	case n.Phase == PhaseAPIError && !now.Before(n.Until.Add(requestFor)):
		return Activity{Phase: PhaseUnknown}
	}
	return n
}
