// Package telegram calls the Bot API: for the bot's name, its menu, files that people send, and the
// pending updates. It promises that no error, no log line and no other server sees the token.
// Updates that the bot handles, and messages, go through packages inbox and outbox.
package telegram
