// Package logkey has the keys of the attributes in ccbot's log: one fact has one name in all rooms, and a search finds
// every line about a session, a chat or a process. The message of a line is the name of its event in snake_case, and what
// belongs to the event follows as attributes with these keys.
//
// It has no values and no formats: whoever logs decides what a line says.
package logkey
