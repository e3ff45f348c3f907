package writerlock

// Folder is the folder of the locks, below the one of Codex.
const Folder = "thread-writer-locks"

// Home is the folder of Codex. It is the witness.Locks of Codex.
type Home string
