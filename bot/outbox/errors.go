package outbox

import "errors"

var (
	// ErrBlocked is inside a Refused when the chat accepts nothing from this bot: it was blocked,
	// kicked or never started, or it has no right to write there.
	ErrBlocked = errors.New("the chat does not accept messages of this bot")
	// ErrMoved is inside a Refused about a message of a group that became another chat: that chat
	// does not have the message, and another message may have its id.
	ErrMoved = errors.New("the group has become another chat, which does not have this message")
	// ErrGone is inside a Refused edit if the message no longer exists, or can never be edited.
	ErrGone = errors.New("the message to edit is gone")
	// ErrDropped is returned if the edit of a card was not made because too many wait for the chat.
	ErrDropped = errors.New("too many edits of cards wait")
	// ErrNoRich is returned if the server has no rich messages; the outbox remembers that, see
	// TakesRich.
	ErrNoRich = errors.New("the server has no rich messages")
	// ErrNoTopic is inside a Refused when the topic that a call is about does not exist.
	ErrNoTopic = errors.New("the topic does not exist")
	// ErrClosed is returned after the end of Run.
	ErrClosed = errors.New("the outbox is closed")
	// ErrShutOut is returned of a rich message that was not posted although General is closed.
	ErrShutOut = errors.New("a rich message is not posted while General is closed")
	// ErrUnsure is joined to a context error when a request was under way: it is unknown whether
	// the message is in the chat.
	ErrUnsure = errors.New("it is not known whether the message was sent")
)

// Refused reports that Telegram will never take this message; match it with errors.As on *Refused.
type Refused struct {
	Err error // why, with Telegram's description
}

func (r *Refused) Error() string { return "refused by Telegram: " + r.Err.Error() }

// Unwrap returns the reason, ErrBlocked included.
func (r *Refused) Unwrap() error { return r.Err }
