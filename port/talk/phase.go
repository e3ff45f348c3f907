package talk

import (
	"strings"
	"time"
)

// Phase is the activity of an agent, or the reason why its work has stopped. Records and the API
// use these words.
type Phase string

// The phases. The first five describe how its terminal takes keys; the others why its work has
// stopped.
const (
	PhaseUnknown           Phase = "unknown"
	PhaseIdle              Phase = "idle"
	PhaseWorking           Phase = "working"
	PhaseWaitingPermission Phase = "waiting_permission" // also for a subagent
	PhaseWaitingAnswer     Phase = "waiting_answer"
	PhaseLoggedOut         Phase = "logged_out"    // the account or the key is rejected
	PhaseLimited           Phase = "limit_reached" // the account has reached its limit
	PhaseAPIError          Phase = "api_error"     // a request failed
	PhaseBlocked           Phase = "blocked"       // the person's hook blocked a prompt
)

// ContinuesWithin is how long after the end of a limit an agent may continue by itself.
const ContinuesWithin = 3 * time.Minute

// Waiting reports whether the agent waits for a person's answer.
func (p Phase) Waiting() bool { return p == PhaseWaitingPermission || p == PhaseWaitingAnswer }

// Activity is the activity of an agent at one time.
type Activity struct {
	Phase Phase
	// What is the tool of PhaseWaitingPermission and PhaseWaitingAnswer, or the message of Claude
	// Code or the hook for PhaseLoggedOut, PhaseLimited, PhaseAPIError and PhaseBlocked, or the
	// agent's own word for PhaseUnknown, which ccbot does not know, or the
	// command of Attach, or Compacting or Pursuing for PhaseWorking; empty: unknown.
	What string
	// Until is the end of PhaseLimited, or the time of the next attempt after PhaseAPIError; zero:
	// unknown, or no attempt follows.
	Until time.Time
}

// Compacting is the Activity.What of an agent that shortens its conversation.
const Compacting = "compacting"

// Compact is the command that shortens a conversation, and Rewind the one that goes back in it.
const (
	Compact = "/compact"
	Rewind  = "/rewind"
)

// Elsewhere begins the Activity.What of PhaseUnknown of an agent that has moved its conversation into
// its own background. The command that shows it there follows.
const Elsewhere = "elsewhere: "

// Attach returns that command, and whether the conversation is there.
func (a Activity) Attach() (command string, is bool) {
	if a.Phase != PhaseUnknown {
		return "", false
	}
	return strings.CutPrefix(a.What, Elsewhere)
}

// Pursuing is the Activity.What of an agent that begins one turn after the other until a goal is reached.
const Pursuing = "pursuing"

// Works reports whether a turn runs and waits for no person.
func (a Activity) Works() bool {
	return a.Phase == PhaseWorking || a.Phase == PhaseAPIError && !a.Until.IsZero()
}

// requestFor is the maximum duration of a repeated request; after it the result is unknown.
const requestFor = time.Minute

// At returns the activity at a later time: PhaseIdle after the end of a limit, PhaseUnknown some
// time after a request was due to be repeated.
func (a Activity) At(now time.Time) Activity {
	switch {
	case a.Until.IsZero():
	case a.Phase == PhaseLimited && !now.Before(a.Until):
		return Activity{Phase: PhaseIdle}
	case a.Phase == PhaseAPIError && !now.Before(a.Until.Add(requestFor)):
		return Activity{Phase: PhaseUnknown}
	}
	return a
}
