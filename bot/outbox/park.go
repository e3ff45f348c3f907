package outbox

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// parkedFile is the marker beside the folder of posts: chat → since when it takes nothing.
const parkedFile = "parked.json"

// Parked says whether a chat takes nothing from this bot (403: blocked, kicked, never started).
// Then nothing is sent there: posts stay files, callers of Send have their refusal at once, edits
// are dropped. A start tries each once.
func (o *Outbox) Parked(chat int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	l, ok := o.lanes[chat]
	return ok && l.parked
}

// Unpark tries a chat again: somebody there has written, so it is in reach. That is also why what
// failed there is tried at once, and why its topics are taken to be there. It is quick for a chat
// that is not parked.
func (o *Outbox) Unpark(chat int64) {
	o.mu.Lock()
	for gone := range o.gone {
		if gone.ChatID == chat {
			delete(o.gone, gone)
		}
	}
	if l, ok := o.lanes[chat]; ok {
		l.parked, l.again = false, time.Time{}
	}
	o.mu.Unlock()
	o.news()
	o.unmark(chat)
}

// parkLocked lets everything that waits for a chat go but the posts, of which only the names are kept.
func (o *Outbox) parkLocked(l *lane) {
	l.parked, l.asides, l.failures = true, nil, 0
	l.queue = slices.DeleteFunc(l.queue, func(j *job) bool {
		switch {
		case j.flying: // it comes to its own end
			return false
		case j.kind == post:
			j.change, j.plain, j.unsure = change{}, false, false
			return false
		}
		if j.kind == edit && o.edits[j.ref()] == j {
			delete(o.edits, j.ref())
		}
		j.finish(result{err: errParked(l.chat)})
		return true
	})
}

func errParked(chat int64) error { return &Refused{fmt.Errorf("%w (chat %d)", ErrBlocked, chat)} }

// mark notes on disk that a chat is parked. It is told once, not at each start that tries it again.
func (o *Outbox) mark(chat int64, why error) {
	o.parked.change(func(all map[string]time.Time) bool {
		key := strconv.FormatInt(chat, 10)
		if _, known := all[key]; known {
			return false
		}
		all[key] = time.Now().UTC().Truncate(time.Second)
		o.log.Warn("chat_parked", "chat_id", chat, "error", inBrief(why), "mend", "a message from there, or a restart, tries it again")
		return true
	})
}

// unmark takes the marker of a chat away.
func (o *Outbox) unmark(chat int64) {
	key := strconv.FormatInt(chat, 10)
	if _, known := o.parked.get(key); !known {
		return
	}
	o.parked.change(func(all map[string]time.Time) bool {
		_, known := all[key]
		delete(all, key)
		return known
	})
	o.log.Info("chat_unparked", "chat_id", chat)
}
