// Package menu shows what there is: the menu, whose buttons lead to the pages of the features, and the help
// by topic.
//
// It promises buttons only for pages that a feature has, and that /help and the page of the help are made of
// the same sentences. The lists of commands that Telegram shows are made here, too.
package menu
