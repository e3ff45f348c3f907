// Package loglimit limits how many lines of each event reach the log, and how long they are. The
// message of a line is the name of its event, see package logkey.
//
// It promises the following. An event that repeats gets at most Burst lines at once, and after that
// one line in Interval. A line that is left out is counted, and the counts of an event are logged
// at the latest SummaryInterval after its first such line. The event orphan_window gets more lines,
// because a start logs one for each window. A line below slog.LevelInfo counts for itself: many
// more of them are let through, because a person who asks for them wants to see them. A value of
// more than MaxValue bytes is cut.
//
// An event whose error is a fault of the machine, see package sysfault, is logged once in
// FaultInterval for each kind of fault: the first line at once, then the last one of each interval
// with the count of its lines.
//
// Lines that are left out within SummaryInterval or FaultInterval before the end of the program are
// in no summary.
package loglimit
