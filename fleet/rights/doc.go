// Package rights issues the rights that the users of a hub have, as NATS JWTs.
//
// The keys of the operator and of both accounts are made on the chat's machine and stay there. The
// hub gets Trust, which has no secret, and accepts no user that these keys did not sign.
//
// It promises:
//
//   - A host publishes its own events, records, answers and beats, and reads its own commands and
//     requests. It reads nothing of another host, and makes no stream and no consumer.
//   - A joiner publishes on the subject of its code and reads the inbox of its code.
//   - The rights of a host end at a time, or earlier by a revocation in the account's JWT.
//
// A subject is no proof of its sender: a server delivers to the reply subject of a pull without
// asking for a right, which package hub prevents. Package seal has the proof.
package rights
