package archive

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port/talk"
)

// noon is a wall clock; the sweeps run on another.
var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// quietLook is the Status of an unused session.
func quietLook(active time.Time) view.Status {
	return view.Status{Phase: talk.PhaseIdle, Attachment: view.Detached, Active: active}
}

func running(id uuid.UUID) session.Record {
	return session.Record{ID: id, Name: "api", Dir: "/src/api", State: session.Running, AgentSessionID: uuid.New(),
		CreatedAt: noon, ActiveAt: noon}
}

// at is one quiet look, with changes.
func at(id uuid.UUID, when time.Duration, changes ...func(*Seen)) Seen {
	s := Seen{Record: running(id), Status: quietLook(noon), At: when}
	for _, change := range changes {
		change(&s)
	}
	return s
}

// within are looks at sessions that are archived after the same time.
func within(after time.Duration, seen ...Seen) []Seen {
	for i := range seen {
		seen[i].After = after
	}
	return seen
}

// sweep passes each scan to one Idle and returns the indexes at which the session was due.
func sweep(after time.Duration, looks ...[]Seen) (due []int) {
	var idle Idle
	for i, seen := range looks {
		var found []Due
		idle, found = idle.Sweep(interval(after), within(after, seen...))
		if len(found) > 0 {
			due = append(due, i)
		}
	}
	return due
}

func TestSweep(t *testing.T) {
	id := uuid.New()
	const after = time.Hour // one scan every 5 minutes
	every := func(n int, changes ...func(*Seen)) (looks [][]Seen) {
		for i := range n {
			looks = append(looks, []Seen{at(id, time.Duration(i)*5*time.Minute, changes...)})
		}
		return looks
	}
	with := func(looks [][]Seen, i int, change func(*Seen)) [][]Seen {
		change(&looks[i][0])
		return looks
	}
	tests := []struct {
		name  string
		after time.Duration
		looks [][]Seen
		want  []int
	}{
		{"one look says nothing of the time before it", after, every(1), nil},
		{"a look before its time", after, every(12), nil},
		{"its time", after, every(13), []int{12}},
		{"it stays due until it is archived", after, every(15), []int{12, 13, 14}},
		{"off", 0, every(100), nil},
		{"a sign of life begins again", after, with(every(13), 12, func(s *Seen) { s.Status.Active = noon.Add(time.Second) }), nil},
		{"so does one that dates from before", after, with(every(13), 12, func(s *Seen) { s.Status.Active = noon.Add(-time.Hour) }), nil},
		{"the same moment in another zone is the same", after,
			with(every(13), 5, func(s *Seen) { s.Status.Active = noon.In(time.FixedZone("x", 3600)) }), []int{12}},
		{"not there in between", after, func() [][]Seen { l := every(13); l[6] = nil; return l }(), nil},
		{"and the whole time after that", after, func() [][]Seen { l := every(20); l[6] = nil; return l }(), []int{19}},
		{"a look that comes late", after, [][]Seen{{at(id, 0)}, {at(id, 10*time.Minute)}}, nil},
		{"ccbot stood still", after, [][]Seen{{at(id, 0)}, {at(id, 100*time.Hour)}}, nil},
		{"and still counts what it saw before that", after,
			append(every(12), []Seen{at(id, 100*time.Hour)}), []int{12}},
		{"a clock that went back", after, [][]Seen{{at(id, 100*time.Hour)}, {at(id, 0)}, {at(id, 5*time.Minute)}}, nil},
		{"one with schedules of its own, once a day", after, every(12*25+13, func(s *Seen) { s.Status.Schedules = 1 }), []int{12, 12 + 12*24}},
		{"and whether it does something or not", after, with(every(12*25+14, func(s *Seen) { s.Status.Schedules = 1 }), 20,
			func(s *Seen) { s.Status.Active = noon.Add(time.Second) }), []int{12, 12 + 12*24}},
		{"what waits to be typed", after, every(30, func(s *Seen) { s.Record.Prompts = []string{"7"} }), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, sweep(tt.after, tt.looks...))
		})
	}
}

// interruptions returns the events that restart a session's time.
func interruptions() map[string]func(*Seen) {
	all := map[string]func(*Seen){
		"a prompt waits":       func(s *Seen) { s.Record.Prompts = []string{"7"} },
		"a background command": func(s *Seen) { s.Status.Background = true },
		"a background agent":   func(s *Seen) { s.Status.Agents = 1 },
		"nothing is known":     func(s *Seen) { s.Status = view.Status{} },
		"no phase":             func(s *Seen) { s.Status.Phase = "" },
	}
	for _, p := range []talk.Phase{talk.PhaseUnknown, talk.PhaseWorking, talk.PhaseWaitingPermission,
		talk.PhaseWaitingAnswer} {
		all["phase "+string(p)] = func(s *Seen) { s.Status.Phase = p }
	}
	for name, d := range map[string]view.Attachment{"unknown": view.AttachmentUnknown, "attached": view.Attached,
		"typing": view.PersonTyping} {
		all["desk "+name] = func(s *Seen) { s.Status.Attachment = d }
	}
	for _, state := range session.States() {
		if state != session.Running {
			all["state "+string(state)] = func(s *Seen) { s.Record.State = state }
		}
	}
	return all
}

// TestP6_UnknownSessionIsNeverDue also holds that one such look in the
// middle begins the whole time again.
func TestP6_UnknownSessionIsNeverDue(t *testing.T) {
	for name, interrupt := range interruptions() {
		t.Run(name, func(t *testing.T) {
			id := uuid.New()
			var always, once [][]Seen
			for i := range 25 {
				when := time.Duration(i) * 5 * time.Minute
				always = append(always, []Seen{at(id, when, interrupt)})
				if i == 11 {
					once = append(once, []Seen{at(id, when, interrupt)})
					continue
				}
				once = append(once, []Seen{at(id, when)})
			}
			assert.Empty(t, sweep(time.Hour, always...))
			assert.Equal(t, []int{24}, sweep(time.Hour, once...), "an hour after the first quiet look that follows")
		})
	}
}

func TestSweepSaysWhatItDecidedOn(t *testing.T) {
	quiet, busy := uuid.New(), uuid.New()
	working := func(s *Seen) { s.Status.Phase = talk.PhaseWorking }
	idle, _ := Idle{}.Sweep(interval(time.Minute), within(time.Minute, at(quiet, 0), at(busy, 0, working)))
	before := idle
	for i := range 7 {
		when := time.Duration(i+1) * 10 * time.Second
		var due []Due
		idle, due = idle.Sweep(interval(time.Minute), within(time.Minute, at(quiet, when), at(busy, when, working)))
		if i < 5 {
			require.Empty(t, due, "look %d", i)
			continue
		}
		assert.Equal(t, []Due{{Session: quiet, Since: noon, Quiet: when}}, due)
	}
	_, due := before.Sweep(interval(time.Minute), within(time.Minute, at(quiet, 10*time.Second)))
	assert.Empty(t, due, "an earlier memory is as it was")
	idle, _ = idle.Sweep(interval(time.Minute), nil)
	assert.Empty(t, idle.silences, "what is not there any more is forgotten")
}

func TestInterval(t *testing.T) {
	for _, tt := range []struct {
		name        string
		after, want time.Duration
	}{
		{"the default", 6 * time.Hour, 10 * time.Minute},
		{"a day", 24 * time.Hour, 10 * time.Minute},
		{"an hour", time.Hour, 5 * time.Minute},
		{"a minute", time.Minute, 5 * time.Second},
		{"a second", time.Second, time.Second},
		{"none", 0, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, interval(tt.after)) })
	}
}

// glance is one scan in the life of a session, as a property test keeps it.
type glance struct {
	at     time.Duration
	active time.Time
	quiet  bool
}

// vouched computes the proven silence at the last scan from all scans of this run of ccbot,
// independently of Sweep.
func vouched(looks []glance, most time.Duration) (length time.Duration) {
	for i := len(looks) - 1; i > 0; i-- {
		now, before := looks[i], looks[i-1]
		if !now.quiet || !before.quiet || !now.active.Equal(before.active) {
			break
		}
		length += min(now.at-before.at, most)
	}
	return length
}

// TestSessionIsDueOnlyAfterSilence draws random lives: ccbot goes down and comes back, the machine
// sleeps, the wall clock jumps, agents work, people come to the terminal. The wall clock dates
// signs of life, the other one counts silence.
func TestSessionIsDueOnlyAfterSilence(t *testing.T) {
	reasons := interruptions()
	var names []string
	for name := range reasons {
		names = append(names, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		after := rapid.SampledFrom([]time.Duration{2 * time.Second, time.Minute, time.Hour, 6 * time.Hour}).Draw(t, "after")
		id, wall, active := uuid.New(), noon, noon
		var clock time.Duration
		var idle Idle
		var looks []glance
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"wait", "wait", "wait", "wait", "sign", "busy", "down", "asleep", "jump"}).Draw(t, "step") {
			case "sign":
				active = wall
			case "down": // the memory and the clock are ccbot's
				wall, clock, idle, looks = wall.Add(10*after), 0, Idle{}, nil
			case "asleep":
				wall = wall.Add(10 * after) // the other clock stands
			case "jump":
				wall = wall.Add(time.Duration(rapid.IntRange(-100, 100).Draw(t, "jump")) * after)
			case "busy":
				s := at(id, clock, reasons[rapid.SampledFrom(names).Draw(t, "why")])
				var due []Due
				idle, due = idle.Sweep(interval(after), within(after, s))
				require.Empty(t, due)
				looks = append(looks, glance{at: clock, active: s.Status.Active})
			case "wait":
				step := time.Duration(rapid.Int64Range(0, int64(3*interval(after))).Draw(t, "step"))
				clock, wall = clock+step, wall.Add(step)
			}
			s := at(id, clock, func(s *Seen) { s.Status.Active = active })
			var due []Due
			idle, due = idle.Sweep(interval(after), within(after, s))
			looks = append(looks, glance{at: clock, active: active, quiet: true})
			length := vouched(looks, 2*interval(after))
			require.Equal(t, length >= after, len(due) == 1, "seen quiet for %s of %s", length, after)
			if len(due) == 1 {
				first := looks[0].at
				require.GreaterOrEqual(t, clock-first, after, "longer than ccbot has been looking")
				require.Equal(t, Due{Session: id, Since: active, Quiet: length}, due[0])
			}
		}
	})
}
