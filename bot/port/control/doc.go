// Package control starts, restores, adopts and ends sessions on the agent's machine.
//
// Each operation is durable when it returns, and may be asked for again: a start with the origin of
// an earlier one gives the session of that one. What cannot be done is a *refusal.Error.
package control
