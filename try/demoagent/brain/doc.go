// Package brain plays the session of a scripted coding agent in a terminal: the loop, the queue of
// prompts, turns, tool calls and commands of the shell.
//
// It writes no file except the log of what was submitted, runs no hook and draws nothing. All of
// that is the agent's [Skin], so a stand-in for another agent is another skin.
package brain
