package session

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// life is the transition table written down a second time, from the design: row
// by row every state that may follow. What is not here must be refused.
var life = map[State][]State{
	"":            {Starting},
	Starting:      {Running, Stopping, Failed},
	Restoring:     {Running, Stopping, Failed},
	Running:       {Stopping, Lost, Abandoned},
	Stopping:      {Archived, Completed, CleanupFailed},
	Lost:          {Abandoned, Restoring, Running},
	CleanupFailed: {Stopping},
	Archived:      {Restoring, Running},
	Completed:     {Restoring, Running},
	Failed:        {Restoring, Running},
	Abandoned:     {Restoring, Running},
}

func TestP8_EveryPairOfStatesIsAllowedOrRefused(t *testing.T) {
	all := append(States(), "", "bogus")
	for _, from := range all {
		for _, to := range all {
			t.Run(fmt.Sprintf("%s to %s", from, to), func(t *testing.T) {
				want := slices.Contains(life[from], to)
				assert.Equal(t, want, from.CanBecome(to))
				r := Record{State: from}
				err := r.Become(to, noon, "because")
				if want {
					require.NoError(t, err)
					assert.Equal(t, to, r.State)
					assert.Equal(t, []Change{{At: noon, From: from, To: to, Why: "because"}}, r.History)
					return
				}
				var refused *TransitionError
				require.ErrorAs(t, err, &refused)
				assert.Equal(t, TransitionError{From: from, To: to}, *refused)
				assert.Equal(t, Record{State: from}, r, "a refusal changes nothing")
			})
		}
	}
}

func TestStatesListsTheTable(t *testing.T) {
	states := States()
	assert.Len(t, states, len(transitions)-1, "all but the empty state")
	for from, nexts := range transitions {
		assert.Equal(t, from != "", from.Valid(), "%q", from)
		for _, to := range nexts {
			assert.True(t, to.Valid(), "%q leads to %q", from, to)
			assert.Contains(t, transitions, to, "%q leads to %q, which leads nowhere by design or by mistake", from, to)
		}
	}
	assert.False(t, State("bogus").Valid())
}

func TestLiveAndResumableExcludeEachOther(t *testing.T) {
	live := []State{Starting, Running, Restoring, Stopping}
	resumable := []State{Archived, Completed, Lost, Failed, Abandoned}
	for _, s := range States() {
		assert.Equal(t, slices.Contains(live, s), s.Live(), "%s", s)
		assert.Equal(t, slices.Contains(resumable, s), s.Resumable(), "%s", s)
	}
	assert.False(t, State("").Live())
}

// A restore is only ever offered of what has no living process.
func TestP1_WhatMayStillRunIsNotResumable(t *testing.T) {
	for _, s := range append(States(), "") {
		if s.Live() || s == CleanupFailed {
			assert.False(t, s.Resumable(), "%s", s)
		}
	}
}

func TestBecomeKeepsTheNewestHundred(t *testing.T) {
	r := Record{State: Archived}
	step := 0
	for ; step < 260; step++ {
		next := map[State]State{Archived: Running, Running: Stopping, Stopping: Archived}[r.State]
		require.NoError(t, r.Become(next, noon.Add(time.Duration(step)*time.Second), fmt.Sprint(step)))
	}
	require.Len(t, r.History, historyLimit)
	assert.Equal(t, fmt.Sprint(step-historyLimit), r.History[0].Why)
	assert.Equal(t, fmt.Sprint(step-1), r.History[historyLimit-1].Why)
}

func TestBecomeWritesUTC(t *testing.T) {
	r := Record{}
	east := time.FixedZone("east", 9*3600)
	require.NoError(t, r.Become(Starting, noon.In(east), ""))
	assert.Equal(t, time.UTC, r.History[0].At.Location())
	assert.True(t, noon.Equal(r.History[0].At))
}

// Whatever is tried, the state only moves along the table and the history is an
// unbroken chain that ends in the state.
func TestP8_HistoryIsAChain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Record{}
		for range rapid.IntRange(0, 150).Draw(t, "tries") {
			before := r.State
			next := rapid.SampledFrom(append(States(), "", "bogus")).Draw(t, "next")
			if err := r.Become(next, noon, ""); err != nil && r.State != before {
				t.Fatalf("%q became %q by a refused change", before, r.State)
			}
		}
		for i, c := range r.History {
			if !slices.Contains(life[c.From], c.To) || i > 0 && r.History[i-1].To != c.From {
				t.Fatalf("history %v breaks at %d", r.History, i)
			}
		}
		if n := len(r.History); n > historyLimit || n > 0 && r.History[n-1].To != r.State {
			t.Fatalf("history of %d ends elsewhere than in %q", n, r.State)
		}
	})
}

func TestExitCrashed(t *testing.T) {
	tests := []struct {
		name string
		exit Exit
		want bool
	}{
		{name: "clean", exit: Exit{Known: true}},
		{name: "status", exit: Exit{Known: true, Status: 1}, want: true},
		{name: "signal", exit: Exit{Known: true, Signal: 9}, want: true},
		{name: "nobody saw it", exit: Exit{Status: 1}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) { assert.Equal(t, tc.want, tc.exit.Crashed()) })
	}
}
