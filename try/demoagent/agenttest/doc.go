// Package agenttest runs an agent, the demo one or the real one, in a window of a private tmux
// server and plays the person at its terminal.
//
// It is for tests of the agents themselves. Tests of ccbot use ccbot's own tmux package.
package agenttest
