package bot

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/lifecycle"
)

// unqueued are prompts that are held on disk and may lie in no queue: neither could
// the queue be written, nor the entry set back (a full disk). They are tried again
// until each is in its queue, or told. A restart finds them on disk.
type unqueued struct {
	*Bot
	wake  chan struct{}
	again time.Duration // until the next try of what failed

	working sync.Mutex // held while they are queued; before mu
	mu      sync.Mutex
	all     []unqueuedPrompt // oldest first
}

type unqueuedPrompt struct {
	key     string
	session uuid.UUID
}

func newUnqueued(b *Bot) *unqueued {
	return &unqueued{Bot: b, wake: make(chan struct{}, 1), again: 10 * time.Second}
}

// unless notes a held prompt that could not be queued, unless it could be set back
// or is somebody else's by now. The error is both.
func (u *unqueued) unless(key string, session uuid.UUID, why, back error) error {
	if back != nil && !isGone(back) {
		u.mu.Lock()
		if one := (unqueuedPrompt{key, session}); !slices.Contains(u.all, one) {
			u.all = append(u.all, one)
		}
		u.mu.Unlock()
		poke(u.wake)
	}
	return errors.Join(why, back)
}

// Run queues what comes until ctx ends. While there is none it does nothing.
func (u *unqueued) Run(ctx context.Context) error {
	for {
		var retry <-chan time.Time // nil waits for ever
		if !u.work(ctx) {
			retry = time.After(u.again)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-u.wake:
		case <-retry:
		}
	}
}

var errNotQueued = errors.New("an earlier prompt of this session is not queued yet")

// settle queues what is left of a session, before a later prompt of it is: that
// must not overtake.
func (u *unqueued) settle(ctx context.Context, session uuid.UUID) error {
	u.working.Lock()
	defer u.working.Unlock()
	if !u.waits(session) {
		return nil
	}
	u.workHeld(ctx)
	if u.waits(session) {
		return errNotQueued
	}
	return nil
}

func (u *unqueued) waits(session uuid.UUID) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.ContainsFunc(u.all, func(one unqueuedPrompt) bool { return one.session == session })
}

// work tries all of them once. It is false when some are left.
func (u *unqueued) work(ctx context.Context) bool {
	u.working.Lock()
	defer u.working.Unlock()
	return u.workHeld(ctx)
}

// workHeld is work with working held.
func (u *unqueued) workHeld(ctx context.Context) bool {
	u.mu.Lock()
	all := slices.Clone(u.all)
	u.mu.Unlock()
	done := true
	for _, one := range all {
		if err := u.queue(ctx, one.key); err != nil {
			if ctx.Err() == nil {
				u.Log.Error("prompt_not_queued", "key", one.key, "session_id", one.session.String(), "error", err.Error())
			}
			done = false
			continue
		}
		u.mu.Lock()
		u.all = slices.DeleteFunc(u.all, func(k unqueuedPrompt) bool { return k == one })
		u.mu.Unlock()
	}
	return done
}

// queue queues a prompt, or tells that there is no agent for it any more. One that
// is not held any more is somebody else's.
func (u *unqueued) queue(ctx context.Context, key string) error {
	e, err := u.Entries.Load(key)
	switch {
	case isGone(err), err == nil && e.State != inbox.Held:
		return nil
	case err != nil:
		return err
	}
	r, ok := u.Records.Get(e.Session)
	if !ok {
		return u.Homeless(ctx, []string{key})
	}
	if r = u.Successor(r); r.ID != e.Session {
		if err := u.restate(key, inbox.Held, inbox.Held, r.ID); err != nil {
			return err
		}
		e.Session = r.ID
	}
	if err := u.Sessions.Queue(ctx, r.ID, key); !errors.Is(err, lifecycle.ErrNoAgent) {
		return err
	}
	if r, ok = u.Records.Get(r.ID); !ok || r.State.Live() {
		return errNotQueued // it has changed at this moment
	}
	return u.endPrompt(ctx, incoming{Incoming: chat.Incoming{Message: conversation.Message{To: e.Conversation}, Key: key, MessageID: e.MessageID}}, r, e)
}
