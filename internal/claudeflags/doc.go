// Package claudeflags knows the command line of Claude Code: which session it writes, which flags
// may not be configured, and with which flags an agent is started again.
//
// It promises that a command line is read element by element, as the CLI's own parser does: the
// value of one option is never taken for another option, and text inside an argument is never taken
// for an option; that a relaunch allows no more than the configured flags do; and that a relaunch
// keeps the order of all words, because Claude Code has options that this package does not know.
//
// All functions are pure. The package looks at no process and does not decide which process is an
// agent.
package claudeflags
