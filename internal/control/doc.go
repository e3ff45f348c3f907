// Package control is ccbot's socket: one line in, one line out, with a peer that the kernel
// identifies.
//
// It promises:
//   - The socket has mode 0600 from its first moment, replaces only an older socket of this user,
//     and is removed at the end. The caller holds ccbot.lock, so no process uses an older socket. A
//     socket that is removed while the server runs is made again.
//   - The caller's identity comes from the kernel when the connection is accepted, never from the
//     call: its pid, its start time and every ancestor, each proven (see [Peer]). Another user's
//     process is refused. A peer that has ended before the reply, or whose pid has been reused,
//     gets no reply.
//   - There is one call per connection, and a handler gets only a call that is complete, of this
//     version, and alone on its connection.
//   - A slow client holds up no other client: the call has five seconds and 8 MiB, the reply five
//     seconds, there are at most 128 connections whose call is not read yet, and each connection
//     has its own goroutine.
//   - A handler's context ends when its client goes away ([ErrGone] is its cause then) and when the
//     server stops. A client that is still waiting when the server stops sees its connection end
//     without a reply, which it can distinguish from an answer.
//
// The package does not decide which peer may do what: a [Handler] decides this from the [Peer]. The
// same uid does not protect, see docs/security.md.
package control
