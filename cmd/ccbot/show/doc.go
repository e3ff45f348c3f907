// Package show prints what the verbs that look have found, for people and, as JSON, for programs: which sessions there
// are, all that is known of one and what became of it, what was said in it, what has changed in its folder, what agents
// use, and what a recovery did or would do.
//
// It looks through the chat's ports, as the chat's pages do, or is handed records or a report. docs/cli.md has an
// example of each JSON; a test compares the fields.
package show
