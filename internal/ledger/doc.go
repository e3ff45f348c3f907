// Package ledger counts what all agents of a person have used. It reads the transcripts of all
// known agents, including those of subagents and of sessions that ccbot did not start.
//
// It counts an answer once, even if several lines or files repeat it (an answer has several lines,
// and a conversation may be resumed elsewhere or copied), and for the conversation that has asked,
// if a line names it. The counts are stored on disk, so that the next call reads only new data: a
// file that has grown from its previous end, a file that was cut or replaced from its beginning.
// Answers of a deleted transcript still count.
//
// It keeps the answers of the last forty days, and knows no prices.
package ledger
