// Package spool is a durable queue in a folder: one item is one file, and the names give the order.
//
// It promises:
//
//   - An item is complete or absent.
//   - Only regular files of this user are opened: no links, no pipes, no more bytes than the
//     allowed size.
//   - A foreign file does not block the queue: it can be moved to a quarantine with a reason, and
//     is never deleted.
//   - A watcher is called for every arrival without polling.
//   - Load treats unreadable items of all folders alike: such an item is quarantined and logged,
//     also one that another version of the program wrote.
//   - Quarantined items are recorded on disk as unreported (Unreported) until MarkReported is
//     called, even if another program found them.
//
// The package knows nothing of what the items mean, does not lock, and leaves the order among equal
// names to the callers that choose the names.
package spool
