// Package address names places in the chat.
package address

// Conversation is a place in the chat where sessions are shown. Thread 0 is the plain chat; any
// other thread (a topic) belongs to one session.
type Conversation struct {
	ChatID   int64 `json:"chat_id"`
	ThreadID int   `json:"thread_id,omitempty"`
}
