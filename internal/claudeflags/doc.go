// Package claudeflags knows the command line of Claude Code: which session it writes, which flags
// may not be configured, and with which flags an agent is started again.
//
// It promises that a command line is read element by element, as the CLI's own parser does: the
// value of one option is never taken for another option, and text inside an argument never for an
// option at all; that a relaunch skips no question, starts in no mode that asks nobody, and grants
// no tool or folder, unless the configured flags do; and that it keeps the order of all words,
// because Claude Code has options that are not known here.
//
// All functions are pure. The package looks at no process and does not decide which process is an
// agent.
package claudeflags
