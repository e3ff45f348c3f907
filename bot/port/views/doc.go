// Package views is how the chat sees the sessions of the agent's machine: each value is a copy.
//
// [Views] reads what is known and waits for nothing. Whatever a view says may have changed a moment
// later; an operation of another port checks it again.
package views
