// Package tmuxtest has Fake, a tmux in memory, and Conformance, a test suite that both Fake and the
// real tmux pass, so that the fake cannot differ in properties that callers rely on.
//
// It does not imitate tmux's commands, layouts or terminals: a fake pane's screen is a text that a
// test sets, and its process is a Go function.
package tmuxtest
