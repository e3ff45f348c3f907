// Package session holds ccbot's own record of a conversation with an agent,
// the states it goes through and the folder it is kept in.
//
// It promises three things. A record changes state only along the transition
// table. All changes of one record happen one after another, on that record's
// worker, and are on disk (one JSON file per record, written by rename and
// fsynced) before the next step of the change is taken. What cannot be read is
// moved to quarantine with the reason, what an earlier version wrote included,
// and all other records load; what a newer version wrote is left alone.
// docs/session-schema.md is the contract of the files.
//
// It does not start, end or look at any process, and knows nothing of tmux or
// of the chat beyond the plain values it stores.
package session
