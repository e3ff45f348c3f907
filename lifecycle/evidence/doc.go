// Package evidence answers who writes which conversation of Claude Code, and what those processes are to a session. It
// only reads: the process table, Claude Code's presence files, what hooks have recorded, tmux's panes and the records.
//
// Sources are what is read, and Evidence is one reading of them. Read takes a reading at once, Settled waits for a moment
// where two pieces of evidence contradict each other, Survey is one reading for many records, and Windows is one for the
// windows of no session. A verdict says whether a process writes; Standing says what the process is to the session; a
// Writer is such a process as a person is shown it.
//
// It promises that unknown stays unknown: what cannot be read is an error, or makes a process one that may write, and
// never proof that nobody does (P6). It decides nothing: whether a process is told, ended or adopted is lifecycle's.
package evidence
