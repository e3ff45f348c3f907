// Package outbox sends ccbot's messages to the chat, at the pace Telegram allows.
//
// It guarantees:
//   - An accepted message reaches a chat, in its order within a rank, even if the Bot API is down
//     for long.
//   - Send returns only after Telegram took the message or refused it for good, or after it was posted
//     because General is closed.
//   - Post survives kill -9 and repeats at most the one message that was under way then; a named
//     message is sent with its content at its turn.
//   - A newer edit of a message replaces an older one that waits, and an edit that changes nothing
//     is never sent.
//   - A chat that must wait (retry_after) waits, for an hour at most and also over a restart, and
//     holds up no other chat.
//   - Memory does not grow while the Bot API is unreachable: edits collapse, only the names of
//     posts are kept in memory, and callers of Send wait.
//   - A run begins without a burst. Flush waits for all messages that may be sent at once.
//
// Within a chat an answer to a tap goes first, then messages by their rank, then reactions, then
// cards, then typing. There are two exceptions to the ranks: a message of a session never goes
// before an earlier message of that session (a reply passes files and notices only), and an answer
// of an agent waits for at most ten seconds for replies to commands. A message takes its share of
// the budget when its call is made: a post that its owner no longer wants costs nothing. Asides
// (reactions, typing, answers to taps) take nothing from the chat's budget: reactions are sent
// while messages wait for that budget, and a reaction that has waited for two seconds goes before
// messages. A less important message leaves enough of the budget for a more important one that
// comes right after it: in a group, half of a burst. All cards of a chat share one message or edit
// per 3 s, in a group per 10 s; a card at a turning point may go early, and the next card waits for
// it. The message of a card pays for its last edit, which goes before all other calls of cards and
// is never dropped. Of other edits of cards at most 22 wait in a chat: the oldest is dropped, and
// its owner is notified.
//
// A call that Telegram answers with 401 or 404 is not carried out, and is repeated until it
// succeeds: whether the token is revoked is decided elsewhere.
//
// A new message whose answer was lost leaves its place in the queue and is sent again after half a
// minute, later after up to ten, because each try may show it once more. Only the next parts of the
// same text, and what the same session says after it, wait behind it. An answered call to the chat
// ends such a wait, once for each message.
//
// The upload of a file may take minutes, so it holds up only other files of its chat and what its session
// says after it; a reply passes it as in the queue.
//
// What is for a closed topic goes to General. If General is closed too, all that is for it waits, in its
// order, and holds up no other topic. It is tried again after half a minute, later after up to ten, and
// when somebody allowed writes in the group, each message first in its own topic. A caller of Send that
// has more to do elsewhere leaves its message on disk, as a post: see Message.PostIfClosed.
//
// A chat that accepts nothing is suspended: nothing is sent there until a person writes there or
// the program is restarted. So is a chat of people who are not allowed, until it is resumed: each
// call asks whether its place may be shown anything, immediately before it is made. A group that became
// a supergroup and a topic that was deleted are
// handled once: waiting messages go to the new place, and jobs about messages of the old place are
// refused.
//
// The package does not render or split the messages of Send, does not know sessions, and cannot
// make a send happen exactly once: without an answer it is unknown whether Telegram took the
// message, and then the message is sent again.
package outbox
