// Package watch reports when the entries of a folder may have changed, so that callers need not
// poll.
//
// It promises:
//   - All folders of a [Watcher] share one inotify instance: Linux allows 128 for each user by
//     default.
//   - A new waiter is woken once immediately, so that it sees earlier changes; later changes wake
//     it again. Changes between two calls of Wait are kept and reported as one.
//   - A folder that does not exist yet is waited for at the nearest folder above it that does, also
//     when it goes away later.
//   - If the kernel loses events, or a watched folder is removed or renamed, every waiter of the
//     Watcher is woken immediately.
//   - If the kernel refuses a watch (too many instances, watches or open files, or an unreadable
//     folder), the waiters concerned are woken every 30 seconds until it succeeds, and every second
//     while [Watcher.Busy] reports true. This is logged once, and [Watcher.Problem] returns the
//     reason.
//   - A folder whose lookup hangs delays only its own watch.
//
// It reads no file, and does not notice when a folder above the watched one gets another name, when
// a link on the way leads elsewhere, or when the file system of a watched folder is unmounted.
package watch
