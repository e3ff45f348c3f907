// Package menu shows what there is: the menu, whose buttons lead to the pages of the features, and
// the help by topic.
//
// It promises buttons only for pages that a feature has, and that /help and the page of the help
// have the same sentences. It also makes the lists of commands that Telegram shows.
package menu
