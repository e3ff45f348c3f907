// Package archive archives unused sessions, and removes the records of sessions that ended long
// ago.
//
// It promises:
//
//   - A session is archived only after every scan of the whole time found it quiet: idle, with no
//     person at its terminal, nothing running and nothing waiting, and without a sign of life
//     between two scans. Time in which ccbot did not scan does not count.
//   - A record is removed only after its session has been ended for the whole configured time, and
//     after the person was informed of the messages that still waited for it; a copy of the record
//     stays for a week.
//   - If a person asks to forget a record, all its copies are removed with it.
//
// The package does not end an agent, type anything or touch the agents' transcripts: ending is
// the task of package lifecycle, which checks again before it ends anything.
package archive
