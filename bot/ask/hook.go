package ask

import (
	"ccbot/bot/port/decisions"
	"ccbot/bot/port/refusal"
)

type (
	// Request is one that a hook waits with.
	Request = decisions.Request
	// Decision is what the hook is told.
	Decision = decisions.Decision
	// Answerer is what answers requests without a person.
	Answerer = decisions.Answerer
)

func isNotWaiting(err error) bool { return refusal.Is(err, refusal.NotFound) }
