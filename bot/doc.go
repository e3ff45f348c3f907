// Package bot is the chat: what each command, text and button does.
//
// It promises that only allowed people are heard and everyone else gets
// silence (P9), that a text leaves the inbox only as a prompt that lifecycle
// keeps or with a sentence that says what became of it (P4), and that an answer
// counts as shown only after the Bot API took it (P5). A process that is not a
// session's own is ended only after the person who asked for it was shown exactly
// that process and has confirmed (P2). A permission is given only by a tap of an
// allowed person in the chat that shows the request, once; it is on disk before
// the agent hears of it, and what is shown as its outcome is the transcript's.
// Every sentence it says comes from package i18n.
//
// It starts, ends and types nothing itself: that is lifecycle's.
package bot
