// Package inbox receives updates from Telegram and keeps all but taps on disk until their handlers
// have finished them.
//
// It guarantees:
//   - An update is on disk, fsynced, before Telegram may forget it. A finished update is never
//     handled again, an unfinished one at least once, despite crashes.
//   - Updates of one conversation are handled in the order of their ids. Conversations run in
//     parallel, taps never wait for a message, and a message waits until the taps before it are
//     decided.
//   - An update that cannot be read or handled, or that repeatedly ends the program, is set aside
//     with the reason, is reported, and does not block others.
//   - An update that its handler cannot store yet is reported once and retried until it is handled;
//     later updates of its conversation wait.
//   - No error or log line has the bot's token or a URL.
//
// Albums and texts that Telegram has cut are one entry when they are handled. They wait until no
// further message has come for 1.5 s, also after a start, or their sender has written another
// message. A later message of an album is a separate entry, marked as late.
//
// Taps (callback queries) are the exception to the first promise: they are handled at once and
// never stored, so a crash loses them, and a crash right after a tap may repeat it. They have no
// date: after two minutes without an answer from Telegram, the waiting taps are reported and not
// handled.
//
// Updates from people who may not speak, or for another bot, leave no trace. A message that the
// disk refuses comes again, unless it can be handled without the disk. A poll that exceeds its
// deadline is abandoned, and the next one uses new connections. The token counts as revoked only
// after ten minutes in which getMe returned nothing but 401 or 404. A stop lets running handlers
// finish. Pulse reports whether the polls continue.
//
// The package does not decide who may speak, interprets only the parts of a message that albums and
// cut texts need, and sends no messages.
package inbox
