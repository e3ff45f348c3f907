// Package beat decides from the beats of a host whether the host can be reached.
//
// A host sends a beat every Interval. After Timeout without a beat it is Away, which is all that
// the chat knows then: the host may work on. So nothing that runs there has ended, and nothing of
// it may be started elsewhere.
//
// It promises:
//
//   - A host is not Away because of the chat: the time in which the chat had no connection, or did
//     not run, counts for no host.
//   - The caller's clock is the only one. The package starts nothing and waits for nothing.
package beat

import "time"

// Interval is the time between two beats, and Timeout the time without a beat after which a host is
// away.
const (
	Interval = 2 * time.Second
	Timeout  = 7 * time.Second
)

// MostHeld is how long no message of an end may pass while the host is Present. A courier sends each
// again within 20 seconds.
const MostHeld = 30 * time.Second

// Presence is the state of the connection to a host.
type Presence int

// The zero value is Unknown: the chat was not connected long enough to know.
const (
	Unknown Presence = iota
	Present
	Away
)

// Watch is the chat's view of one host. Its methods take the present moment of a clock that does
// not stop while the machine sleeps. The zero value is a host without a beat so far.
type Watch struct {
	last      time.Time // beat
	since     time.Time // beats could arrive from this time on
	checked   time.Time
	connected bool
}

// Connect notes that the chat is connected to the hub, or is not.
func (w *Watch) Connect(now time.Time, connected bool) {
	if connected && !w.connected {
		w.since, w.checked = now, now
	}
	w.connected = connected
}

// Beat notes a beat of the host. A beat proves the connection.
func (w *Watch) Beat(now time.Time) {
	w.Connect(now, true)
	w.last, w.checked = now, now
}

// Check returns the presence of the host. The caller checks at least every Interval: a longer pause
// means that the chat itself did not run, and beats may have been missed.
func (w *Watch) Check(now time.Time) Presence {
	silence := w.Silence(now)
	switch {
	case !w.connected:
		return Unknown
	case silence >= Timeout:
		return Away
	case w.last.Before(w.since): // no beat since the chat is connected
		return Unknown
	default:
		return Present
	}
}

// Silence returns how long the host has been silent. As in Check, a pause of the chat does not
// count.
func (w *Watch) Silence(now time.Time) time.Duration {
	if now.Sub(w.checked) > 2*Interval {
		w.since = now
	}
	w.checked = now
	heard := w.last
	if heard.Before(w.since) {
		heard = w.since
	}
	return now.Sub(heard)
}

// LastBeat returns the time of the last beat, zero if there was none.
func (w *Watch) LastBeat() time.Time { return w.last }

// Change is a change of presence that a person has to see.
type Change int

// The changes. Unknown between two presences is ignored.
const (
	Nothing Change = iota
	Left           // the host is away
	Returned
)

// Shown is the last presence of a host that a person has seen.
type Shown struct{ away bool }

// Next returns the change to show after a check. For a host that is present at first it is Nothing.
func (s *Shown) Next(p Presence) Change {
	switch {
	case p == Away && !s.away:
		s.away = true
		return Left
	case p == Present && s.away:
		s.away = false
		return Returned
	}
	return Nothing
}
