// Package suspect notes on disk which file of an agent ccbot reads, and leaves a file unread that
// ended ccbot three times in a row in one boot.
//
// It promises:
//   - A note is on disk before a part of a file is read, and is removed after it. It needs no
//     fsync, because it outlives the process and need not outlive the machine.
//   - A run that ends while a file is noted is a death of that file, whichever read it was. A run
//     that read the file and ends at another moment forgets the file's deaths. So a death while the
//     chat gets what was read does not count: a kill at random would look the same.
//   - A clean stop forgets the deaths of all files that are still read.
//   - A file with a death is suspect. The next run reads it one second after its start, or two
//     seconds after two deaths, while no other file is read. No read waits longer than ten seconds
//     for others.
//   - After three deaths Begin refuses the file with ErrUnread, until Again or a reboot. The file
//     itself is never touched.
//   - A file is read without a note if the note cannot be written.
//
// It opens no file but its own, and does not know what a file is read for.
package suspect
