// Package menu shows the menu, whose buttons lead to the pages of the features, and the help by
// topic. It also makes Telegram's lists of commands.
//
// It guarantees:
//   - Each button leads to an existing page.
//   - /help and the page of the help have the same sentences.
package menu
