// Package hub runs the hub of a fleet: a NATS server with JetStream in this process.
//
// It promises:
//
//   - It listens on one port and speaks TLS 1.3 from the first byte. Its certificate is made of its
//     key at each start. Clients know the key by its pin; there is no authority.
//   - It accepts only users that the trusted operator's accounts signed. Which account that is, and
//     who is revoked, it learns from the chat.
//   - The server sends answers only to inboxes. An answer on one of its own subjects would be a
//     command for which the requester has no right.
//   - One user has few connections: a further one ends the oldest.
//   - A written message is synced before its sender has the answer.
//   - The folder store can be lost at any time, because both ends keep what they send until the
//     other end has it. A store that cannot be read is removed. The file key.pem must be kept:
//     another key has another pin.
//
// Only the program ccbot-hub contains this package: the server is larger than half of ccbot.
package hub
