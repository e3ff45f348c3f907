// Package session holds ccbot's own record of a conversation with an agent, the states of a session
// and the folder of the records.
//
// It promises three things. A record changes state only along the transition table. All changes of
// one record happen one after another, on that record's worker, and are on disk (one JSON file per
// record, written by rename and fsynced) before the next step of the change begins. A file that
// cannot be read, also one of another version, is moved to quarantine with the reason, and all other
// records are loaded. docs/session-schema.md is the contract of the files.
//
// The package does not start, end or look at any process, and knows nothing of tmux or of the chat
// beyond the plain values that it stores.
package session
