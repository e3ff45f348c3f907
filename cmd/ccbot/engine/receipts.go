package engine

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"ccbot/host"
	"ccbot/port"
	"ccbot/port/news"
)

// Receipts reports all news to the chat, and also keeps the result of an archive for the verb that
// prints it.
type Receipts struct {
	host.Chat
	started func() // is called when a session is ready, or continues in another window

	mu   sync.Mutex
	kept map[uuid.UUID]news.Stopped // of the sessions that a verb ends
}

// SessionNews passes a piece of news on to the chat.
func (r *Receipts) SessionNews(ctx context.Context, s port.Session, n news.News) error {
	switch n.(type) {
	case news.Ready, news.Transferred:
		r.started()
	}
	if stopped, is := n.(news.Stopped); is {
		r.mu.Lock()
		if _, wanted := r.kept[s.ID]; wanted {
			r.kept[s.ID] = stopped
		}
		r.mu.Unlock()
	}
	return r.Chat.SessionNews(ctx, s, n)
}

// Of calls end and returns its effect on a session.
func (r *Receipts) Of(id uuid.UUID, end func() error) (news.Stopped, error) {
	r.mu.Lock()
	if r.kept == nil {
		r.kept = make(map[uuid.UUID]news.Stopped)
	}
	r.kept[id] = news.Stopped{}
	r.mu.Unlock()
	err := end()
	r.mu.Lock()
	defer r.mu.Unlock()
	did := r.kept[id]
	delete(r.kept, id)
	return did, err
}
