// Package courier hands items over between two machines, each once, through a hub that may lose
// all that it has.
//
// The hub may lose everything. An item is in the sender's folder until the receiver has answered
// that the item is in its own folder.
//
// It promises:
//
//   - An item that Put has stored reaches the receiver's Next, whatever dies in between: either
//     end at any step, the hub, its disk.
//   - Next returns an item until Done was called for it, and never after that. A copy that turns up
//     later is not taken, however late it is.
//   - Items arrive in the order of Put, unless the hub or a restart delays one.
//   - The memory and disk of both ends grow with the open items, not with all items. A
//     receiver takes a limited number of items; the others stay with the sender.
//
// A program whose work on an item can end between its effect and Done must recognize the item by
// its number, because Next returns it again. A program that dies in Put and puts the item again may
// make it arrive twice.
//
// Both ends must keep their folders. Each start of a sender has a life, which counts its own items: a folder that was
// lost, or set back to an earlier state, numbers no new item as one that the receiver has. A machine that is resumed from
// an earlier state of its memory makes no start, so BeginLife is called when that is noticed. An item that was put
// between the two may be taken for a repeat.
package courier
