// Package writerlock reads which processes hold the locks of Codex' conversations. Codex takes a
// lock before it writes one: flock(2) on <CODEX_HOME>/thread-writer-locks/<id>.lock. A process
// holds the locks of all conversations that it has loaded, and shows one.
package writerlock
