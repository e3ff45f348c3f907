// Package realclaude lets tests run the real Claude Code CLI: it finds the pinned one that
// e2e/install.sh installed, builds a private home that is past every first-run dialog, and a clean
// environment that points the CLI to a loopback Messages API.
//
// It never installs anything and never falls back to a claude of the person who runs the tests.
package realclaude
