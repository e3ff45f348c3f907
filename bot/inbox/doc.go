// Package inbox takes updates from Telegram and keeps each on disk until its handler has said what
// became of it.
//
// It promises four things:
//   - An update is on disk, fsynced, before Telegram may forget it. A finished update is never
//     handled again, and an unfinished one is handled at least once, whatever crashes in between.
//   - Updates of one conversation are handled one after another in the order of their ids.
//     Conversations run beside each other, taps never wait behind a message, and a message waits
//     until the taps before it are decided.
//   - An update that cannot be read or handled, or that ends the program again and again, is set
//     aside with the reason, is reported, and does not hold up the others. An update that its
//     handler cannot keep yet is reported once and tried until it is handled: later updates of its
//     conversation wait.
//   - No error and no log line carries the bot's token or a URL.
//
// An album is one entry when it is handled. It waits in its conversation until no further message
// of it has come for 1.5 s (after a start, too), or its sender has written something else. A
// message of the album that comes later is an entry of its own, marked as late. A text that Telegram has
// cut waits for its rest in the same way, and is one entry. Taps (callback
// queries) are the exception to the first promise: they are handled at once and never written, so a
// crash loses them, and a crash right after a tap may bring it a second time. Taps have no date:
// when Telegram has not answered for two minutes, the taps that waited there are reported and not
// handled. Updates from a person who may not speak, and those for another bot, leave no trace. A
// message that the disk refuses comes again until the disk takes it, unless it can be handled
// without the disk. A poll ends at its deadline. A poll that does not end is abandoned, and the next poll has connections of its
// own. A 401 or 404 ends nothing by itself: only after ten minutes in which getMe answered nothing
// else the token counts as revoked. A stop lets what is in hand be finished. Pulse reports whether the polls go on. The package does not decide who may speak,
// understands nothing of a message except which album it belongs to, and sends nothing.
package inbox
