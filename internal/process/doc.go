// Package process knows which processes run, which of them write a Claude Code session, and ends one that is proven.
//
// It promises:
//   - A process is named by pid, start time and boot, never by a pid alone: pids are reused.
//   - A point in time that is compared with a start is a [Moment] on the same clock, never a time of the wall clock.
//   - Unknown is an answer of its own and the zero value. What cannot be read or is hidden is never called gone and never
//     ended, and a table with holes among our own processes is an error.
//   - A zombie is gone: it runs no code and writes nothing.
//   - [Table.End] is the only function of ccbot that signals a process (a command that ccbot itself runs for a moment, such
//     as git, ends with its context). It holds the process by a pidfd from before it looks until after it is gone, so what
//     was proven is what is signalled, and asks the guards again before each signal.
//   - [Judge], [SessionArg], [IsAgent] and the guards are pure: the same snapshot gives the same answer.
//
// It does not read presence files or hook records (callers turn those into a [Claim]), knows nothing of windows (hanging
// up is a function given to [Table.End]), and does not decide what should end.
//
// On Linux the table is read here and not by gopsutil, which the rest of the program uses: there a create time is made of
// the time of the boot by the wall clock, so that it moves when that clock is set, and differs from the start that the kernel
// notes; a process is not held by a pidfd while it is read; and each of its fields is read by pid anew, so that one answer
// may be put together of two processes that had the pid in turn; an empty last argument is lost. A test compares the two.
//
// On darwin the table comes from sysctl, the executable and the working folder of one process from gopsutil, and the end of
// a process from kqueue. There is no pidfd there: between the re-read and the signal a pid could in theory be reused; see
// signal_darwin.go.
package process
