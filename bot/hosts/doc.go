// Package hosts reports in the private chats that another machine has ceased to answer, and that it
// answers again. Its page, /hosts, shows all machines, and adds and removes them.
//
// It guarantees:
//   - One message about each, also after a restart: an open card is the memory of the first.
//   - A machine that does not answer is unknown: its sessions are named, and none is ended (P6).
//   - Copies of a folder that run are named in the private chats, and no copy is chosen without a tap there.
//   - A code is shown only to the person who asked for it, in the private chat. A machine is let in
//     only by the fingerprint that this person saw (P9).
package hosts
