package bot

import (
	"cmp"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/turn"
	"ccbot/internal/address"
)

// What a chat has chosen counts before what is configured.

// stepsIn says where the steps of turns are shown for a place.
func (b *Bot) stepsIn(to address.Conversation) turn.Steps {
	return cmp.Or(turn.Steps(b.Settings(to.ChatID).Steps), b.Config.Steps)
}

// typesIn reports whether the chat says "typing" in a place while an agent works: no card says it.
func (b *Bot) typesIn(to address.Conversation) bool { return b.stepsIn(to) != turn.OnCard }

// IdleIn is how long a session of a place is idle before it is archived; 0: it never is, or not while a prompt is
// planned for it.
func (b *Bot) IdleIn(at address.Conversation, session uuid.UUID) time.Duration {
	if b.limits.Planned(session) {
		return 0
	}
	if after := b.Settings(at.ChatID).IdleAfter; after != nil {
		return *after
	}
	return b.IdleAfter
}
