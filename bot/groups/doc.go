// Package groups asks the person who has added the bot to a group whether the group is allowed.
//
// It guarantees:
//   - The question is in the person's private chat, and only that person's tap counts.
//   - A group is allowed only by the answer to whether it has other bots, and the setting is on
//     disk before the message reports it.
//   - A question loses its buttons after a tap, when an allowed person removes the bot, or at a
//     start with the group in the setting.
//
// A person who has never opened the bot's private chat gets no question, because Telegram lets no
// bot write first.
package groups
