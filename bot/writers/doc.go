// Package writers shows the other writers of a session's conversation and the windows that belong
// to no session, and carries out a person's decisions about them.
//
// It guarantees:
//   - A button acts on exactly the processes or the window that its message shows (P2). They are in
//     the card's payload, and every tap checks them again. After a change the message is redrawn
//     and nothing is done.
//   - Nothing is ended before the person who tapped has confirmed it, with the names of the
//     processes in the question.
//
// It proves no writer and ends no process itself: package lifecycle does.
package writers
