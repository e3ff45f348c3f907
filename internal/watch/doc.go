// Package watch says when to look into a folder again, so that nobody polls.
//
// It promises:
//   - All folders of a [Room] share one inotify instance: Linux allows 128 for each user by
//     default.
//   - Whoever waits is told at once to look: what was there before the kernel was asked is seen by
//     that look, and what comes later is told. Changes that come while nobody waits are kept, and
//     told as one.
//   - A folder that does not exist yet is waited for at the nearest folder above it that does, also
//     when it goes away later.
//   - When the kernel loses events, and when a watched folder goes away or gets another name, every
//     waiter of the room looks again at once.
//   - Where the kernel gives no watch (too many instances, watches or open files; a folder that may
//     not be read), all that it concerns look every 30 seconds until it does, and every second while the user of
//     the [Room] is busy. That is logged once, and [Room.Problem] returns the reason.
//   - A folder that hangs when it is looked up holds up nobody but its own watch.
//
// It reads no file, and does not notice when a folder above the watched one gets another name, when
// a link on the way leads elsewhere, or when the file system of a watched folder is unmounted.
package watch
