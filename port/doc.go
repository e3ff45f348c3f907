// Package port defines what the chat knows of a machine that runs agents: sessions, operations on
// them, and the terminals and processes of a person there. Chat and engine share these plain types,
// so that neither imports the other.
//
//   - A [Session] is a copy. Reading one never blocks, and it may be out of date: each operation
//     checks again what it depends on.
//   - An operation is durable when it returns and can be repeated: a start with the origin of an
//     earlier start returns the same session.
//   - An operation that cannot be done returns a *refusal.Error.
//   - A call ends with its context. A result that may lack something reports that itself.
//   - No operation types or ends anything without what a person saw: the fingerprint of a screen,
//     or the id of a process or window. If that has changed, it does nothing. These ids are opaque
//     and survive a restart of either side.
package port
