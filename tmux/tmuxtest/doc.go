// Package tmuxtest has Fake, a tmux in memory, and Conformance, the suite that it and the real one
// pass, so that the fake cannot lie about what callers rely on.
//
// It does not imitate tmux's commands, layouts or terminals: a fake pane's screen is a text that a
// test sets, and its process is a Go function.
package tmuxtest
