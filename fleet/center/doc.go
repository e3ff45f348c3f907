// Package center is the chat's side of a fleet: its keys, its hosts, and the connection to the hub.
//
// It promises:
//
//   - Without a hub in the folder there is no Center, and so no goroutine and no connection.
//   - A host that was let in is a machine.Machine at once, also while the hub or the host is away:
//     its calls are refusal.ErrUnreachable then.
//   - An admission or a removal of a host is on disk before it is reported.
//   - One host delays no other: each has its own calls, news and beats.
package center
