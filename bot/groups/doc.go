// Package groups asks the person who has added the bot to a group whether the group is allowed.
//
// It promises:
//   - the question is asked in the person's private chat, and only that person's tap counts;
//   - a group is allowed only by a tap on the answer to whether it has other bots, and the setting is on disk before the
//     message reports it;
//   - a question has no buttons once it is settled by a tap, by an allowed person who removes the bot, or
//     by the setting at the next start.
//
// A person who has never opened the private chat of the bot gets no question, because Telegram lets no bot
// write first.
package groups
