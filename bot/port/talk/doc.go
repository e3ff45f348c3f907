// Package talk is how the chat reads transcripts on the agent's machine: plain values and two
// interfaces, so that the chat may one day run on another machine.
//
// It promises that a cursor taken from an item leads exactly behind that item, and that a reader
// which waits is told of a new item without polling. It touches no disk itself.
package talk
