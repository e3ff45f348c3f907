// Package logkey has the keys of the attributes in ccbot's log: one fact has the same name in all
// packages, and a search finds every line about a session, a chat or a process. The message of a
// line is the name of its event in snake_case, and the facts of the event follow as attributes with
// these keys.
//
// It has no values and no formats: whoever logs decides what a line says.
package logkey
