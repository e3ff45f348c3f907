// Package show prints the results of reading verbs, for people and, as JSON, for programs: the list
// of sessions, the details, fate and history of a session, the changes in its folder, loops, the
// usage of agents, and the actions of a recovery.
//
// It looks through the chat's ports, as the chat's pages do, or is handed records or a report.
// docs/cli.md has an example of each JSON; a test compares the fields.
package show
