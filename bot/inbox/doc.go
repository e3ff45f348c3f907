// Package inbox takes updates from Telegram and keeps each on disk until somebody says what became
// of it.
//
// It promises four things. An update is on disk, fsynced, before Telegram may forget it; an update
// that was finished is never handled again, and one that was not is handled at least once, whatever
// crashes in between. Updates of one conversation are handled one after another in the order of
// their ids, conversations run beside each other, taps never wait behind a message, and a message
// waits until the taps before it are decided. One update that cannot be read or handled, or that
// ends the program again and again, is set aside with the reason, told, and does not hold up the
// others. One that its handler cannot keep yet is told once and tried until it is handled: what
// came later in its conversation waits. No error and no log line carries the bot's token or a URL.
//
// An album is one entry before it is handled. It waits in its conversation until nothing more of it
// came for 1.5 s (after a start, too), or its sender wrote something else. What comes later is an
// entry of its own, marked as late.
//
// Taps (callback queries) are the exception to the first: they are handled at once and never
// written, so a crash forgets them, and a crash right after one may bring it a second time. They
// have no date: after two minutes without an answer of Telegram's, those that waited there are
// told, not handled. What comes from somebody who may not speak leaves no trace. A message that the
// disk does not take comes again until it does, unless it can be done without the disk.
//
// A poll ends at its deadline; one that does not is left to itself, and the next one has
// connections of its own. Pulse tells whether that goes on.
//
// It does not decide who may speak, understands nothing of a message but its album, and sends
// nothing.
package inbox
