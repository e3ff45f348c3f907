// Package files is what the chat sends of a session's files, what people send there, and what long
// outputs hold: plain values and two interfaces, so that the chat may one day run on another machine
// than the agents.
//
// It promises that a file which [Files] opens lies in the session's folder and may be sent, and
// that what people send goes into one folder there. It touches no disk itself.
package files
