// Package offline has the view of a ccbot that a verb of the command line has on its machine: the
// settings, the records, one snapshot of tmux and the processes, the session that a text means by
// the chat's rule, and the chat's sentences for a terminal. A running ccbot derives the same
// sources from its settings.
//
// It promises that nothing is changed by looking: it takes no lock, needs no token, starts no
// server and types nothing.
package offline
