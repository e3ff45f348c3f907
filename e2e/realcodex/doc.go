// Package realcodex tries the client of Codex' server and the reader of its rollouts with the real
// Codex CLI, a private home, and a Responses API on loopback.
//
// It never installs anything and never falls back to a codex of the person who runs the tests:
// e2e/install.sh fills a folder of its own.
package realcodex
