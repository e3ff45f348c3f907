// Package card keeps messages up to date. A card is a message with a key, a payload and buttons,
// all on disk.
//
// It guarantees:
//   - The arguments of Show and Close are on disk when they return.
//   - They reach the chat in one message, which shows the last state, despite restarts, chats that
//     refuse messages for a while, moved groups and deleted messages.
//   - A tap counts only on the card's current message, with the revision on disk, and only if the
//     card offers its option to that person. A button carries card, revision and a digest of the
//     option; the revision is a digest of text, options and payload, or of Content.Means alone.
//   - After any other tap the card is redrawn, and another copy of the message loses its buttons.
//   - A kill between Telegram's acceptance and the write of the message id may leave one older
//     copy; otherwise no message is sent twice.
//   - After the deletion of a topic, its questions continue in the chat, and so do unsent cards and
//     those with Renew or RenewOnce; other cards are forgotten. A moved group keeps all cards.
//
// A closed card has no buttons. It is forgotten an hour later, when the chat has its last edit. A
// start, and a chat that accepts messages again, redraw only the cards that the chat may show in an
// older state. A lost edit may leave stale buttons in an old message.
//
// A card lives until its feature closes it or its time ends. A card of Post also ends when ten
// newer cards of its kind are in its place, but not before it was sent (see Kind.Tidy). With Renew
// or RenewOnce a deleted message is sent again.
//
// The package does not interpret options and payloads, and notices a deleted message only at an
// edit.
package card
