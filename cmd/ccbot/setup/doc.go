// Package setup asks a person for the bot's token and for who may speak to the bot, and writes both
// into ccbot.env. It also asks for the folder of new sessions. Then it offers the hooks, says hello
// in the chat, and offers the service.
//
// It promises:
//
//   - The token appears on no terminal, in no error and in no file but ccbot.env.
//   - Only a person who was named by id, or who has sent the one-time code and was confirmed at the
//     terminal, is added.
//   - Messages for people who are allowed already stay at Telegram.
//   - ccbot.env is replaced at once, is never readable by others, and keeps its other lines.
//   - The terminal shows input again after any end but kill -9. An interrupted run can be repeated.
//
// It takes no lock: its caller holds the lock, so that no bot of the same folder runs.
package setup
