// Package machine is all that the chat knows of one machine of agents. The chat touches the machine
// by this alone, and with plain values, so that it may be another one than the chat's own.
package machine
