package recovery

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"ccbot/internal/process"
	"ccbot/internal/session"
)

// owner is a session whose last sign of life is ago before noon.
func owner(state session.State, ago time.Duration) Owner {
	return Owner{ID: uuid.New(), State: state, Agent: process.Gone, Sign: Sign{noon.Add(-ago), "last_turn_at"}}
}

// back are the facts of an agent that came back in a separate window.
func back(owners ...Owner) resumeFacts {
	return resumeFacts{Now: noon, StaleAfter: day, Agent: writer(7).Identity, AgentSessionID: uuid.New(),
		Alive: process.Alive, Proven: true, Owners: owners}
}

var outcomes = []outcome{sessionActive, sessionResumed, noSession, manySessions, allStale, secondWriter, agentUnproven, nestedAgent,
	agentGone, lockTimeout}

func TestReconcileResume(t *testing.T) {
	const hour = time.Hour
	lost, other := owner(session.Lost, hour), owner(session.Lost, hour)
	old, older := owner(session.Lost, 25*hour), owner(session.Failed, 9*day)
	archived, oldArchived := owner(session.Archived, hour), owner(session.Archived, 9*day)
	running := owner(session.Running, hour)
	alive, unknown, oldRunning := owner(session.Running, hour), owner(session.Running, hour), owner(session.Running, 9*day)
	alive.Agent, unknown.Agent = process.Alive, process.Unknown
	tests := []struct {
		name    string
		facts   resumeFacts
		change  func(*resumeFacts)
		want    outcome
		from    uuid.UUID
		stale   []uuid.UUID
		records []uuid.UUID
	}{
		{name: "bound", facts: back(other), change: func(f *resumeFacts) { f.Bound, f.Others = lost.ID, 3 }, want: sessionActive},

		{name: "nobody's conversation", facts: back(), want: noSession},
		{name: "nobody's conversation, below an agent", facts: back(), change: func(f *resumeFacts) { f.Nested = true }, want: noSession},
		{name: "nobody's conversation, gone again", facts: back(), change: func(f *resumeFacts) { f.Alive = process.Gone }, want: agentGone},
		{name: "below an agent", facts: back(lost), change: func(f *resumeFacts) { f.Nested = true }, want: nestedAgent, records: []uuid.UUID{lost.ID}},
		{name: "gone again", facts: back(lost), change: func(f *resumeFacts) { f.Alive = process.Gone }, want: agentGone},
		{name: "nobody knows of it", facts: back(lost), change: func(f *resumeFacts) { f.Alive = process.Unknown }, want: agentGone},

		{name: "another process writes it", facts: back(lost), change: func(f *resumeFacts) { f.Others = 1 }, want: secondWriter, records: []uuid.UUID{lost.ID}},
		{name: "not to be had", facts: back(lost), change: func(f *resumeFacts) { f.Objection = "in no window" }, want: secondWriter, records: []uuid.UUID{lost.ID}},
		{name: "not proven yet", facts: back(lost), want: agentUnproven, records: []uuid.UUID{lost.ID},
			change: func(f *resumeFacts) { f.Proven, f.Objection = false, "no presence file" }},
		{name: "its session lives", facts: back(alive), want: secondWriter, records: []uuid.UUID{alive.ID}},
		{name: "its session may live", facts: back(unknown), want: secondWriter, records: []uuid.UUID{unknown.ID}},
		{name: "one of two lives", facts: back(lost, alive), want: secondWriter, records: []uuid.UUID{lost.ID, alive.ID}},
		{name: "ended on purpose", facts: back(archived), want: secondWriter, records: []uuid.UUID{archived.ID}},
		{name: "ended by itself", facts: back(Owner{ID: archived.ID, State: session.Completed}), want: secondWriter, records: []uuid.UUID{archived.ID}},

		{name: "lost", facts: back(lost), want: sessionResumed, from: lost.ID},
		{name: "running, its agent gone", facts: back(running), want: sessionResumed, from: running.ID},
		{name: "a single one is meant however old", facts: back(older), want: sessionResumed, from: older.ID},
		{name: "its worker is busy", facts: back(lost), change: func(f *resumeFacts) { f.Busy = true }, want: lockTimeout, records: []uuid.UUID{lost.ID}},

		{name: "two", facts: back(lost, other), want: manySessions, records: []uuid.UUID{lost.ID, other.ID}},
		{name: "two and a stale one", facts: back(lost, other, old), want: manySessions, stale: []uuid.UUID{old.ID}, records: []uuid.UUID{lost.ID, other.ID}},
		{name: "two, one archived a moment ago", facts: back(lost, archived), want: manySessions, records: []uuid.UUID{lost.ID, archived.ID}},
		{name: "one of two is stale", facts: back(old, lost), want: sessionResumed, from: lost.ID, stale: []uuid.UUID{old.ID}},
		{name: "one of two is stale and archived", facts: back(oldArchived, lost), want: sessionResumed, from: lost.ID, stale: []uuid.UUID{oldArchived.ID}},
		{name: "only the archived one is fresh", facts: back(old, archived), want: secondWriter, stale: []uuid.UUID{old.ID}, records: []uuid.UUID{archived.ID}},
		{name: "one of three is fresh, its worker is busy", facts: back(old, lost, older), want: lockTimeout, stale: []uuid.UUID{old.ID, older.ID}, records: []uuid.UUID{lost.ID},
			change: func(f *resumeFacts) { f.Busy = true }},
		{name: "all are stale", facts: back(old, older, oldRunning), want: allStale, stale: []uuid.UUID{old.ID, older.ID, oldRunning.ID}},
		{name: "no age is too old", facts: back(old, lost), change: func(f *resumeFacts) { f.StaleAfter = 0 }, want: manySessions, records: []uuid.UUID{old.ID, lost.ID}},
		{name: "a day to the second is not stale", facts: back(owner(session.Lost, day), older), want: sessionResumed, stale: []uuid.UUID{older.ID}},
	}
	missing := slices.Clone(outcomes)
	for _, tc := range tests {
		missing = slices.DeleteFunc(missing, func(o outcome) bool { return o == tc.want })
		t.Run(tc.name, func(t *testing.T) {
			f := tc.facts
			if tc.change != nil {
				tc.change(&f)
			}
			d := reconcileResume(f)
			assert.Equal(t, tc.want, d.Outcome)
			assert.NotEmpty(t, d.Why)
			if tc.from != uuid.Nil {
				assert.Equal(t, tc.from, d.From)
			}
			assert.Equal(t, d.Outcome == sessionResumed, d.From != uuid.Nil)
			var stale []uuid.UUID
			for _, s := range d.Stale {
				stale = append(stale, s.ID)
			}
			assert.Equal(t, tc.stale, stale)
			assert.Equal(t, tc.records, d.Records)
		})
	}
	assert.Empty(t, missing)
}

// A session that is set aside has the decisive timestamp in its reason, and keeps its state unless
// it was open.
func TestSkippedResumeStatesReason(t *testing.T) {
	d := reconcileResume(back(owner(session.Running, 9*day), owner(session.Lost, 9*day), owner(session.Archived, 9*day),
		owner(session.Completed, 9*day), owner(session.Failed, 9*day), owner(session.Abandoned, 26*time.Hour)))
	assert.Equal(t, allStale, d.Outcome)
	var abandoned []bool
	for _, s := range d.Stale {
		abandoned = append(abandoned, s.Abandon)
	}
	assert.Equal(t, []bool{true, true, false, false, false, false}, abandoned)
	assert.Equal(t, "no sign of life for 9d (threshold 24h), newest: last_turn_at 2026-02-23T12:00:00Z", d.Stale[0].Silence.String())
	assert.Equal(t, "no sign of life for 26h (threshold 24h), newest: last_turn_at 2026-03-03T10:00:00Z", d.Stale[5].Silence.String())
}

func anyFacts(t *rapid.T) resumeFacts {
	liveness := rapid.SampledFrom([]process.Liveness{process.Unknown, process.Alive, process.Gone})
	often := []bool{true, true, true, true, true, true, true, true, true, false}
	mostly := func(label string) bool { return rapid.SampledFrom(often).Draw(t, label) }
	f := resumeFacts{Now: noon, StaleAfter: rapid.SampledFrom([]time.Duration{0, day}).Draw(t, "threshold"), AgentSessionID: uuid.New(),
		Agent: writer(7).Identity, Alive: process.Alive, Nested: !mostly("nested"), Proven: mostly("proven"), Busy: !mostly("busy")}
	if !mostly("dead") {
		f.Alive = liveness.Draw(t, "alive")
	}
	if !mostly("bound") {
		f.Bound = rapid.SampledFrom([]uuid.UUID{uuid.Nil, uuid.New()}).Draw(t, "bound")
	}
	if !mostly("others") {
		f.Others = rapid.IntRange(1, 3).Draw(t, "other")
	}
	if !f.Proven || !mostly("objection") {
		f.Objection = "for a reason"
	}
	for range rapid.IntRange(0, 4).Draw(t, "owners") {
		states := []session.State{session.Lost, session.Failed, session.Abandoned, session.Archived, session.Running}
		if !mostly("any state") {
			states = session.States()
		}
		o := owner(rapid.SampledFrom(states).Draw(t, "state"), time.Duration(rapid.IntRange(-5, 50).Draw(t, "age"))*time.Hour)
		if !mostly("not gone") {
			o.Agent = liveness.Draw(t, "agent")
		}
		f.Owners = append(f.Owners, o)
	}
	return f
}

// For all facts there is one of the known outcomes with a reason, and at most one session moves,
// which may move.
func TestP1_ReconcileResumeMovesOnlyWithoutDoubt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			f := anyFacts(t)
			d := reconcileResume(f)
			if !slices.Contains(outcomes, d.Outcome) || d.Why == "" {
				t.Fatalf("%+v", d)
			}
			if (d.From != uuid.Nil) != (d.Outcome == sessionResumed) {
				t.Fatalf("%+v", d)
			}
			checkMove(t, f, d)
			for _, s := range d.Stale {
				o := f.Owners[slices.IndexFunc(f.Owners, func(o Owner) bool { return o.ID == s.ID })]
				if s.ID == d.From || len(f.Owners) < 2 || f.StaleAfter == 0 || f.Now.Sub(o.Sign.At) <= f.StaleAfter || o.mayRun() {
					t.Fatalf("%s is set aside: %+v", o.State, f)
				}
			}
		}
	})
}

func checkMove(t *rapid.T, f resumeFacts, d resume) {
	if d.From == uuid.Nil {
		return
	}
	o := f.Owners[slices.IndexFunc(f.Owners, func(o Owner) bool { return o.ID == d.From })]
	over := []session.State{session.Lost, session.Failed, session.Abandoned}
	may := slices.Contains(over, o.State) || o.State == session.Running && o.Agent == process.Gone
	if !may || f.Nested || f.Others > 0 || !f.Proven || f.Objection != "" || f.Alive != process.Alive || f.Busy {
		t.Fatalf("%s moves: %+v", o.State, f)
	}
	if slices.ContainsFunc(f.Owners, Owner.mayRun) {
		t.Fatalf("a session that may run has it: %+v", f)
	}
	if len(f.Owners)-len(d.Stale) != 1 {
		t.Fatalf("of %d sessions %d are set aside", len(f.Owners), len(d.Stale))
	}
}
