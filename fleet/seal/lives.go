package seal

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ccbot/fleet/beat"
	"ccbot/fleet/life"
)

// shownFor is the time for which a life that is not followed is shown after its last beat, and after which a start
// that another one has superseded is not merely waiting for its turn.
const shownFor = 2 * beat.Timeout

// Lives are the starts of both ends, as this end sees them.
type Lives struct {
	Followed life.Life
	// Refused are other lives of the other end, which speak in vain.
	Refused []life.Life
	// Undecided: none has effects until a person chooses one of Torn.
	Undecided bool
	// Torn are the lives that can be chosen: those that speak, because with a dead one nothing would work.
	Torn []life.Life
	// Elsewhere is another start of this end, which the other end follows.
	Elsewhere life.Life
}

// Lives returns the starts that somebody has to know about.
func (l *Link) Lives() Lives {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	v := Lives{Followed: l.known.Followed, Undecided: len(l.known.Torn) > 0}
	if v.Torn = l.choiceLocked(now); len(v.Torn) > 0 {
		v.Undecided = true
	} else {
		v.Refused = l.speakLocked(l.known.Refused, now)
	}
	if l.elsewhere.ID != "" && now.Sub(l.since) > shownFor {
		v.Elsewhere = l.elsewhere
	}
	return v
}

// choiceLocked returns the lives of which a person has to choose one. Those that are refused can be chosen when the
// followed one has fallen silent: it may be the dead one of an earlier choice.
func (l *Link) choiceLocked(now time.Time) []life.Life {
	switch {
	case len(l.known.Torn) > 0:
		return l.speakLocked(append([]life.Life{l.known.Followed}, l.known.Torn...), now)
	case l.me == ChatName && l.watch.Silence(now) >= l.Patience:
		return l.speakLocked(l.known.Refused, now)
	}
	return nil
}

// speakLocked returns those of the lives that are not followed and speak.
func (l *Link) speakLocked(all []life.Life, now time.Time) (speak []life.Life) {
	for _, one := range all {
		if at, spoke := l.beside[one.ID]; spoke && now.Sub(at) <= shownFor {
			speak = append(speak, one)
		}
	}
	return speak
}

// IsTorn reports whether no start of the other end is followed until a person chooses.
func (l *Link) IsTorn() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.known.Torn) > 0
}

// IsElsewhere reports whether the other end follows another start of this end.
func (l *Link) IsElsewhere() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.elsewhere.ID != ""
}

// Tick notes whether beats of the other end can arrive. It is called in each interval.
func (l *Link) Tick(connected bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.watch.Connect(now, connected)
	l.watch.Silence(now)
}

// ErrNoLife is returned by Choose for a life between which and others nobody has to choose.
var ErrNoLife = errors.New("nothing is to be decided about this start")

// Choose follows a life of those between which a person has to choose.
func (l *Link) Choose(id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	all := l.choiceLocked(now)
	i := slices.IndexFunc(all, func(one life.Life) bool { return one.ID == id })
	if i < 0 {
		return ErrNoLife
	}
	if err := l.setKnownLocked(l.known.Choose(all[i])); err != nil {
		return fmt.Errorf("seal: %w", err)
	}
	l.watch.Beat(now) // it has its time until it is silent
	return nil
}

// Words describe the lives to an operator; empty: all is as it should be.
func (v Lives) Words() string {
	var all []string
	if len(v.Torn) > 0 {
		all = append(all, "it runs more than once: "+names(v.Torn)+"; until one is chosen, nothing is sent to any")
	}
	if len(v.Refused) > 0 {
		all = append(all, "another start is refused: "+names(v.Refused)+"; the one that goes on: "+names([]life.Life{v.Followed}))
	}
	if v.Elsewhere.ID != "" {
		all = append(all, "this start is refused, because another start of this folder goes on: "+names([]life.Life{v.Elsewhere}))
	}
	return strings.Join(all, "; ")
}

func names(all []life.Life) string {
	var shown []string
	for _, l := range all {
		shown = append(shown, fmt.Sprintf("%q since %s", l.On, l.Since().Local().Format(time.DateTime)))
	}
	return strings.Join(shown, ", ")
}
