// Package outbox sends what ccbot says to the chat, at the pace Telegram allows.
//
// It promises: what it accepts reaches a chat in the order it was given, however long the Bot API is down; Send returns
// only after Telegram took the message or refused it for good; Post survives kill -9 and repeats at most the one message
// under way then; a newer edit of a message replaces an older one that waits, and an edit that changes nothing is never
// sent; one chat that must wait (retry_after) holds up no other; memory does not grow while the Bot API is unreachable
// (edits collapse, posts are files of which only the name is kept, callers of Send wait).
//
// It does not render or split what Send gets, does not know sessions, and cannot make a send happen exactly once: when a
// connection breaks, nothing tells whether Telegram took the message, and then it is sent again.
package outbox
