// Package router makes several machines of agents look like one to the chat. A [Router] implements
// each interface of a machine.Machine and passes each call on to the machines that it is about.
//
//   - Ids of sessions, loops, schedules and requests are unique everywhere. A call that names a
//     session goes to the machine of the session.
//   - All else that is unique on one machine only has the machine in front of it, see
//     folders.Address: folders, cursors, tickets, and the ids of windows and processes. The router
//     adds the machine to each value that comes from another machine, and takes it off before a
//     call. So the chat stores, compares and draws values that name their machine, and the other
//     machine sees its own values only. Values of the chat's own machine stay as they are.
//   - The name of a session on another machine begins with the machine and a colon.
//   - A call whose values name two machines, or one that the chat does not have, is refused with
//     refusal.NoMachine.
//   - A list has what each machine knows. It waits for the chat's own machine, and for the others
//     a moment only. With an error it lacks the machines that have not answered.
//   - The sessions of a machine that does not answer are kept in memory. Those that ran have
//     port.StateUnknown. Before a machine has answered once, each session that no other machine has
//     may be there.
//
// With one machine the router only passes calls on.
package router
