// Package telegram is the way to the Bot API: who the bot is, its menu, and files that people send.
// It promises that no error, no log line and no other server sees the token. Updates and messages
// go through packages inbox and outbox.
package telegram
