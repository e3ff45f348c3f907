package bot

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// ref is a session's id as it stands in a button: 22 letters instead of 36, so
// that what else the button says fits into Telegram's 64 bytes.
func ref(id uuid.UUID) string { return chat.Ref(id) }

// parseRef reads an id as ref writes it.
func parseRef(text string) (uuid.UUID, bool) { return chat.ParseRef(text) }

// digest is a short hash: it tells a handful of things apart, and that
// something has changed.
func digest(text string, letters int) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:letters]
}

// dirMark names a directory in a button.
func dirMark(dir string) string { return digest(dir, 6) }

// writersMark names exactly these processes in a button, in any order.
func writersMark(who []process.Identity) string {
	who = slices.Clone(who)
	slices.SortFunc(who, func(a, b process.Identity) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Boot, b.Boot))
	})
	var text strings.Builder
	for _, id := range who {
		fmt.Fprintf(&text, "%d %d %s\n", id.PID, id.Start, id.Boot)
	}
	return digest(text.String(), 8)
}

func identities(all []lifecycle.Writer) []process.Identity {
	who := make([]process.Identity, 0, len(all))
	for _, w := range all {
		who = append(who, w.Identity)
	}
	return who
}

// wish is a session that somebody wants back, and how.
type wish struct {
	session uuid.UUID
	dir     string // another than the session's own; empty: its own
	damaged lifecycle.Damaged
}

// damagedLetters stand for a decision about a damaged transcript.
var damagedLetters = map[string]lifecycle.Damaged{"": lifecycle.AskFirst, "c": lifecycle.UseCopy, "a": lifecycle.UseAsItIs}

// data is the wish as one argument of a button: "session", "session.dir",
// "session.dir.damaged".
func (q wish) data() string {
	parts := []string{ref(q.session), "", ""}
	if q.dir != "" {
		parts[1] = dirMark(q.dir)
	}
	for letter, damaged := range damagedLetters {
		if damaged == q.damaged {
			parts[2] = letter
		}
	}
	return strings.TrimRight(strings.Join(parts, "."), ".")
}

// wished reads a wish from argument 0; false where the session or the directory
// is not known any more. Of a conversation that moved to another session it is
// that one which is wanted.
func (b *Bot) wished(t chat.Tap) (q wish, r session.Record, ok bool) {
	if len(t.Args) == 0 {
		return wish{}, session.Record{}, false
	}
	parts := strings.Split(t.Args[0], ".")
	if q.session, ok = parseRef(parts[0]); !ok || len(parts) > 3 {
		return wish{}, session.Record{}, false
	}
	if len(parts) > 1 && parts[1] != "" {
		if q.dir, ok = b.dirOf(t.To, parts[1]); !ok {
			return wish{}, session.Record{}, false
		}
	}
	if len(parts) > 2 {
		if q.damaged, ok = damagedLetters[parts[2]]; !ok {
			return wish{}, session.Record{}, false
		}
	}
	r, ok = b.Records.Get(q.session)
	r = b.Successor(r)
	q.session = r.ID
	return q, r, ok
}

// dirOf finds the directory that a button names.
func (b *Bot) dirOf(to session.Conversation, mark string) (string, bool) {
	typed, err := b.Chats.Dirs(to)
	if err != nil {
		b.Log.Warn("chat_unreadable", "error", err.Error())
	}
	for _, dir := range append(b.usedDirs(), typed...) {
		if dirMark(dir) == mark {
			return dir, true
		}
	}
	return "", false
}

// usedDirs are the directories of all sessions, newest first, and home.
func (b *Bot) usedDirs() []string {
	var dirs []string
	for _, r := range slices.Backward(b.Records.List()) {
		if !slices.Contains(dirs, r.Dir) {
			dirs = append(dirs, r.Dir)
		}
	}
	return append(dirs, b.Places.Bounds().Home)
}
