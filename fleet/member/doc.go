// Package member is a host's side of a fleet: its keys, its admission, and the connection to the
// hub.
//
// It promises:
//
//   - The keys of a machine are stored before the machine asks to join, so that a join that was
//     interrupted can be made again with the same code. Each join that succeeds has other keys.
//   - A machine that was removed while it was connected does not connect again.
//   - News are stored on this machine, also while the hub or the chat is away.
package member
