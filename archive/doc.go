// Package archive puts sessions that nobody uses into the archive, and removes the records of
// sessions that ended long ago.
//
// It promises that a session is archived only after it was seen quiet at every look for the whole
// time: idle, with nobody at its terminal, nothing running and nothing waiting, and without a sign
// of life between two looks. Time in which ccbot was not looking does not count. A record is
// removed only when its session has been over for the whole configured time, and not before the
// person was informed of the messages that still waited for it; a copy of the record stays for a
// week. If a person asks to forget a record, all its copies are removed with it.
//
// The package does not end an agent, type anything or touch Claude Code's transcripts: ending is
// the task of package lifecycle, which looks once more before it ends anything.
package archive
