// Package card keeps messages as they should look: a card is a message with a name and a payload on
// disk, whose buttons stand for values that are on disk too.
//
// It promises: what Show and Close were given is on disk when they return, and reaches the chat in
// one message, which shows the last state, over restarts, chats that take nothing for a while, groups
// that become other chats and messages that people delete. A button carries the card, the revision
// (a digest of exactly what was drawn: text, options and payload, or of what Look.Means says and the
// options) and the option. A tap counts only on the message that the card knows, with the revision that
// is on disk; any other tap is stale: the card is drawn again, and another copy of the message loses its
// buttons. A kill after Telegram has taken a message and before its id is on disk may leave one older
// copy; else nothing comes twice.
//
// Where a topic was deleted, a question goes on in the chat, and so does what was not sent or comes back
// when people delete it; any other card is forgotten. A group that becomes another chat keeps all cards.
//
// A closed card has no buttons. It is forgotten an hour later, when the chat has its last edit. A
// start, and a chat that takes messages again, draw only the cards of which the chat is not known to
// have the last state. Where a card has got a new message, the buttons of the old one may stay when a
// kill, or a chat that takes nothing, loses the edit; they are stale.
//
// A card lives until its feature closes it, until the end of its time, or, where Post has shown it,
// until ten newer ones of its kind stand in its place, and not before it was sent (see Kind.Tidy). A
// message that people have deleted comes back, or comes back once, where its look says so.
//
// It does not know what options and payloads mean, who taps, or what a place is for. A deleted
// message is noticed by an edit, not before.
package card
