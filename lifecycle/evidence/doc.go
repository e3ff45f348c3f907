// Package evidence answers which processes write which conversation of Claude Code, and what those
// processes are to a session. It only reads: the process table, Claude Code's presence files, what
// hooks have recorded, tmux's panes and the records.
//
// Sources are what is read, and Evidence is one reading of them. Read takes a reading at once;
// Settled repeats the reading for a moment if two pieces of evidence contradict each other; Survey
// is one reading for many records; Windows is one reading for the windows that belong to no
// session. A verdict says whether a process writes; Standing says what the process is to the
// session; a Writer is such a process in the form in which a person is shown it.
//
// The package promises that unknown stays unknown: evidence that cannot be read is an error, or
// makes a process one that may write, but is never proof that no process writes (P6). The package
// decides nothing: package lifecycle decides whether a process is reported, ended or adopted.
package evidence
