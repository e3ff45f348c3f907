// Package schedule sends prompts to sessions at times that a person has chosen.
//
// A schedule has a session, a text, and a rule: one time, an interval, or a cron spec in the time
// zone of the chat. An occurrence is a time at which the rule is due. In the gap of a change to
// summer time it is the first minute after the gap, and in a repeated hour only the first pass
// counts.
//
// It promises:
//   - An occurrence is on disk before its prompt is queued, and the last one never goes back, also
//     if the clock does. The key of the prompt is made of the schedule and the occurrence, and the
//     engine takes a key once: after kill -9 at any step no prompt is sent twice, and none is left
//     out (P4, P8).
//   - Each occurrence is sent, or a message in the chat has the reason for which it was not. Of
//     several missed ones only the last is sent, with its delay; with SkipMissed none is.
//   - A run is skipped while the run before it is not over, or while a loop has the session.
//   - A session that is lost, crashed, failed to start or was archived for its silence is resumed
//     with the options that it had. A schedule of a session that was ended on purpose, abandoned or
//     forgotten ends.
//
// The clock is read again at least every half minute, because timers stop while the machine sleeps.
// [next] decides everything; it is pure. A [Keeper] carries it out.
package schedule
