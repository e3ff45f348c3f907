// Package codexui reads the screen of Codex: it is the agent.Reader of package agent/codex.
//
// It promises that a dialog is recognised only by a list of numbered options with the cursor, and a
// box only by its sign in its own style. Of another screen it reports neither.
//
// Its limits: the state of a turn is known from the server, and texts are delivered to it: the box
// is read only to see that it has the keys. The layout was found with version 0.169.0.
package codexui
