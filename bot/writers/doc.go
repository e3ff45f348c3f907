// Package writers shows who else writes the conversation of a session, and which windows belong to
// no session, and does what a person decides about them.
//
// It promises that a button acts on exactly the processes or the window that its message shows
// (P2): they stand in the card's payload, every tap looks again, and where anything has changed the
// message is drawn anew and nothing is done. Nothing is ended before the person who tapped has
// confirmed it, with the names of the processes in the question.
//
// It proves no writer and ends no process itself: package lifecycle does.
package writers
