package bot

import (
	"context"
	"log/slog"

	"ccbot/bot/inbox"
)

// EndUnheard ends the prompts that are not typed yet and whose sender may not speak
// any more: who was taken off the list while they waited. It tells nobody, and the
// log once. It belongs before any prompt is asked about or handed to its session.
// What may be typed already stays, and so do prompts that no person has sent.
func (b *Bot) EndUnheard(ctx context.Context) error {
	entries, err := b.Entries.List()
	if err != nil {
		return err
	}
	ended := 0
	for _, e := range entries {
		waits := e.State == inbox.Held || e.State == inbox.Asked
		if !waits || len(e.Update) == 0 || b.stillHears(e) {
			continue
		}
		if err := b.Entries.Finish(e.Key); err != nil {
			return err // else it would be typed
		}
		ended++
	}
	if ended > 0 {
		b.Log.LogAttrs(ctx, slog.LevelWarn, "not_typed", slog.Int("prompts", ended), slog.String("why", "who sent them is not allowed any more"))
	}
	return nil
}

// stillHears is Hears for the sender of an entry.
func (b *Bot) stillHears(e inbox.Entry) bool {
	m, err := messageOf(e)
	return err == nil && b.Hears(m.From.ID, m.Chat) // else it is unknown who has sent it
}
