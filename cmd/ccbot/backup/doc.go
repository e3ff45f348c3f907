// Package backup makes and restores the file with which a ccbot moves to another machine: records, settings
// and what the chats remember, and conversations if a person wants them.
//
// It promises:
//   - no secret is in the file: the token and the variables of agents stay out, and a setting that repeats one;
//   - no prompt is in the file, except in the conversations;
//   - a restore takes all of the file or nothing of the sessions, after a kill at any moment as well;
//   - a restore replaces no file: a chat, a setting or a conversation that is there already stays;
//   - a file with an entry that a backup cannot have is refused before anything is written.
//
// A restored session is bound to nothing: what ran on the other machine is lost here, with its conversation.
// Conversations are copied as they are: an agent may have read a secret aloud.
package backup
