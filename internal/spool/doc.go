// Package spool is a durable queue in a folder: one item is one file, and the names give the order.
//
// It promises that an item is whole or absent, that only regular files of this user are opened (no links, no pipes, no
// more than the size allowed), that nothing foreign blocks the queue (it can be put aside with a reason, never
// deleted), and that a watcher is told of every arrival without polling. There is one rule for what cannot be read at a
// start, for all folders and files (Load): it is put aside and logged, and what a newer program wrote stays. What was put
// aside and not told yet is known on disk (Untold), whoever met it, until somebody says that it is told.
//
// It knows nothing of what the items mean, does not lock, and leaves order among equal names to those who name them.
package spool
