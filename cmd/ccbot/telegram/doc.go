// Package telegram is the way to the Bot API: who the bot is, its menu, files that people send, and a
// look at what waits for the bot. It promises that no error, no log line and no other server sees
// the token. Updates that the bot handles, and messages, go through packages inbox and outbox.
package telegram
