// Package backup makes and restores the file with which a ccbot moves to another machine: records,
// settings and what the chats remember, and conversations if a person wants them.
//
// It promises:
//   - no secret is in the file: the token, the variables of agents and the command lines
//     CLAUDE_FLAGS and VOICE_COMMAND stay out, and a setting that repeats a secret;
//   - no prompt is in the file, except in the conversations;
//   - a restore takes all of the file or nothing of the sessions, after a kill at any moment as
//     well;
//   - a restore replaces no file: a chat, a setting or a conversation that is there already stays;
//   - a file with an entry that a backup cannot have is refused before anything is written, and a
//     backup that would be refused is not made;
//   - a restored record reads conversations only: a path in it has no other meaning;
//   - a backup of another bot is refused, if the token of a bot or its id is there already. The
//     folder keeps the bot's id, so that setup and a start refuse the token of another one; it
//     keeps none if chats were there and their bot is not known.
//
// A restored session is bound to nothing: what ran on the other machine is lost here, with its
// conversation. Conversations are copied as they are: an agent may have read a secret aloud.
package backup
