// Package settings shows what a chat may choose, and keeps what it has chosen.
//
// It promises that a choice holds from the next message, turn, session or sweep on, that it outlives a
// restart, and that of a group only the language can be chosen: the rest is one person's.
//
// It does not read the settings: each feature asks for its own where it works. What was not chosen is
// as the bot is configured.
package settings
