package chat

import (
	"slices"
	"strings"

	"ccbot/bot/outbox"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// Resume is a session that somebody wants back, and how.
type Resume struct {
	Session session.Record
	Dir     string // another directory than the session's own; empty: the session's own
	Damaged lifecycle.Damaged
	To      outbox.Conversation // where the outcome is told, and the session is shown
	From    int64               // the person who may cancel what the resume asks
	Before  []string            // lines above the outcome: what was done before the resume
	Undo    bool                // another session that is current stays the current one
	Many    bool                // one of several: one message has said that all of them come back
}

// damagedLetters stand in a button for a decision about a damaged transcript.
var damagedLetters = map[string]lifecycle.Damaged{
	"": lifecycle.AskFirst, "c": lifecycle.UseCopy, "a": lifecycle.UseAsItIs,
}

// Data is the resume as one argument of a button: "session", "session.dir" or
// "session.dir.damaged".
func (q Resume) Data() string {
	parts := []string{Ref(q.Session.ID), "", ""}
	if q.Dir != "" {
		parts[1] = dirMark(q.Dir)
	}
	for letter, damaged := range damagedLetters {
		if damaged == q.Damaged {
			parts[2] = letter
		}
	}
	return strings.TrimRight(strings.Join(parts, "."), ".")
}

// dirMark names a directory in a button.
func dirMark(dir string) string { return Digest(dir, 6) }

// Above is the outcome with the lines of what was done before above it.
func (q Resume) Above(text string) string {
	return strings.Join(append(slices.Clone(q.Before), text), "\n")
}

// TappedResume reads the resume that argument 0 of a tap names; false where the session or the
// directory is not known any more. Of a conversation that another session goes on with, that other
// session is wanted.
func (c *Chat) TappedResume(t Tap) (Resume, bool) {
	q := Resume{To: t.To, From: t.From}
	if len(t.Args) == 0 {
		return Resume{}, false
	}
	parts := strings.Split(t.Args[0], ".")
	id, ok := ParseRef(parts[0])
	if !ok || len(parts) > 3 {
		return Resume{}, false
	}
	if len(parts) > 1 && parts[1] != "" {
		if q.Dir, ok = c.dirOf(t.To, parts[1]); !ok {
			return Resume{}, false
		}
	}
	if len(parts) > 2 {
		if q.Damaged, ok = damagedLetters[parts[2]]; !ok {
			return Resume{}, false
		}
	}
	r, ok := c.Book.Records.Get(id)
	q.Session = c.Book.Successor(r)
	return q, ok
}

// dirOf finds the directory that a button names: one that a person has typed after /resume.
func (c *Chat) dirOf(to outbox.Conversation, mark string) (string, bool) {
	typed, err := c.Book.Dirs(to)
	if err != nil {
		c.Log.Warn("chat_unreadable", "error", err.Error())
	}
	for _, dir := range typed {
		if dirMark(dir) == mark {
			return dir, true
		}
	}
	return "", false
}
