// Package files sends files of a session's folder to the chat, for an agent or for a person's /get.
//
// It guarantees:
//   - Only files that the agents' machine returns from the session's folder are sent, and only to
//     the conversation of the session (P9).
//   - A file is sent when the call returns nil (P5).
//
// An agent gets a refusal as a code, a person as a sentence.
package files
