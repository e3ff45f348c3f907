// Package desk is what a verb of the command line sees of a ccbot at its machine: the settings, the records, one look at
// tmux and the processes, which session is meant by the chat's rule, and the chat's sentences for a terminal. What it
// makes of the settings to read with, a running ccbot makes as well.
//
// It promises that nothing is changed by looking: it takes no lock, needs no token, starts no server and types nothing.
package desk
