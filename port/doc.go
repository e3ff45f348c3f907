// Package port is what the chat knows of a machine that runs agents: the sessions, what can be done
// with them, and the terminals and processes that a person there would see. The chat and the engine
// share its plain types, so that neither imports the other.
//
//   - A [Session] is a copy. Reading one waits for nothing, and it may be old a moment later: each
//     operation checks again what it depends on.
//   - An operation is durable when it returns and may be asked for again: a start with the origin of
//     an earlier one returns that one's session. An operation that cannot be done returns a
//     *refusal.Error.
//   - Nothing is typed or ended on the word of the chat alone: an operation names what a person saw (the mark of
//     a screen, the id of a process or of a window) and does nothing if that has changed. These ids
//     are opaque and stay valid when either side is restarted.
package port
