// Package report posts the start report to each conversation.
//
// It guarantees:
//   - At most one message per conversation, plus one about new orphan windows, and none if there is
//     nothing to act on.
//   - The message makes a sound only if tmux ended or an interrupted turn does not continue by
//     itself.
//   - A session or a damaged file is marked as reported only when the message is on disk.
//   - After a restart the buttons act on the sessions of the message: they resume those still lost,
//     or continue those interrupted.
//
// It does not resume sessions or decide about windows; other features do.
package report
