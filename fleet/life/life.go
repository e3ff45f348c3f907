// Package life decides which start of the other end an end follows. The folder of a machine may be set back to an
// earlier state, or copied and run twice, so each start has a life of its own.
//
// It promises:
//
//   - A life that comes is followed if the one before it has said goodbye or is silent: a restart, an update and a
//     restored backup need no decision.
//   - A life that comes while the followed one still speaks is refused until a person chooses it: its folder is a copy.
//   - Of a machine, an earlier life that speaks again after a later one was followed tears both: none is followed
//     until a person chooses. Of a chat, the earlier one is followed again.
package life

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/fleet/beat"
)

// Patience is the silence after which another life may take the place of the followed one: three beats.
const Patience = 3 * beat.Interval

const (
	most   = 64 // lives of each list
	mostOn = 64 // bytes of a name
)

// Life is one start of an end. The zero value is a start of a program that has no lives yet.
type Life struct {
	ID string `json:"id"`           // random
	On string `json:"on,omitempty"` // the name of the machine, as it calls itself, and the process: copies may run on one machine
}

// New returns the life of this start.
func New() (Life, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return Life{}, err
	}
	host, _ := os.Hostname() // only for people
	process := fmt.Sprintf(" (pid %d)", os.Getpid())
	return Life{id.String(), host[:min(len(host), mostOn-len(process))] + process}.Bounded(), nil
}

// Bounded returns a life with a name that a machine can have.
func (l Life) Bounded() Life {
	l.ID = l.ID[:min(len(l.ID), mostOn)]
	l.On = strings.ToValidUTF8(l.On[:min(len(l.On), mostOn)], "")
	return l
}

// Since returns the time of the start, by the clock of its machine; zero: unknown.
func (l Life) Since() time.Time {
	id, err := uuid.Parse(l.ID)
	if err != nil || id.Version() != 7 {
		return time.Time{}
	}
	sec, nsec := id.Time().UnixTime()
	return time.Unix(sec, nsec)
}

// Known is what an end knows of the lives of the other end. Its methods change no slice.
type Known struct {
	Followed Life   `json:"followed"`
	Left     bool   `json:"left,omitempty"`    // Followed has said goodbye
	Earlier  []Life `json:"earlier,omitempty"` // were followed before
	Refused  []Life `json:"refused,omitempty"` // spoke beside the followed one, or were not chosen
	// Torn are the lives between which, and Followed, a person has to choose.
	Torn []Life `json:"torn,omitempty"`
	// Waiting have come, and are refused if the followed one speaks again.
	Waiting []Life `json:"-"`
}

// Follows reports whether the messages of a life have effects.
func (k Known) Follows(l Life) bool { return l.ID == k.Followed.ID && len(k.Torn) == 0 }

// Refuses reports whether a life spoke beside the followed one, or was not chosen.
func (k Known) Refuses(l Life) bool { return contains(k.Refused, l) }

// Come returns what is known after a message that may be an old one. It proves that a new life came, and not that
// another one still speaks.
func (k Known) Come(l Life, silence, patience time.Duration) Known {
	if l.ID != k.Followed.ID && !k.has(l) && len(k.Torn) == 0 && k.isFree(silence, patience) {
		return k.follow(l)
	}
	return k
}

// Hear returns what is known after a life has spoken. silence is the time since the last word of the followed one.
// isOld: the word may be older than the first one of those that wait.
func (k Known) Hear(l Life, silence, patience time.Duration, isChat, isOld bool) Known {
	switch {
	case l.ID == k.Followed.ID && isOld:
	case l.ID == k.Followed.ID:
		for _, w := range k.Waiting {
			k.Refused = with(k.Refused, w)
		}
		k.Waiting = nil
	case contains(k.Refused, l), contains(k.Torn, l):
	case contains(k.Earlier, l) && isChat:
		return k.Choose(l)
	case contains(k.Earlier, l), len(k.Torn) > 0:
		k.Torn, k.Waiting = with(k.Torn, l), nil
	case k.isFree(silence, patience):
		return k.follow(l)
	default:
		k.Waiting = with(k.Waiting, l)
	}
	return k
}

// Leave returns what is known after a life has said goodbye.
func (k Known) Leave(l Life) Known {
	k.Left = k.Left || l.ID == k.Followed.ID
	return k
}

// Choose returns what is known after the decision for a life.
func (k Known) Choose(l Life) Known {
	for _, other := range append([]Life{k.Followed}, k.Torn...) {
		if other.ID != l.ID {
			k.Refused = with(k.Refused, other)
		}
	}
	k.Earlier, k.Refused = without(k.Earlier, l), without(k.Refused, l)
	k.Followed, k.Left, k.Torn, k.Waiting = l, false, nil, nil
	return k
}

func (k Known) isFree(silence, patience time.Duration) bool {
	return k.Followed.ID == "" || k.Left || silence >= patience
}

func (k Known) has(l Life) bool { return contains(k.Earlier, l) || contains(k.Refused, l) }

func (k Known) follow(l Life) Known {
	k.Earlier = with(k.Earlier, k.Followed)
	k.Followed, k.Left, k.Waiting = l, false, nil
	return k
}

func contains(all []Life, l Life) bool {
	return slices.ContainsFunc(all, func(one Life) bool { return one.ID == l.ID })
}

func without(all []Life, l Life) []Life {
	return slices.DeleteFunc(slices.Clone(all), func(one Life) bool { return one.ID == l.ID })
}

// with adds a life. Starts of a program without lives cannot be told apart, and are in no list.
func with(all []Life, l Life) []Life {
	if l.ID == "" {
		return all
	}
	all = append(without(all, l), l)
	return all[max(0, len(all)-most):]
}
