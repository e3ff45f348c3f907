package schedule

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/longtest"
	"ccbot/internal/session"
	"ccbot/lifecycle/outcome"
	"ccbot/port"
	"ccbot/port/refusal"
)

// TestP8_TenThousandDays: a simulated machine restarts, is killed at the steps of a schedule,
// sleeps, and has a clock that jumps; turns are long, loops come and go, and the session is lost.
// No occurrence is sent twice, and each one is sent or reported. The occurrences are counted minute
// by minute, by code that shares nothing with the package. A short run lives a fifth of the days.
func TestP8_TenThousandDays(t *testing.T) {
	zones := []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"}
	for i, zone := range zones {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, zone, uint64(i))
			m.live(longtest.Size(2_000, 10_000) / len(zones))
			m.account()
		})
	}
}

// machine is a simulated machine with schedules.
type machine struct {
	*world
	rand   *rand.Rand
	begin  time.Time
	until  time.Time // the latest time that its clock has shown
	ends   time.Time // of the turn that runs
	loopTo time.Time
	die    int // steps until it is killed; 0: it is not
	added  map[uuid.UUID]Schedule
	sent   map[uuid.UUID]map[int64]int // for each schedule and second
	told   map[uuid.UUID][]port.ScheduleReport
	counts map[string]int
}

type killed struct{}

func newMachine(t *testing.T, zone string, seed uint64) *machine {
	m := &machine{world: newWorld(t), rand: rand.New(rand.NewPCG(seed, 1)), begin: monday, until: monday, added: make(map[uuid.UUID]Schedule),
		sent: make(map[uuid.UUID]map[int64]int), told: make(map[uuid.UUID][]port.ScheduleReport), counts: make(map[string]int)}
	m.zone = zone
	m.boot()
	for i, when := range []string{"day 02:30", "day 02:15", "day 01:45", "weekday 09:00", "mon,thu 18:30", "0 3,15 1-15 * *", "every 36h"} {
		s := m.add(when, func(q *port.ScheduleRequest) { q.SkipMissed = i%2 == 1 })
		m.added[s.ID], m.sent[s.ID] = s, make(map[int64]int)
	}
	return m
}

// simulated is the engine of a machine.
type simulated struct {
	*fakeEngine
	m *machine
}

func (e simulated) Keep(ctx context.Context, id, key uuid.UUID, text string) error {
	had := len(e.order)
	err := e.fakeEngine.Keep(ctx, id, key, text)
	if len(e.order) > had {
		e.turn, e.m.ends = outcome.Open, e.m.now.Add(e.m.upTo(time.Hour))
		if e.m.rand.IntN(20) == 0 {
			e.m.ends = e.m.now.Add(e.m.upTo(60 * time.Hour))
		}
		for _, s := range e.m.list() {
			if s.Run != nil && s.Key() == key {
				e.m.sent[s.ID][s.Run.At.Unix()]++
			}
		}
	}
	return err
}

func (e simulated) Tell(_ context.Context, s Schedule, r port.ScheduleReport) error {
	if !assert.ObjectsAreEqual(r, last(e.m.told[s.ID])) { // a crash may repeat it
		e.m.told[s.ID] = append(e.m.told[s.ID], r)
	}
	return nil
}

// last returns the last one, if there is one.
func last(all []port.ScheduleReport) (r port.ScheduleReport) {
	if len(all) > 0 {
		r = all[len(all)-1]
	}
	return r
}

// boot begins a new Keeper for the same files.
func (m *machine) boot() {
	m.restart()
	m.folder.Fsync, m.Engine = false, simulated{m.engine, m}
	m.Failpoint = func(string) {
		if m.die > 0 {
			if m.die--; m.die == 0 {
				panic(killed{})
			}
		}
	}
}

func (m *machine) upTo(d time.Duration) time.Duration { return time.Duration(m.rand.Int64N(int64(d))) }

// look looks at the clock, and at what else has changed. It reports whether it was killed.
func (m *machine) look() (dead bool) {
	defer func() {
		if v := recover(); v != nil {
			if _, is := v.(killed); !is {
				panic(v)
			}
			dead = true
		}
	}()
	if m.until = maxTime(m.until, m.now); !m.now.Before(m.ends) {
		m.engine.turn = outcome.Answered
	}
	m.engine.loop = m.now.Before(m.loopTo)
	m.advance(m.t.Context())
	return false
}

// live lets days pass.
func (m *machine) live(days int) {
	for m.until.Before(m.begin.AddDate(0, 0, days)) {
		next := m.now.Add(time.Duration(1+m.rand.IntN(24)) * time.Hour)
		for _, s := range m.list() {
			if at := s.Next; at.Before(next) {
				next = at
			}
		}
		m.now = maxTime(m.now, next).Add(m.upTo(idleInterval)) // it looks twice a minute
		if m.rand.IntN(8) == 0 {
			m.disturb()
		}
		if m.look() {
			m.counts["killed"]++
			m.boot()
		}
	}
	m.die, m.loopTo, m.ends = 0, time.Time{}, m.now
	m.look()
	m.look()
}

// disturb does one of the things that happen to a machine.
func (m *machine) disturb() {
	what := []string{"restart", "kill", "off", "suspend", "forward", "back", "lost", "loop", "refused"}[m.rand.IntN(9)]
	m.counts[what]++
	switch what {
	case "restart":
		m.boot()
	case "kill":
		m.die = 1 + m.rand.IntN(4)
	case "off":
		m.now = m.now.Add(m.upTo(80 * time.Hour))
		m.engine.turn = outcome.SessionEnded
		m.engine.record.State = session.Lost
		m.boot()
	case "suspend":
		m.now = m.now.Add(m.upTo(30 * time.Hour))
	case "forward":
		m.now = m.now.Add(m.upTo(50 * time.Hour))
	case "back":
		m.now = m.now.Add(-m.upTo(50 * time.Hour))
	case "lost":
		m.engine.record.State = session.Lost
	case "loop":
		m.loopTo = m.now.Add(m.upTo(40 * time.Hour))
	case "refused":
		m.engine.record.State, m.engine.refused = session.Lost, &refusal.Error{Code: refusal.Writers}
		m.look()
		m.engine.refused = nil
	}
}

// account compares what was sent and reported with the occurrences.
func (m *machine) account() {
	total := make(map[string]int)
	for id, s := range m.added {
		all := m.occurrences(s)
		index := make(map[int64]int, len(all))
		for i, at := range all {
			index[at] = i
		}
		fate := make([][]string, len(all))
		for at, n := range m.sent[id] {
			i, is := index[at]
			require.True(m.t, is, "%s: sent at %s, which is no occurrence", s.When, time.Unix(at, 0).UTC())
			require.Equal(m.t, 1, n, "%s: sent twice at %s", s.When, time.Unix(at, 0).UTC())
			fate[i] = append(fate[i], "sent")
		}
		for _, r := range m.told[id] {
			if r.Reason == port.SkipClockBack {
				total["clock_back"]++
				continue
			}
			i, is := index[r.At.Unix()]
			require.True(m.t, is, "%s: reported %+v, which is no occurrence", s.When, r)
			for left := i - r.Left; left < i; left++ {
				fate[left] = append(fate[left], "left out")
			}
			if r.Reason != "" {
				fate[i] = append(fate[i], string(r.Reason))
			} else {
				assert.Contains(m.t, fate[i], "sent")
			}
		}
		for i, f := range fate {
			require.Len(m.t, f, 1, "%s at %s: sent or reported once", s.When, time.Unix(all[i], 0).UTC())
			total[f[0]]++
		}
	}
	m.t.Log("disturbed:", m.counts)
	m.t.Log("occurrences:", total)
	for _, want := range []string{"sent", "left out", "missed", "busy", "loop", "not_resumed", "clock_back"} {
		assert.NotZero(m.t, total[want], want)
	}
	for _, want := range slices.Sorted(maps.Keys(m.counts)) {
		assert.NotZero(m.t, m.counts[want], want)
	}
}

// occurrences counts, minute by minute, the seconds at which a schedule is due.
func (m *machine) occurrences(s Schedule) (all []int64) {
	if d, is := strings.CutPrefix(s.Spec, everySpec); is {
		every, err := time.ParseDuration(d)
		require.NoError(m.t, err)
		for at := s.CreatedAt.Add(every); !at.After(m.until); at = at.Add(every) {
			all = append(all, at.Unix())
		}
		return all
	}
	due := matcher(s.Spec)
	minute := func(at time.Time) int64 { return at.Unix() / 60 }
	at := s.CreatedAt.In(zoneOf(m.t, m.zone))
	_, offset := at.Zone()
	_, change := at.ZoneBounds()
	newest := minute(at) + int64(offset/60) // the latest wall-clock minute so far
	for at = at.Add(time.Minute); !at.After(m.until); at = at.Add(time.Minute) {
		if !change.IsZero() && !at.Before(change) {
			_, offset = at.Zone()
			_, change = at.ZoneBounds()
		}
		is := false
		for wall := minute(at) + int64(offset/60); newest < wall; { // more than one: a gap; none: the second pass of a repeated hour
			newest++
			is = due(newest) || is
		}
		if is {
			all = append(all, at.Unix())
		}
	}
	return all
}

// matcher reports whether a wall-clock minute is in a simple cron spec.
func matcher(spec string) func(minute int64) bool {
	days := map[string]int{"mon": 1, "thu": 4}
	var sets [5]map[int]bool
	for i, field := range strings.Fields(spec) {
		sets[i] = make(map[int]bool)
		for _, one := range strings.Split(strings.Replace(field, "*", "0-99", 1), ",") {
			low, high, span := strings.Cut(one, "-")
			from, is := days[low]
			if !is {
				from, _ = strconv.Atoi(low)
			}
			until := from
			if span {
				until, _ = strconv.Atoi(high)
			}
			for n := from; n <= until; n++ {
				sets[i][n] = true
			}
		}
	}
	return func(minute int64) bool {
		if !sets[0][int(minute%60)] || !sets[1][int(minute/60%24)] {
			return false
		}
		day := time.Unix(minute*60, 0).UTC()
		return sets[2][day.Day()] && sets[4][int(day.Weekday())]
	}
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
