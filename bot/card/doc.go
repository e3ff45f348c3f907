// Package card keeps messages as they should look: a card is a message with a name and a payload on
// disk, whose buttons stand for values that are on disk too.
//
// It promises: what Show and Close were given is on disk when they return, and reaches the chat in
// one message, which shows the last state; a restart, a chat that takes nothing for a while, a
// group that became another chat, and a message that people deleted are handled here. A button
// carries the card, the revision (a digest of exactly what was drawn: text, options and payload)
// and the option. A tap counts only on the message that the card knows, in its place, with the
// revision that is on disk; any other tap is stale: what the card looks like now is drawn again,
// and another copy of the message loses its buttons. A kill between Telegram's yes and the note of
// the message's id may leave one older copy; else nothing comes twice.
//
// A closed card has no buttons. Its last edit is repeated after an hour or at the next start, then the
// card is forgotten: in a chat that takes nothing for longer its buttons stay, and are stale. So may
// those of a message that a card has left, when a kill or a chat that takes nothing loses the edit.
//
// A card lives until its feature closes it, until the end of its time, or, where it is one of many
// alike that Post has shown, until ten newer ones of its kind stand in its place: what is shown
// again and again leaves no more than ten files, and those of the last hour's closed cards.
//
// It does not know what options and payloads mean, who taps, or what a place is for; it renders
// nothing, and keeps no goroutine but the Run of its caller. A deleted message is noticed by an
// edit, not before.
package card
