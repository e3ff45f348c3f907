package session

import (
	"encoding/json"
	"slices"

	"ccbot/internal/process"
)

// A record of version 1 may lack what later programs of that version wrote. It
// is completed when it is read, so that nobody else has to know; its file stays
// as it is until the record is next saved. docs/session-schema.md has the rules.

// fromVersion1 completes a record that was read from data.
func (r *Record) fromVersion1(data []byte) error {
	r.boundByVersion1()
	r.failuresByVersion1()
	if err := r.belowByVersion1(data); err != nil {
		return err
	}
	r.Version = Version
	return nil
}

// boundByVersion1 counts the agent of the binding among those that the record
// bound: only they are ended as leftovers without other proof.
func (r *Record) boundByVersion1() {
	if r.Binding != nil && r.Binding.Agent.Valid() && !slices.Contains(r.Bound, r.Binding.Agent) {
		r.Bound = append(r.Bound, r.Binding.Agent)
	}
}

// failuresByVersion1 says in the present form what a cleanup could not prove.
func (r *Record) failuresByVersion1() {
	if c := r.Cleanup; c != nil && len(c.Failures) == 0 {
		c.Failures = []CleanupFailure{{Kind: "unknown", Detail: c.Reason}}
	}
}

// belowByVersion1 takes up tools that were noted as bare processes: what ran
// below the agent when it had to be killed. Where no binding tells which agent
// that was nobody can prove it gone, and they are only watched until they end.
func (r *Record) belowByVersion1(data []byte) error {
	var bare struct {
		Below []process.Identity `json:"below"`
	}
	if err := json.Unmarshal(data, &bare); err != nil {
		return err
	}
	for i, id := range bare.Below {
		if id == (process.Identity{}) {
			continue // in the present form already
		}
		r.Below[i] = Tool{Process: id}
		if r.Binding != nil {
			r.Below[i].Of = r.Binding.Agent
		}
	}
	return nil
}
