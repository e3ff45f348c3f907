// Package spool is a durable queue in a folder: one item is one file, and the names give the order.
//
// It promises that an item is complete or absent, that only regular files of this user are opened
// (no links, no pipes, no more bytes than the allowed size), that nothing foreign blocks the queue
// (it can be put aside with a reason, never deleted), and that a watcher hears of every arrival
// without polling. All folders and files have the same rule for items that cannot be read at a
// start (Load): such an item is put aside and logged, and an item that a newer program wrote stays
// where it is. Which items were put aside and not yet reported to a person is recorded on disk
// (Untold), whichever program found them, until Told is called.
//
// The package knows nothing of what the items mean, does not lock, and leaves the order among equal
// names to the callers that choose the names.
package spool
