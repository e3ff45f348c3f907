// Package places is what the chat knows of folders on the agent's machine: plain values and one
// interface, so that the chat may one day run on another machine.
//
// It promises that a folder which [Places] gives has an absolute path without links, and that every
// refusal has a [Code]. It touches no disk itself.
package places
