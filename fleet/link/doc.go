// Package link connects the chat and the hosts to a hub: one of ccbot-hub, known by its pin, or an
// existing NATS server, known by its URL and its certificate.
//
// It promises:
//
//   - A connection is TLS 1.3. With a pin, only the server with that key is accepted, and the
//     secret of a user stays here: it signs what the server asks.
//   - A connection that was lost is made again until its context ends, also after the hub has
//     forgotten the fleet: a Chat then gives it the account, the streams and the consumers again.
//   - A server that sends a message beyond a size, or something else than messages, loses the
//     connection, and ends no program.
//   - An inbox belongs to one user. A user reads no other user's answers.
//
// A message that the hub accepted may still be lost. Package courier keeps each message until the
// other end has it. Nothing here is sealed: the bytes are those of package seal.
package link
