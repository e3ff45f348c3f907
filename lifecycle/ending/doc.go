// Package ending ends the processes of a session, and no other process. It is the only package of
// the program ccbot that can end an agent or what an agent has started: TestArchitectureOfEndings
// checks that.
//
// An Ender is made once. Of returns its use for one session, in one turn of the session's worker: a
// Session has the record and its save, and can reach nothing else of the session's life. The caller
// passes what it has last seen of the pane and the agent.
//
// The end of an agent begins with the hang-up of its pane. TERM and KILL follow if the process
// still lives; see process.Grace. Then come the leftovers, which are other processes that belong to
// the session and write its conversation, and the tools that killed processes left behind.
//
// The package promises:
//   - Each process is proven again right before its signal (P2).
//   - A process whose fate is unknown is a Failure in the Receipt, and never counts as ended (P3,
//     P6).
//   - The tools below a process are on disk before that process gets KILL.
//   - A pane that a person opened stays.
package ending
