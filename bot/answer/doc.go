// Package answer shows in the chat what agents write into their transcripts.
//
// It guarantees:
//   - No text of an agent is lost on the way to the chat (P5). A transcript's cursor advances only
//     after Telegram accepted a message, or refused it for good, or after the notice that replaces
//     the answer is on disk.
//   - The next part of a session waits until that cursor is on disk, so a crash repeats at most one
//     message.
//   - Texts written while the chat had to wait become one message, or one file with a preview if
//     they exceed three full messages. Their number is on disk first, so after a crash the same
//     texts are joined. They may belong to several turns, but not to several prompts.
//   - The first answer to a prompt is sent before other sessions' texts.
//   - A text that Telegram refuses in every form is replaced by a sentence that reports it.
//   - The current session's answers, and a topic's, are shown in full. Any other session gets one
//     notice at the end of a turn, and its answers in full when a person opens it.
//
// Each session with unsent text has one reader. The package keeps no state on disk: cursors and
// read marks are stored with the conversation. A message and the cursor after it are one write. The
// engine gets each cursor too; its record has the cursor with the next save. See also [Deps].
package answer
