package lifecycle

import (
	"slices"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
)

// end returns the moment since which the session counts as over, to be used once nothing of the
// session lives. It must be the same moment that distinguished leftovers from second writers. With
// a later one, a process that was spared as a second writer would be a leftover from then on.
func (w *work) end() process.Moment {
	if end, over := evidence.EndOf(*w.r); over {
		return end
	}
	return w.moment()
}

// endSeen returns the moment of an end that this ccbot has just seen. If this ccbot never saw the
// agent alive, the moment is unknown, and a person may have continued in the terminal before ccbot
// came back. Then it is zero: no process counts as a leftover except those that the record bound.
// The same holds for a launch that never had an agent.
func (w *work) endSeen() process.Moment {
	if w.r.Binding == nil || w.recall().agent != w.r.Binding.Agent {
		return process.Moment{}
	}
	return w.moment()
}

// moment returns the present time on the kernel's clock. If the clock cannot be read, it is zero:
// with that, no process counts as a leftover.
func (k *kit) moment() process.Moment {
	now, err := k.Processes.Moment()
	if err != nil {
		k.Log.Warn("clock_unreadable", logkey.Error, err.Error())
		return process.Moment{}
	}
	return now
}

// over notes that nothing of the session has lived since a moment.
func (w *work) over(since process.Moment) {
	w.keepUsage() // while the binding still says to which agent the usage belongs
	w.keepProgress()
	w.r.Ended, w.r.EndedAt = since, w.Now().UTC()
	w.r.Binding, w.r.Cleanup = nil, nil
	if w.r.Below = w.livingTools(); len(w.r.Below) > 0 {
		w.agenda.wake(w.r.ID) // they are ended whatever the session's state is
	}
	w.r.Bound = w.Evidence.Living(w.r.Bound)
	w.r.Seconds = w.Evidence.Living(w.r.Seconds)
	w.r.Tail, w.r.Known, w.r.Haunted = w.transcriptSize(), 0, false
}

// noteFailed notes what could not be proven dead, and when to try again.
func (w *work) noteFailed(receipt *Receipt) {
	w.r.Ended = w.end()
	w.r.EndedAt, w.r.Cleanup = w.Now().UTC(), w.cleanup(receipt)
}

// cleanup describes what is left after another failed try.
func (w *work) cleanup(receipt *Receipt) *session.CleanupError {
	c := &session.CleanupError{Reason: receipt.Failures[0].String(), Failures: receipt.kept(), Attempts: 1}
	if w.r.Cleanup != nil {
		c.Attempts += max(0, w.r.Cleanup.Attempts)
	}
	c.NotBefore = w.Now().UTC().Add(retryAfter(c.Attempts))
	for _, f := range receipt.Failures {
		if f.PID != 0 && !slices.Contains(c.Processes, f.ID) {
			c.Processes = append(c.Processes, f.ID)
		}
	}
	return c
}

// RetryMost is the longest pause between two tries of a cleanup.
const RetryMost = time.Hour

// retryAfter is the pause before the next try of a cleanup that failed: a minute, doubled each
// time, at most an hour.
func retryAfter(attempts int) time.Duration {
	return pause.Doubled(time.Minute, RetryMost, attempts-1)
}
