package conversation

import (
	"maps"
	"slices"

	"github.com/google/uuid"

	"ccbot/port"
	"ccbot/port/news"
)

// newsLimit bounds the sessions of which a conversation stores the number of the last news: the
// engine repeats only news of moments ago.
const newsLimit = 100

// News stores which kept news the chat has.
type News struct{ In *Store }

// Once calls report for news that the chat does not have yet. If report succeeds, the same news
// change nothing from then on. Late news have a lower number than others that the chat has.
func (n News) Once(s port.Session, told news.News, report func() error) error {
	numbered := news.IsKept(told) && s.News > 0 && s.Conversation.ChatID != 0
	if numbered && !s.Late && n.has(s.ID, s.News) {
		return nil
	}
	if err := report(); err != nil || !numbered {
		return err
	}
	return n.In.change(s.Conversation, func(f *file) { f.noteNews(s.ID, s.News) })
}

func (n News) has(id uuid.UUID, number int64) bool {
	n.In.mu.Lock()
	defer n.In.mu.Unlock()
	for _, f := range n.In.kept {
		if f.News[id] >= number {
			return true
		}
	}
	return false
}

// noteNews stores a number. Numbers of later news are higher, also those of other sessions.
func (f *file) noteNews(id uuid.UUID, number int64) {
	f.News[id] = max(f.News[id], number)
	if all := slices.Sorted(maps.Values(f.News)); len(all) > newsLimit {
		maps.DeleteFunc(f.News, func(_ uuid.UUID, n int64) bool { return n < all[len(all)-newsLimit] })
	}
}

// rehomeNews adds the numbers of another conversation's file.
func (f *file) rehomeNews(old file) {
	for id, number := range old.News {
		f.noteNews(id, number)
	}
}
