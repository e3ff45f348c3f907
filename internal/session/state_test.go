package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ccbot/internal/process"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// life is the transition table written down a second time, from the design: row by row every state
// that may follow. Any other transition must be refused.
var life = map[State][]State{
	"":            {Starting, Running},
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

func TestP8_StatePairsAreAllowedOrRefused(t *testing.T) {
	all := append(States(), "", "bogus")
	for _, from := range all {
		for _, to := range all {
			t.Run(fmt.Sprintf("%s to %s", from, to), func(t *testing.T) {
				want := slices.Contains(life[from], to)
				assert.Equal(t, want, CanBecome(from, to))
				r := Record{State: from}
				err := r.Become(to, noon, "a.rule", "because")
				if want {
					require.NoError(t, err)
					assert.Equal(t, to, r.State)
					assert.Equal(t, []Change{{At: noon, From: from, To: to, Rule: "a.rule", Why: "because"}}, r.History)
					return
				}
				require.EqualError(t, err, fmt.Sprintf("a session cannot go from %q to %q", from, to))
				assert.Equal(t, Record{State: from}, r, "a refusal changes nothing")
			})
		}
	}
}

func TestStatesListsTheTable(t *testing.T) {
	states := States()
	assert.Len(t, states, len(transitions)-1, "all but the empty state")
	for from, nexts := range transitions {
		assert.Equal(t, from != "", isValid(from), "%q", from)
		for _, to := range nexts {
			assert.True(t, isValid(to), "%q leads to %q", from, to)
			assert.Contains(t, transitions, to, "%q leads to %q, which leads nowhere by design or by mistake", from, to)
		}
	}
	assert.False(t, isValid("bogus"))
}

// Each question about a state has one answer, here for all states. An agent whose liveness is
// unknown is not given up.
func TestQuestionsAboutAState(t *testing.T) {
	type answers struct{ live, open, launching, over, onPurpose, mayRun, mayRunGone, mayMove, mayMoveGone bool }
	want := map[State]answers{
		Starting:      {live: true, open: true, launching: true, mayRun: true, mayRunGone: true},
		Restoring:     {live: true, open: true, launching: true, mayRun: true, mayRunGone: true},
		Running:       {live: true, open: true, mayRun: true, mayMoveGone: true},
		Stopping:      {live: true, mayRun: true, mayRunGone: true},
		CleanupFailed: {},
		Archived:      {over: true, onPurpose: true},
		Completed:     {over: true, onPurpose: true},
		Lost:          {over: true, mayMove: true, mayMoveGone: true},
		Failed:        {over: true, mayMove: true, mayMoveGone: true},
		Abandoned:     {over: true, mayMove: true, mayMoveGone: true},
		"":            {},
		"bogus":       {},
	}
	for _, s := range append(States(), "", "bogus") {
		assert.Equal(t, CanBecome(s, Restoring), s.HasEnded(), "%q: what is over can be brought back", s)
		for _, agent := range []process.Liveness{process.Unknown, process.Alive} {
			got := answers{s.Live(), s.Open(), s.Launching(), s.HasEnded(), s.EndedOnPurpose(), MayRun(s, agent), MayRun(s, process.Gone),
				MayMove(s, agent), MayMove(s, process.Gone)}
			assert.Equal(t, want[s], got, "%q, agent %s", s, agent)
		}
	}
}

// A session that was set aside for another one no longer owns its conversation.
func TestStaleSessionDoesNotOwnItsConversation(t *testing.T) {
	for closed, want := range map[string]bool{"": true, ClosedReboot: true, ClosedTmux: true, ClosedStale: false} {
		assert.Equal(t, want, (&Record{State: Lost, Closing: Closing{ClosedReason: closed}}).Owns(), closed)
	}
	agent := process.Identity{PID: 7, Start: 8, Boot: "b"}
	assert.Equal(t, agent, (&Record{Run: Run{Binding: &Binding{Agent: agent}}}).Agent())
	assert.False(t, (&Record{}).Agent().Valid())
}

// A restore is only ever offered of what has no living process.
func TestP1_PossiblyRunningIsNotResumable(t *testing.T) {
	for _, s := range append(States(), "") {
		if s.Live() || s == CleanupFailed {
			assert.False(t, s.HasEnded(), "%s", s)
		}
	}
}

func TestP8_HistoryDoesNotGrowWithoutBound(t *testing.T) {
	tests := []struct {
		name string
		add  func(r *Record, at time.Time, why string) error
	}{
		{"changes", func(r *Record, at time.Time, why string) error {
			next := map[State]State{Archived: Restoring, Restoring: Stopping, Stopping: Archived}[r.State]
			return r.Become(next, at, "a.rule", why)
		}},
		{"notes", func(r *Record, at time.Time, why string) error { r.Note(at, "a.rule", why); return nil }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := Record{State: Archived}
			const steps = 260
			for step := range steps {
				require.NoError(t, tt.add(&r, noon.Add(time.Duration(step)*time.Second), fmt.Sprint(step)))
			}
			require.Len(t, r.History, historyLimit)
			assert.Equal(t, fmt.Sprint(steps-historyLimit), r.History[0].Why, "the oldest go")
			assert.Equal(t, fmt.Sprint(steps-1), r.History[historyLimit-1].Why)
		})
	}
}

// Evidence quotes errors, and an error may quote a whole screen.
func TestP8_EvidenceIsCut(t *testing.T) {
	long := strings.Repeat("x", whyLimit-1) + strings.Repeat("ж", 5000)
	r := Record{State: Running}
	r.Note(noon, "a.rule", long)
	r.Note(noon.Add(time.Second), "a.rule", long)
	require.Len(t, r.History, 1, "a repeated one is known though it was cut")
	require.NoError(t, r.Become(Stopping, noon, "a.rule", long))
	for _, c := range r.History {
		assert.Equal(t, strings.Repeat("x", whyLimit-1)+"…", c.Why, "no half of a letter stays")
	}
	r.Note(noon, "a.rule", long[:whyLimit-1]+"y")
	assert.Len(t, r.History[2].Why, whyLimit, "what fits is kept as it is")
}

func TestNote(t *testing.T) {
	later := noon.Add(time.Minute)
	line := func(at time.Time, rule Rule, why string) Change {
		return Change{At: at, From: Running, To: Running, Rule: rule, Why: why}
	}
	ready := Change{At: noon, From: Starting, To: Running, Rule: "a", Why: "b"}
	tests := []struct {
		name   string
		before []Change
		want   []Change
	}{
		{"the first line", nil, []Change{line(later, "a", "b")}},
		{"the same once more", []Change{line(noon, "a", "b")}, []Change{line(later, "a", "b")}},
		{"the same though earlier", []Change{line(later.Add(time.Hour), "a", "b")}, []Change{line(later, "a", "b")}},
		{"another rule", []Change{line(noon, "c", "b")}, []Change{line(noon, "c", "b"), line(later, "a", "b")}},
		{"another evidence", []Change{line(noon, "a", "c")}, []Change{line(noon, "a", "c"), line(later, "a", "b")}},
		{"a change said the same", []Change{ready}, []Change{ready, line(later, "a", "b")}},
		{"the same, but not at last", []Change{line(noon, "a", "b"), ready}, []Change{line(noon, "a", "b"), ready, line(later, "a", "b")}},
		{"the same in another state", []Change{{At: noon, From: Lost, To: Lost, Rule: "a", Why: "b"}},
			[]Change{{At: noon, From: Lost, To: Lost, Rule: "a", Why: "b"}, line(later, "a", "b")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := Record{State: Running, History: tt.before}
			r.Note(later.In(time.FixedZone("east", 9*3600)), "a", "b")
			assert.Equal(t, tt.want, r.History)
			assert.Equal(t, Running, r.State)
		})
	}
}

func TestBecomeWritesUTC(t *testing.T) {
	r := Record{}
	east := time.FixedZone("east", 9*3600)
	require.NoError(t, r.Become(Starting, noon.In(east), "", ""))
	assert.Equal(t, time.UTC, r.History[0].At.Location())
	assert.True(t, noon.Equal(r.History[0].At))
}

// After any calls the state has only moved along the table, and the history is an unbroken chain
// that ends in the state. Notes are part of it and move nothing.
func TestP8_HistoryIsAChain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Record{}
		for range rapid.IntRange(0, 150).Draw(t, "tries") {
			before := r.State
			if before != "" && rapid.Bool().Draw(t, "note") {
				r.Note(noon, "", rapid.SampledFrom([]string{"a", "b"}).Draw(t, "why"))
			}
			next := rapid.SampledFrom(append(States(), "", "bogus")).Draw(t, "next")
			if err := r.Become(next, noon, "", ""); err != nil && r.State != before {
				t.Fatalf("%q became %q by a refused change", before, r.State)
			}
		}
		for i, c := range r.History {
			if c.From != c.To && !slices.Contains(life[c.From], c.To) || i > 0 && r.History[i-1].To != c.From {
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
