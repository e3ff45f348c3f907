// Package claudeflags knows the command line of Claude Code: which session it writes, which flags
// may not be configured, and with which flags an agent is started again.
//
// It promises:
//
//   - A command line is read element by element, as the CLI's parser does: an option's value is
//     never taken for another option, and text inside an argument never for an option.
//   - A relaunch skips no question, starts in no mode without questions, and grants no tool or
//     folder, unless the configured flags do.
//   - The order of all words is kept, because Claude Code has options that are unknown here.
//
// All functions are pure. The package looks at no process and does not decide which process is an
// agent.
package claudeflags
