package ask

import (
	"context"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/machine"
	"ccbot/internal/pause"
	"ccbot/internal/sysfault"
	"ccbot/port"
	"ccbot/port/news"
)

// maxLeaves is the number of attempts to release a hook of another machine. If all fail, it waits
// for the terminal.
const maxLeaves = 3

// takeRemote accepts a request of another machine, which is not trusted. A fault of this machine is
// returned, because the news then come again; anything else leaves the request to its terminal.
func takeRemote(ctx context.Context, a *Requests, s port.Session, n news.Requested) error {
	q, known := n.Request, false
	err := q.Check()
	if err == nil {
		known, err = a.redialled(ctx, q)
	}
	if err == nil && !known {
		err = a.fresh(ctx, s, q, n.Project, true)
	}
	if err == nil || sysfault.Of(err) != "" {
		return err
	}
	a.note(q.ID, err)
	release := func(ctx context.Context) {
		for range maxLeaves {
			if err := a.Hooks.Leave(ctx, s.ID, q.ID); err == nil || ctx.Err() != nil {
				return
			}
			_ = pause.For(ctx, faultInterval)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.group == nil {
		a.releases = append(a.releases, release)
	} else {
		a.group.Add(release)
	}
	return nil
}

// awayMachine returns the machine of a session if it does not answer.
func awayMachine(c *chat.Chat, session uuid.UUID) *machine.Info {
	if len(c.Machines.Others()) == 0 {
		return nil // most chats: the record is not read
	}
	s, _ := c.Book.Records.Get(session)
	if m, other := c.Machines.Find(s.Machine); other && m.Away {
		return &m
	}
	return nil
}

// WakeAll lets requests look again whether their machine answers, and whether their place may be
// shown anything.
func WakeAll(a *Requests) {
	for _, r := range a.requests(func(*request) bool { return true }) {
		pause.Poke(r.wake)
	}
}
