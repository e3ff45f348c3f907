// Package address names places in the chat.
package address

// Conversation is a place in the chat where sessions are shown. Thread 0 is the plain chat; any
// other thread (a topic) belongs to one session.
type Conversation struct {
	ChatID   int64 `json:"chat_id"`
	ThreadID int   `json:"thread_id,omitempty"`
}

// Enters reports whether a session that is shown in one place comes into a group from another chat
// when it is shown in the other place. The zero place is no chat.
func Enters(from, to Conversation) bool {
	return to.ChatID < 0 && from.ChatID != 0 && from.ChatID != to.ChatID
}
