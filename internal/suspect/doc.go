// Package suspect notes on disk which file of an agent ccbot reads, and leaves a file unread whose read
// ended ccbot three times in one boot.
//
// It promises:
//   - A note is on disk before a part of a file is read, and is removed after it. It needs no fsync,
//     because it outlives the process and need not outlive the machine.
//   - A file that an earlier run was reading when it ended is read after a pause, and never at the same
//     time as another such file. Other files are read meanwhile.
//   - After three such deaths of one Kind of read Begin refuses the file with ErrUnread, until Again or a
//     reboot. The file itself is never touched. A reader that ends without an error forgets the deaths.
//   - A file is read without a note if the note cannot be written.
//
// It opens no file but its own, and does not know what a file is read for.
package suspect
