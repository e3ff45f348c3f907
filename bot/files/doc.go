// Package files brings a file of an agent into the chat.
//
// It promises that only what the agent's machine gives out of the session's own folder is sent, to
// where the session is shown, and that a file is sent when the call returns nil (P9, P5). A refusal
// is a code: the program that asked is an agent's, and no person reads the answer.
package files
