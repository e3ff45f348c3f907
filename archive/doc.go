// Package archive puts away sessions that nobody uses and forgets those that
// ended long ago.
//
// It promises that a session is put away only after it was seen idle, with
// nobody at its desk, nothing running and nothing waiting, at every look of the
// whole time, and with no sign of life between two looks; time in which ccbot
// was not looking does not count. A record goes only when it has been over for
// its whole time, and not before the person was told of the messages that still
// waited for it; a copy of it stays for a week. A record that a person has
// forgotten goes with all its copies.
//
// It does not end an agent, type anything or touch Claude Code's transcripts:
// ending is lifecycle's, which looks once more before it does.
package archive
