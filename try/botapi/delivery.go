package botapi

import (
	"encoding/json"
	"math/rand/v2"
)

// maxKept bounds what Redeliver can bring back.
const maxKept = 1_000

// delivery are the faults of getUpdates that spoil no answer but what is in it.
type delivery struct {
	shuffle   *rand.Rand
	confirmed []queued // the newest ones, in order of id
	again     []queued // come with the next answer
}

// Redeliver has the newest n updates that the bot has confirmed come once more, in front of what
// the next answer has. Telegram does that when it has not kept a confirmation. It returns how many
// there were.
func (s *Server) Redeliver(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := &s.queue.delivery
	d.again = append([]queued{}, d.confirmed[max(0, len(d.confirmed)-n):]...)
	s.wakeLocked()
	return len(d.again)
}

// ShuffleUpdates puts the updates of every answer into a random order from now on; nil ends it.
func (s *Server) ShuffleUpdates(r *rand.Rand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.delivery.shuffle = r
}

// keep remembers updates that are confirmed.
func (d *delivery) keep(done []queued) {
	d.confirmed = append(d.confirmed, done...)
	if surplus := len(d.confirmed) - maxKept; surplus > 0 {
		d.confirmed = append([]queued{}, d.confirmed[surplus:]...)
	}
}

// answer returns the result of a getUpdates that has fresh updates.
func (d *delivery) answer(fresh []queued) []json.RawMessage {
	all := append(d.again, fresh...)
	d.again = nil
	if d.shuffle != nil {
		d.shuffle.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	out := []json.RawMessage{}
	for _, u := range all {
		out = append(out, u.raw)
	}
	return out
}
