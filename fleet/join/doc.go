// Package join lets a machine into a fleet by a code that a person carries to it.
//
// The chat makes a code: where the hub is, the pin of its key, the chat's public key, the rights
// of a joiner, and a secret of 128 bits. The machine makes its own keys, connects as the joiner of
// the code, and proves the secret. A person compares the fingerprint that both sides show. Then the
// machine gets its rights, sealed for its key.
//
// It promises:
//
//   - The private keys of a machine are made on it and never sent.
//   - A code admits one machine, once, within TTL. The first machine that proves the secret holds
//     the code; another one is refused and counted (Candidate.Rivals), because the code was seen.
//   - No machine is admitted without Decide, which names the fingerprint that the person saw.
//   - A code ends after maxGuesses wrong proofs. Two hosts never have the same name.
//   - An id belongs to one machine for ever. A later machine whose key leads to it is refused.
//   - An admitted machine that missed the answer gets it again, also after a restart of the chat.
//   - The chat answers only to the inbox of the code: it has more rights than the joiner, who
//     chooses the reply subject.
//
// Open codes are in memory only: after a restart of the chat a person makes another one.
package join
