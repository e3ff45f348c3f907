// Package groups asks the person who has added the bot to a group whether the group is allowed.
//
// It promises:
//   - the question is asked in the person's private chat, and only that person's tap counts;
//   - a group is allowed only by a tap, and the setting is on disk before the message reports it;
//   - a question that is settled, by a tap or otherwise, has no buttons.
//
// A person who has never opened the private chat of the bot gets no question, because Telegram lets no bot
// write first.
package groups
