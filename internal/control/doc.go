// Package control is ccbot's socket: one line in, one line out, from a peer whom the kernel names.
//
// It promises:
//   - The socket is 0600 from its first moment, replaces nothing but an older socket of this user, and is removed at the
//     end. The caller holds ccbot.lock, so an older socket is nobody's.
//   - Who calls is asked of the kernel when the connection is accepted, never read from the call: pid, start time, and
//     every parent above it, each proven (see [Peer]). Another user's process is turned away. A peer that is gone, or
//     whose pid another process has by the time of the reply, gets nothing.
//   - One call per connection, and a handler gets only a call that is whole, of this version, and alone on its connection.
//   - Nobody waits for a slow client: the call has five seconds and 8 MiB, the reply five seconds, there are at most 128
//     connections, and each has a goroutine of its own.
//   - A handler's context ends when its client goes away ([ErrGone] is its cause then) and when the server stops. A client
//     that is still waiting at the stop sees its connection end without a reply, so it can tell that from an answer.
//
// It does not decide who may do what: a [Handler] does, from the [Peer]. Same uid is no wall, see docs/security.md.
package control
