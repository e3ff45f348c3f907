// Package shell shows what a "!command" prints while it runs, in one message under the person's.
//
// It promises: until its end the message shows what the terminal shows, which may be lost; it ends
// as the output that the transcript has, which cannot be lost (P5). A command that has ended before
// the first look has no message: its output is an answer. So is an output whose message is not in
// the chat.
//
// The message is a card, with the command in its payload: a restart goes on with it. What Claude
// Code keeps nothing of, because the command was stopped, is shown as stopped; an output that comes
// all the same takes that text's place, for a day.
package shell
