// Package modes shows with which permission mode and which model a session's agent runs, with
// buttons that switch them.
//
// It promises that what its page shows was read from the terminal, or is marked as still to come; that
// nothing that asks nobody (auto, bypass) can be switched on; and that a person who has to wait for
// the end of a turn is told when it was done. A failure is always a message of its own. The buttons count for the person who
// asked for the page.
//
// It presses nothing: lifecycle carries out what a person wants.
package modes
