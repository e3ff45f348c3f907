// Package ledger counts what all agents of a person have used, by reading all transcripts: those of
// sessions that ccbot never started, too, and those of subagents.
//
// It promises that an answer counts once, however many lines and files repeat it: the lines of one
// answer, a conversation that was resumed elsewhere, a copy of one; and that it counts for the conversation
// that has asked, where a line says which. What was read is kept on disk, so
// that the next time only what is new is read: a file that has grown from where it ended, a file that
// was cut or replaced from its beginning. What a deleted transcript had still counts.
//
// It keeps the answers of the last forty days, and knows no prices.
package ledger
