// Package several decides which of the bots of a group acts on a message.
//
// Several ccbots may share a group, each with its own bot and machine. They have no server in
// common, and Telegram shows no bot the messages of another bot. Each decides alone, from the
// messages of people, and all come to the same result:
//   - a command with @bot is for that bot, and a reply is for the bot whose message it answers;
//   - anything else in a topic is for the bot that has opened the topic, or was picked there by
//     /here@bot;
//   - anything else outside of topics is for the bot that was picked by /default@bot;
//   - a bot that knows no other bot in the group also acts on messages for which no bot was picked.
//     A message that names another bot, or answers it, shows that there are others.
//
// A decision is made once, when a message arrives and before the inbox keeps it, from the picks at
// that message. So a message that Telegram sends again, and an edit, go where the message went. A
// pick is on disk before Telegram may forget it.
//
// A bot that was down for longer than Telegram keeps messages misses the picks of that time.
package several
