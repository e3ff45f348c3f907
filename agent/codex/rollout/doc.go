// Package rollout reads the files in which Codex writes its conversations, its rollouts: what
// package agent asks of transcripts, and package agent/history.
//
// It promises:
//
//   - A prompt, an answer and an end of a turn are items that were completed. A line is read once,
//     whole, and a position after an item continues exactly there.
//   - A line of an unknown type, or with an unknown item, is passed and counted, and stops nothing.
//   - A text that was delivered with an id has a receipt only if the line of its prompt has the id.
//   - It changes no file. Codex itself continues a file whose last line was cut.
//
// Its limits: the form is undocumented; it was found with version 0.169.0, which docs/dev/codex.md
// describes. The text that streams when a turn is interrupted is in no file. Nothing is written
// when Codex is killed, so its last turn stays open. The rollout of a fork has only its own lines:
// what came before is in the rollout of the other conversation.
package rollout
