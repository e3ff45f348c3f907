package writerlock

// Folder is the folder of the locks, below the one of Codex.
const Folder = "thread-writer-locks"
