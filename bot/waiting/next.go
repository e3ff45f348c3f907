package waiting

import (
	"slices"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// IsNext reports whether a prompt of a session waits only for the agent to be idle, or has been
// typed since the item at a place of the transcript was written.
func IsNext(c *chat.Chat, entry func(key string) (inbox.Entry, error), r port.Session, end talk.Cursor) bool {
	r, _ = c.Book.Records.Get(r.ID)
	return slices.ContainsFunc(r.Prompts, func(key string) bool {
		e, err := entry(key)
		switch {
		case err != nil:
			return false
		case e.State == inbox.Held: // a person has to settle anything else that it waits for
			return !slices.ContainsFunc(e.Reported, func(why news.Wait) bool { return why != news.Queued })
		}
		return e.Typing != nil && e.Typing.Path == end.Path && e.Typing.Offset > end.Offset
	})
}
