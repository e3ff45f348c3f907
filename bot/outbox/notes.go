package outbox

import (
	"log/slog"
	"path/filepath"
	"strconv"
	"time"

	"ccbot/internal/facts"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/spool"
)

const (
	suspendedFile = "parked.json"    // chat → since when it takes nothing
	richFile      = "rich.json"      // server → whether it has rich messages (Bot API 10.1)
	holdsFile     = "holds.json"     // chat → the wait that Telegram has asked for: a restart must not cut it short
	reactionsFile = "reactions.json" // chat → when it refused a reaction last; zero: it takes them again, and was told
)

// richAgain is the time after which a server that had no rich messages is tried again: it may have
// been updated.
const richAgain = 7 * 24 * time.Hour

type richFact struct {
	Has bool      `json:"has"`
	At  time.Time `json:"at"`
}

// hold is one pause that Telegram asked for. It is kept as a duration, so that a clock that is
// set back does not make it longer than pause.MaxRetryAfter.
type hold struct {
	At      time.Time `json:"at"`
	Seconds int       `json:"seconds"`
}

func (h hold) left(now time.Time) time.Duration {
	all := pause.RetryAfter(h.Seconds)
	return min(max(h.At.Add(all).Sub(now), 0), all)
}

// notes are the facts that the next run also needs: small files next to the folder of posts.
type notes struct {
	server    string
	log       *slog.Logger
	suspended *facts.File[time.Time]
	servers   *facts.File[richFact]
	holds     *facts.File[hold]
	reactions *facts.File[time.Time]
}

func openNotes(home spool.Folder, server string, log *slog.Logger) notes {
	aside := filepath.Join(home.Path, quarantineFolder)
	return notes{server: server, log: log, suspended: facts.Open[time.Time](home, suspendedFile, aside, log),
		servers: facts.Open[richFact](home, richFile, aside, log), holds: facts.Open[hold](home, holdsFile, aside, log),
		reactions: facts.Open[time.Time](home, reactionsFile, aside, log)}
}

func key(chat int64) string { return strconv.FormatInt(chat, 10) }

// suspend notes that a chat accepts nothing. That is logged once, not after each start that tries
// the chat again.
func (n *notes) suspend(chat int64, why error) {
	n.suspended.Change(func(all map[string]time.Time) bool {
		if _, known := all[key(chat)]; known {
			return false
		}
		all[key(chat)] = time.Now().UTC().Truncate(time.Second)
		n.log.Warn("chat_parked", logkey.ChatID, chat, logkey.Error, why, logkey.Fix, "a message from there, or a restart, tries it again")
		return true
	})
}

// resume notes that a chat accepts messages, and reports whether it was noted that it did not.
func (n *notes) resume(chat int64) (was bool) {
	if _, was = n.suspended.Get(key(chat)); was {
		n.suspended.Change(func(all map[string]time.Time) bool { delete(all, key(chat)); return true })
		n.log.Info("chat_unparked", logkey.ChatID, chat)
	}
	return was
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
