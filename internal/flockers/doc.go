// Package flockers reads which processes hold locks of files, as flock(2) takes them for writing.
//
// It promises that a process which it returns had the lock while it was read: the kernel's note of
// one of its open files has both the lock and the file's name. An unreadable note is an error, and
// then nothing is known.
//
// Its limits: a lock of another user's process is not seen. Only Linux has the notes.
package flockers
