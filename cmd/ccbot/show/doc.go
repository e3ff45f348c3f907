// Package show prints what the verbs that only look have found, for people and, as JSON, for programs: what was said in
// a session, what has changed in its folder, what agents use, and what a recovery did or would do.
//
// It looks through the chat's ports, as the chat's pages do, and is handed a recovery's report. docs/cli.md has an example of each JSON; a test compares
// the fields.
package show
