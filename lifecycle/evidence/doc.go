// Package evidence finds which processes write which conversation of an agent, and how those
// processes relate to a session. It only reads: the process table, the agents' presence files
// and locks, the records of hooks, tmux's panes and the sessions.
//
// Sources are the inputs, and Evidence is one reading of them. Read reads immediately; Settled
// repeats the reading for a moment if two pieces of evidence contradict each other; Survey reads
// for many records; Windows reads for the windows of no session. A verdict reports whether a
// process writes; Standing is the relation of the process to the session; a Writer describes such a
// process for a person.
//
// The package guarantees:
//   - Unknown stays unknown: unreadable evidence is an error, or makes a process a possible
//     writer, but is never proof that no process writes (P6).
//   - It decides nothing: package lifecycle decides whether a process is reported, ended or
//     adopted.
package evidence
