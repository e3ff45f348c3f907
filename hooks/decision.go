package hooks

import "ccbot/bot/port/decisions"

// Decision is what the hook prints: Claude Code's own shape.
type Decision = decisions.Decision
