// Package files brings files of a session's folder into the chat: when an agent sends one, and when a
// person asks for one with /get.
//
// It promises that only what the agent's machine gives out of the session's own folder is sent, to
// where the session is shown, and that a file is sent when the call returns nil (P9, P5). An agent
// gets a refusal as a code, a person as a sentence.
package files
