package schedule

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func zoneOf(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	require.NoError(t, err)
	return zone
}

// TestOccurrencesAtChangeOfTime is the gap and the repeated hour of each zone.
func TestOccurrencesAtChangeOfTime(t *testing.T) {
	for _, tt := range []struct {
		name, zone, spec string
		from             string // UTC
		want             []string
	}{
		{"gap: first minute after it", "Europe/Berlin", "30 2 * * *", "2027-03-26T12:00:00Z",
			[]string{"2027-03-27T02:30:00+01:00", "2027-03-28T03:00:00+02:00", "2027-03-29T02:30:00+02:00"}},
		{"gap: one for all its times", "Europe/Berlin", "*/20 2,3 * * *", "2027-03-28T00:00:00Z",
			[]string{"2027-03-28T03:00:00+02:00", "2027-03-28T03:20:00+02:00", "2027-03-28T03:40:00+02:00", "2027-03-29T02:00:00+02:00"}},
		{"repeated hour: the first pass", "Europe/Berlin", "30 2 * * *", "2027-10-30T12:00:00Z",
			[]string{"2027-10-31T02:30:00+02:00", "2027-11-01T02:30:00+01:00"}},
		{"repeated hour: from its second pass", "Europe/Berlin", "*/30 * * * *", "2027-10-31T01:10:00Z",
			[]string{"2027-10-31T03:00:00+01:00", "2027-10-31T03:30:00+01:00"}},
		{"repeated hour: through it", "Europe/Berlin", "*/30 * * * *", "2027-10-31T00:20:00Z",
			[]string{"2027-10-31T02:30:00+02:00", "2027-10-31T03:00:00+01:00"}},
		{"gap in New York", "America/New_York", "15 2 * * *", "2027-03-13T12:00:00Z",
			[]string{"2027-03-14T03:00:00-04:00", "2027-03-15T02:15:00-04:00"}},
		{"repeated hour in New York", "America/New_York", "0 1 * * *", "2027-11-06T12:00:00Z",
			[]string{"2027-11-07T01:00:00-04:00", "2027-11-08T01:00:00-05:00"}},
		{"gap of half an hour", "Australia/Lord_Howe", "15 2 * * *", "2027-10-02T00:00:00Z",
			[]string{"2027-10-03T02:30:00+11:00", "2027-10-04T02:15:00+11:00"}},
		{"repeated half hour", "Australia/Lord_Howe", "45 1 * * *", "2027-04-03T00:00:00Z",
			[]string{"2027-04-04T01:45:00+11:00", "2027-04-05T01:45:00+10:30"}},
		{"no change", "Asia/Kolkata", "30 2 * * 1-5", "2027-03-26T12:00:00Z",
			[]string{"2027-03-29T02:30:00+05:30", "2027-03-30T02:30:00+05:30"}},
		{"a day that is left out", "Pacific/Apia", "0 12 * * *", "2011-12-29T00:00:00Z",
			[]string{"2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00", "2011-12-31T12:00:00+14:00"}},
		{"an interval has no zone", "Europe/Berlin", "@every 12h0m0s", "2027-03-28T00:00:00Z",
			[]string{"2027-03-28T14:00:00+02:00", "2027-03-29T02:00:00+02:00"}},
		{"one time", "Europe/Berlin", "@at 2027-03-28T10:00:00Z", "2027-03-28T00:00:00Z", []string{"2027-03-28T12:00:00+02:00"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339, tt.from)
			require.NoError(t, err)
			r, err := ruleOf(tt.spec, at, zoneOf(t, tt.zone))
			require.NoError(t, err)
			var got []string
			for range tt.want {
				at = r.after(at)
				got = append(got, at.In(zoneOf(t, tt.zone)).Format(time.RFC3339))
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestParse(t *testing.T) {
	now := time.Date(2027, 3, 27, 8, 30, 0, 0, time.UTC) // 09:30 in Berlin, a Saturday
	for when, want := range map[string]string{
		"09:31": "@at 2027-03-27T08:31:00Z", "9:30": "@at 2027-03-28T07:30:00Z", "08:00": "@at 2027-03-28T06:00:00Z", "2:30": "@at 2027-03-28T01:00:00Z",
		"2027-04-01 08:00": "@at 2027-04-01T06:00:00Z", "weekday 09:00": "0 9 * * 1-5", "every weekday 9:05": "5 9 * * 1-5", "Day 08:00": "0 8 * * *",
		"weekend 10:00": "0 10 * * 0,6", "mon,thu 18:30": "30 18 * * mon,thu", "every 2h": "@every 2h0m0s", "1d": "@every 24h0m0s",
		"9": "@at 2027-03-28T07:00:00Z", "9:45": "@at 2027-03-27T08:45:00Z", "17.30": "@at 2027-03-27T16:30:00Z", "9pm": "@at 2027-03-27T20:00:00Z",
		"tomorrow 9": "@at 2027-03-28T07:00:00Z", "at today 23:00": "@at 2027-03-27T22:00:00Z", "at tomorrow at 2:30": "@at 2027-03-28T01:00:00Z",
		"at 2h": "@at 2027-03-27T10:30:00Z", "at 20 minutes": "@at 2027-03-27T08:50:00Z", "at Monday 9": "@at 2027-03-29T07:00:00Z", "at weekday 9": "@at 2027-03-29T07:00:00Z",
		"every 9": "0 9 * * *", "every day 9": "0 9 * * *", "every day at 9": "0 9 * * *", "every weekdays 9:00": "0 9 * * 1-5", "mon 9": "0 9 * * mon",
		"every friday 9": "0 9 * * fri", "every sundays 9": "0 9 * * sun", "mon-fri 9": "0 9 * * mon-fri", "monday,thursday 9": "0 9 * * mon,thu",
		"every hour": "@every 1h0m0s", "every 2 hours": "@every 2h0m0s", "every 90 min": "@every 1h30m0s", "every 2 days": "@every 48h0m0s",
		"0 9 * * 1-5": "0 9 * * 1-5", "*/10 * 1,15 * *": "*/10 * 1,15 * *",
	} {
		got, err := Parse(when, now, zoneOf(t, "Europe/Berlin"))
		assert.NoError(t, err, when)
		assert.Equal(t, want, got, when)
	}
	for when, want := range map[string]error{"": ErrWhen, "soon": ErrWhen, "25:00": ErrWhen, "every": ErrWhen, "mon": ErrWhen, "foo 09:00": ErrWhen, "every tomorrow 9": ErrWhen, "every day": ErrWhen,
		"every 2027-04-01 9": ErrWhen, "at 9 at": ErrWhen, "today 09:00": ErrPast, "every 10s": ErrOften,
		"2027-03-27 09:30": ErrPast, "30s": ErrOften, "0 0 31 2 *": ErrNever, "a b c": ErrWhen, "TZ=UTC 0 9 * * *": ErrWhen, "@reboot": ErrWhen, "0 9 * * 9": ErrWhen,
		"@every 1h": ErrWhen, "@at 2027-03-28T06:00:00Z": ErrWhen} {
		_, err := Parse(when, now, zoneOf(t, "Europe/Berlin"))
		assert.Equal(t, want, err, when)
	}
}

// TestP4_CutLosesNothing: the longest time at the beginning is cut off, and the rest stays as it
// is.
func TestP4_CutLosesNothing(t *testing.T) {
	now := time.Date(2027, 3, 27, 8, 30, 0, 0, time.UTC)
	for text, want := range map[string][2]string{
		"at 08:00 run the tests": {"at 08:00", "run the tests"}, "every weekday 9 run": {"every weekday 9", "run"}, "at 9 at home": {"at 9", "at home"},
		"every day at 9 5 things": {"every day at 9", "5 things"}, "every 2 hours  look\n\n  at it\n": {"every 2 hours", "look\n\n  at it"},
		"every 0 9 * * 1-5 run": {"every 0 9 * * 1-5", "run"}, "at\n08:00\nrun": {"at\n08:00", "run"}, "at 08:00": {"at 08:00", ""},
		"at 2027-03-27 07:00 run": {"at 2027-03-27 07:00", "run"}, "at some time run\nit": {"", "at some time run\nit"}, "every day": {"", "every day"}, "": {"", ""},
	} {
		when, rest := Cut(text, now, time.UTC)
		assert.Equal(t, want, [2]string{when, rest}, text)
	}
}

// TestP4_WordsOfTimeAreNotText: a time that goes on after the longest one that is understood is
// asked for, so that no prompt is sent at another time.
func TestP4_WordsOfTimeAreNotText(t *testing.T) {
	now := time.Date(2027, 3, 1, 7, 0, 0, 0, time.UTC) // a Monday
	for text, want := range map[string][3]string{
		"at 8:30 pm deploy": {"at 8:30 pm", "deploy", "@at 2027-03-01T20:30:00Z"}, "at 8.30 p.m. deploy": {"at 8.30 p.m.", "deploy", "@at 2027-03-01T20:30:00Z"},
		"every weekday 9 pm deploy": {"every weekday 9 pm", "deploy", "0 21 * * 1-5"}, "every day at 9 PM deploy": {"every day at 9 PM", "deploy", "0 21 * * *"},
		"at 8.30 Uhr deploy": {"at 8.30 Uhr", "deploy", "@at 2027-03-01T08:30:00Z"}, "at 9 o'clock deploy": {"at 9 o'clock", "deploy", "@at 2027-03-01T09:00:00Z"},
		"at tomorrow 9 pm deploy": {"at tomorrow 9 pm", "deploy", "@at 2027-03-02T21:00:00Z"}, "at 1h 30m deploy": {"at 1h 30m", "deploy", "@at 2027-03-01T08:30:00Z"},
		"every 1h 2 agents": {"every 1h", "2 agents", "@every 1h0m0s"}, "at 5 3 things to do": {"at 5", "3 things to do", "@at 2027-03-02T05:00:00Z"},
		"at 9:00 30 tests fail": {"at 9:00", "30 tests fail", "@at 2027-03-01T09:00:00Z"}, "at 9 bugs remain": {"at 9", "bugs remain", "@at 2027-03-01T09:00:00Z"},
		"at 9 today's report": {"at 9", "today's report", "@at 2027-03-01T09:00:00Z"}, "at 9 in the repository": {"at 9", "in the repository", "@at 2027-03-01T09:00:00Z"},
		"at 9 v1.2.3 is out": {"at 9", "v1.2.3 is out", "@at 2027-03-01T09:00:00Z"}, "every 2 days fix it": {"every 2 days", "fix it", "@every 48h0m0s"},
	} {
		when, rest := Cut(text, now, time.UTC)
		spec, err := Parse(when, now, time.UTC)
		assert.NoError(t, err, text)
		assert.Equal(t, want, [3]string{when, rest, spec}, text)
	}
	for _, text := range []string{
		"at 22:00 tomorrow deploy", "at 22:00 tomorrow: deploy", "at 9 fri deploy", "at 9 on fridays deploy", "every 9:00 weekday run", "every 9 mon,thu run", "every 9 mon-fri run",
		"at 10:00 2027-03-05 deploy", "at 10:00 5.3. deploy", "at 9 5 march deploy", "at 9 march 5th deploy", "at 9 5. März deploy", "at 10 30 minutes of work", "at 10 30 deploy",
		"at 9 uhr 30 deploy", "at 2h30 deploy", "at 13:30 pm deploy", "at 8:30 pm, deploy", "at 9 in the morning deploy", "at 9 and 17 deploy", "every 9 and at 17:00 run",
		"every 30m 9-17 run", "every hour from 9 to 17 run", "every 2h on weekdays run", "every 1h for 3 days run", "every 1 hour 30 minutes run", "at 9 UTC deploy", "at 9 Europe/Berlin run",
		"every */2 9 run", "at L 9 run", "at 9 every day deploy", "at 9 am Montag deploy", "at 9 abends deploy", "at 9 вечера deploy", "at 9:00 в пятницу запусти", "at 9 завтра запусти",
		"at 10 часов запусти", "at 10 минут запусти", "at 2 Stunden deploy", "at 9:00 明天部署", "at 9 下午部署", "at 9 点部署", "at 9 next week deploy",
	} {
		when, rest := Cut(text, now, time.UTC)
		assert.Equal(t, [2]string{"", text}, [2]string{when, rest}, text)
	}
	for _, when := range []string{"1 9:00", "*/2 9", "L 9", "sun,9 9", "10 30 minutes", "1h 2 days", "9 fri", "12 13 pm"} {
		_, err := Parse(when, now, time.UTC)
		assert.Equal(t, ErrWhen, err, when)
	}
}

// FuzzParse: a spec that is accepted has an occurrence, and is accepted again.
func FuzzParse(f *testing.F) {
	for _, when := range []string{"08:00", "weekday 09:00", "every 2h", "0 9 * * 1-5", "2027-04-01 08:00", "TZ=0 9 * * *"} {
		f.Add(when)
	}
	now, zone := time.Date(2027, 3, 28, 0, 30, 0, 0, time.UTC), zoneOf(f, "Europe/Berlin")
	f.Fuzz(func(t *testing.T, when string) {
		cut, rest := Cut(when, now, zone)
		assert.Equal(t, strings.Join(strings.Fields(when), ""), strings.Join(strings.Fields(cut+" "+rest), ""))
		spec, err := Parse(when, now, zone)
		if err != nil {
			return
		}
		r, err := ruleOf(spec, now, zone)
		require.NoError(t, err, spec)
		assert.True(t, r.after(now).After(now), spec)
	})
}

func TestDueIsLastOfMissedOnes(t *testing.T) {
	begin := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	minutes, err := ruleOf("* * * * *", begin, time.UTC)
	require.NoError(t, err)
	for _, tt := range []struct {
		name   string
		last   time.Time
		after  time.Duration
		want   time.Duration
		before int
	}{
		{"none", begin, 59 * time.Second, 0, 0},
		{"one", begin, 61 * time.Second, time.Minute, 0},
		{"several", begin, 10*time.Minute + time.Second, 10 * time.Minute, 9},
		{"the clock went back", begin.Add(time.Hour), 10 * time.Minute, 0, 0},
		{"many", begin, 20 * 24 * time.Hour, 20 * 24 * time.Hour, 20*24*60 - 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at, before := minutes.due(tt.last, begin.Add(tt.after))
			if tt.want == 0 {
				assert.Zero(t, at)
				return
			}
			assert.Equal(t, begin.Add(tt.want), at)
			assert.Equal(t, tt.before, before)
		})
	}
	at, before := minutes.due(begin.AddDate(-60, 0, 0), begin) // it does not take long
	assert.Equal(t, begin, at)
	assert.Greater(t, before, maxCounted)
}
