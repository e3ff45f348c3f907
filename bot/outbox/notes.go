package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"time"

	tgbot "github.com/go-telegram/bot"

	"ccbot/internal/facts"
	"ccbot/internal/logkey"
	"ccbot/internal/spool"
)

const (
	parkedFile = "parked.json" // chat → since when it takes nothing
	richFile   = "rich.json"   // server → whether it has rich messages (Bot API 10.1)
	holdsFile  = "holds.json"  // chat → the wait that Telegram has asked for: a restart must not cut it short
	paceFile   = "pace.json"   // chat → the uptime at which its budget is full again; written only at a clean stop
)

// richAgain is the time after which a server that had no rich messages is asked again: it may have
// been updated.
const richAgain = 7 * 24 * time.Hour

type richFact struct {
	Has bool      `json:"has"`
	At  time.Time `json:"at"`
}

// hold is one retry_after. It is kept as a duration, so that a clock that is set anew cannot make
// it longer.
type hold struct {
	At      time.Time `json:"at"`
	Seconds int       `json:"seconds"`
}

func (h hold) left(now time.Time) time.Duration {
	all := time.Duration(h.Seconds) * time.Second
	return min(max(h.At.Add(all).Sub(now), 0), all)
}

// notes are the facts that the next run needs, too: small files beside the folder of posts.
type notes struct {
	server  string
	log     *slog.Logger
	parked  *facts.File[time.Time]
	servers *facts.File[richFact]
	holds   *facts.File[hold]
	full    *facts.File[time.Duration]
}

func openNotes(home spool.Folder, server string, log *slog.Logger) notes {
	aside := filepath.Join(home.Path, quarantineFolder)
	return notes{server: server, log: log, parked: facts.Open[time.Time](home, parkedFile, aside, log),
		servers: facts.Open[richFact](home, richFile, aside, log), holds: facts.Open[hold](home, holdsFile, aside, log),
		full: facts.Open[time.Duration](home, paceFile, aside, log)}
}

func key(chat int64) string { return strconv.FormatInt(chat, 10) }

// park notes that a chat accepts nothing. That is logged once, not after each start that tries the
// chat again.
func (n *notes) park(chat int64, why error) {
	n.parked.Change(func(all map[string]time.Time) bool {
		if _, known := all[key(chat)]; known {
			return false
		}
		all[key(chat)] = time.Now().UTC().Truncate(time.Second)
		n.log.Warn("chat_parked", logkey.ChatID, chat, logkey.Error, inBrief(why), logkey.Mend, "a message from there, or a restart, tries it again")
		return true
	})
}

func (n *notes) unpark(chat int64) {
	if _, known := n.parked.Get(key(chat)); !known {
		return
	}
	n.parked.Change(func(all map[string]time.Time) bool {
		delete(all, key(chat))
		return true
	})
	n.log.Info("chat_unparked", logkey.ChatID, chat)
}

// hold notes that a chat must wait.
func (n *notes) hold(chat int64, wait time.Duration) {
	n.holds.Change(func(all map[string]hold) bool {
		now := time.Now()
		for k, h := range all {
			if h.left(now) == 0 {
				delete(all, k)
			}
		}
		if wait <= all[key(chat)].left(now) {
			return false
		}
		all[key(chat)] = hold{At: now.UTC(), Seconds: int((wait + time.Second - 1) / time.Second)}
		return true
	})
}

func (n *notes) rich(has bool) {
	if f, known := n.servers.Get(n.server); known && f.Has && has {
		return
	}
	n.servers.Change(func(all map[string]richFact) bool {
		all[n.server] = richFact{Has: has, At: time.Now().UTC().Truncate(time.Second)}
		return true
	})
	if !has {
		n.log.Info("no_rich_messages", logkey.Server, n.server)
	}
}

// Parked reports whether a chat accepts nothing from this bot (403: blocked, kicked, never
// started). While a chat is parked nothing is sent to it: posts stay files, callers of Send get
// their refusal at once, and edits are dropped. After a start each parked chat is tried once.
func (o *Outbox) Parked(chat int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	l, ok := o.queues.lanes[chat]
	return ok && l.parked
}

// Unpark tries a chat again, because somebody there has written, so the chat can be reached. For
// the same reason a job that failed there is tried at once, and the topics of the chat are assumed
// to exist and to be open: people open a closed topic again by a message. Unpark returns quickly.
func (o *Outbox) Unpark(chat int64) {
	o.with(func(q *queues) { q.unpark(chat) })
	o.notes.unpark(chat)
}

func errParked(chat int64) error { return &Refused{fmt.Errorf("%w (chat %d)", ErrBlocked, chat)} }

// TakesRich reports whether rich messages are worth a try: the server is known to have them, or it
// is unknown whether it has them.
func (o *Outbox) TakesRich() bool {
	f, known := o.notes.servers.Get(o.notes.server)
	age := time.Since(f.At)
	return !known || f.Has || age < 0 || age >= richAgain
}

// unknownMethod finds out what a 404 for a rich message means: the server does not know the method,
// or it does not know the token.
func (o *Outbox) unknownMethod(ctx context.Context, missing error) verdict {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := o.api.GetMe(ctx)
	switch {
	case err == nil:
		return verdict{answer: refused, err: fmt.Errorf("%w: %w", ErrNoRich, missing)}
	case errors.Is(err, tgbot.ErrorUnauthorized), errors.Is(err, tgbot.ErrorNotFound):
		return verdict{answer: revoked, err: fmt.Errorf("%w: %w", ErrRevoked, err)}
	}
	return verdict{answer: later}
}

// outward is a job in Telegram's current terms: the number of the chat, and the ids of its
// messages. A message that is in an earlier chat gets the id 0.
func (o *Outbox) outward(j job) job {
	place := j.to.ChatID
	j.to.ChatID, j.messageID = o.Aliases.Out(place, j.messageID)
	_, j.change.message.ReplyTo = o.Aliases.Out(place, j.change.message.ReplyTo)
	return j
}

// migrate records that a group has become another chat. The record is on disk before anything is
// sent to the new chat.
func (o *Outbox) migrate(from, to int64) verdict {
	if now, _ := o.Aliases.Out(from, 0); now != from {
		return verdict{answer: moved} // another call has recorded it already
	}
	err := o.Aliases.Note(from, to)
	if now, _ := o.Aliases.Out(from, 0); now == from {
		o.log.Error("group_move_not_kept", logkey.ChatID, from, logkey.NewChatID, to, logkey.Error, err)
		return verdict{answer: later} // nonsense, or a full disk: all that can be done is to ask again
	}
	if o.OnMigrate != nil {
		o.OnMigrate()
	}
	return verdict{answer: moved}
}
