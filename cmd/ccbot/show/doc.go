// Package show prints what the verbs that only look have found, for people and, as JSON, for programs: what was said in
// a session, what has changed in its folder, what agents use.
//
// It looks through the chat's ports, as the chat's pages do. docs/cli.md has an example of each JSON; a test compares
// the fields.
package show
