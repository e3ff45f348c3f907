// Package shell shows the output of a "!command" while it runs, in one message under the person's.
//
// It guarantees:
//   - Until the command ends the message shows the terminal's output, which may be lost.
//   - The message ends as the transcript's output, which cannot be lost (P5).
//   - A command that ends before the first check has no message: its output is an answer. The same
//     holds for an output whose message is not in the chat.
//
// The message is a card with the command in its payload, so a restart continues it. An output that
// Claude Code does not keep, because the command was stopped, is shown as stopped; if it comes
// after all, within a day, it replaces that text.
package shell
