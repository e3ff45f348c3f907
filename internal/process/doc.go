// Package process knows which processes run and which of them write an agent's conversation, and
// ends a process that is proven.
//
// It promises:
//   - A process is named by pid, start time and boot, never by a pid alone: pids are reused.
//   - A point in time that is compared with a start is a [Moment] on the same clock, never a time
//     of the wall clock.
//   - Unknown is a separate answer and the zero value. A process that cannot be read or is hidden
//     is never called gone and never ended, and a table that lacks one of ccbot's processes is an
//     error.
//   - A zombie is gone: it runs no code and writes nothing.
//   - [Table.End] is the only function of ccbot that signals a process (a short command that ccbot
//     itself runs, such as git, ends with its context). It holds the process by a pidfd from before
//     it reads the process until the process is gone, so the process that was proven is the one
//     that is signalled, and it asks the guards again before each signal.
//   - [Judge], [IsAgent] and the guards are pure: the same snapshot leads to the same answer.
//
// The package does not read presence files or hook records (callers turn those into a [Claim]),
// knows nothing of windows (hanging up is a function given to [Table.End]), and does not decide
// which processes should end.
//
// On Linux this package reads the table itself and does not use gopsutil, which the rest of the
// program uses, for four reasons. gopsutil computes a create time from the wall clock's time of the
// boot, so that it changes when that clock is set, and differs from the start that the kernel
// records. It does not hold a process by a pidfd while it reads it. It reads each field by pid
// again, so that one answer may be a mixture of two processes that had the pid one after the other.
// It loses an empty last argument. A test compares the two.
//
// On darwin the table comes from sysctl, the executable and the working folder of one process from
// gopsutil, and the end of a process from kqueue. There is no pidfd there: between the last read
// and the signal a pid could in theory be reused; see signal_darwin.go.
package process
