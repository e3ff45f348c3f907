// Package outcome decides how the turn of one prompt stands: it still runs, or it has ended in one
// of several ways.
//
// The transcript links the end of a turn to its prompt, from the mark on that is on disk before the
// prompt is typed. The agent's present activity ends a turn only if no line of the transcript can
// follow: see [Settled] and [Silence].
//
// The package reads transcripts and changes nothing.
package outcome
