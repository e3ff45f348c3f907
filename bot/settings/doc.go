// Package settings shows and keeps the choices of a chat.
//
// It guarantees:
//   - A choice holds from the next message, turn, session or sweep on, and outlives a restart.
//   - A group can choose only the language, the time zone, quiet hours, limits, budgets and which plain texts are
//     prompts: the rest is one person's.
//
// It does not use the settings: each feature reads its own. The bot's configuration applies
// otherwise.
package settings
