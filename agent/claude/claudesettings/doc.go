// Package claudesettings knows the settings files and the versions of Claude Code: it writes the
// settings that make one launch report to ccbot what happens in it, installs hooks for sessions
// that are started by hand, and reads which settings of a project answer requests.
//
// It promises:
//
//   - A launch settings file names only hook events that all versions from Oldest know, because an
//     unknown one opens a dialog that blocks the start.
//   - A person's settings file keeps every byte that is not ccbot's.
//
// The hook program, its files and its calls are the same for all agents: see packages hookwire and
// hooks.
package claudesettings
