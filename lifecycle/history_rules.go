package lifecycle

import "ccbot/internal/session"

// The rules behind the changes of a session's state, as the record's history names them.
const (
	ruleStart   session.Rule = "start"   // a new session was asked for
	ruleReady   session.Rule = "ready"   // the agent can be spoken to
	ruleResume  session.Rule = "resume"  // a person asked to have a session back
	ruleAdopt   session.Rule = "adopt"   // a window that a person opened became a session's
	ruleStop    session.Rule = "stop"    // the session is to end; the evidence says who wants it
	ruleStopped session.Rule = "stopped" // the result of an archive
	ruleEnded   session.Rule = "ended"   // the agent ended by itself
	ruleLost    session.Rule = "lost"    // the pane went away without ccbot
	ruleFailed  session.Rule = "failed"  // a launch never became ready
)
