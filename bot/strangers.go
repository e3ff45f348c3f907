package bot

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/go-telegram/bot/models"
)

// Hears says whether a person may speak in a chat. Who may not hears nothing at
// all: no answer, no reaction, not even the end of a tap's waiting. The log has at
// most one line an hour about all of them together, and only when it shows debug.
func (b *Bot) Hears(person int64, chat models.Chat) bool {
	if b.mayHear(person, chat) {
		return true
	}
	if n, say := b.strangers.came(b.Now()); say {
		b.Log.LogAttrs(context.Background(), slog.LevelDebug, "strangers_ignored", slog.Int("updates", n),
			slog.Int64("last_person", person), slog.Int64("last_chat", chat.ID))
	}
	return false
}

// strangersEvery is how often strangers are mentioned.
const strangersEvery = time.Hour

// strangers counts what is not heard. The zero value has counted nothing.
type strangers struct {
	mu    sync.Mutex
	count int
	said  time.Time
}

// came counts one, and says whether it is time to mention how many there were since
// the last time.
func (s *strangers) came(now time.Time) (count int, say bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	if !s.said.IsZero() && now.Sub(s.said) < strangersEvery {
		return 0, false
	}
	count, s.count, s.said = s.count, 0, now
	return count, true
}
