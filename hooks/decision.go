package hooks

import "ccbot/bot/port/decisions"

// Decision is what the hook prints, in the shape that Claude Code expects.
type Decision = decisions.Decision
