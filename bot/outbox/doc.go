// Package outbox sends what ccbot says to the chat, at the pace Telegram allows.
//
// It promises: what it accepts reaches a chat, in the order it was given within a rank, however
// long the Bot API is down; Send returns only after Telegram took the message or refused it for
// good; Post survives kill -9 and repeats at most the one message under way then, and sends a named
// message as it should look when its turn comes; a newer edit of a message replaces an older one
// that waits, and an edit that changes nothing is never sent; one chat that must wait (retry_after)
// holds up no other, and waits in full, also over a restart; memory does not grow while the Bot API
// is unreachable (edits collapse, posts are files of which only the name is kept, callers of Send
// wait).
//
// Within a chat an answer to a tap goes first, then messages by their rank, then reactions, then
// cards, then typing; what a session has said goes before its question all the same. What is not in
// the chat's queue takes nothing from the chat's budget: reactions go while messages wait for
// theirs, and after two seconds before them. What matters less leaves enough of the budget for the
// message after it: in a group, half of a burst. A chat that was told to wait is slower for a while. Budgets outlive a clean stop.
//
// A chat that takes nothing (403) is parked: nothing is sent there until somebody has written or
// the program has been started anew. A group that became a supergroup and a topic that was deleted
// are handled once: what waits goes to the new place, what is about messages of the old one is
// refused.
//
// It does not render or split what Send gets, does not know sessions, and cannot make a send happen
// exactly once: when a connection breaks, nothing tells whether Telegram took the message, and then
// it is sent again.
package outbox
