// Package writerlock reads which processes hold the locks of Codex' conversations. Codex takes a
// lock before it writes one: flock(2) on <CODEX_HOME>/thread-writer-locks/<id>.lock.
//
// It promises that a process which it returns had the lock while it was read: the kernel's note of
// one of its open files has both the lock and the file's name. An unreadable note is an error, and
// then nothing is known.
//
// Its limits: a process holds the locks of all conversations that it has loaded, and shows one. A
// lock of another user's process is not seen. Only Linux has the notes.
package writerlock
