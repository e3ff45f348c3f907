package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"ccbot/internal/timespan"
)

// Errors of Parse.
var (
	ErrWhen  = errors.New("the time is not understood: it is like 08:00, 2026-01-31 08:00, weekday 09:00, day 09:00, mon,thu 18:30, every 2h, or a cron spec")
	ErrPast  = errors.New("the time has passed")
	ErrNever = errors.New("the time never comes")
	ErrOften = errors.New("the interval is shorter than a minute")
)

// onceSpec and everySpec begin the specs of one time and of an interval. Other specs are cron's.
const (
	onceSpec  = "@at "
	everySpec = "@every "
)

// named are the sets of days that have a name.
var named = map[string]string{"day": "*", "weekday": "1-5", "weekend": "0,6"}

// Parse returns the spec of a time as a person writes it. A clock time without a day is the next
// one in the zone.
func Parse(when string, now time.Time, zone *time.Location) (spec string, err error) {
	words := strings.Fields(strings.ToLower(when))
	if len(words) > 1 && words[0] == "every" {
		words = words[1:]
	}
	switch len(words) {
	case 1:
		if clock, err := time.Parse("15:04", words[0]); err == nil {
			return Parse(nextDay(clock, now, zone), now, zone)
		}
		every, err := timespan.Parse(words[0])
		switch {
		case err != nil:
			return "", ErrWhen
		case every < time.Minute:
			return "", ErrOften
		}
		return everySpec + every.String(), nil
	case 2:
		if wall, err := time.Parse(clockOnDay, strings.Join(words, " ")); err == nil {
			if at := instant(wall, zone); at.After(now) {
				return onceSpec + at.UTC().Format(time.RFC3339), nil
			}
			return "", ErrPast
		}
		clock, err := time.Parse("15:04", words[1])
		if err != nil {
			return "", ErrWhen
		}
		days, is := named[words[0]]
		if !is {
			days = words[0]
		}
		spec = fmt.Sprintf("%d %d * * %s", clock.Minute(), clock.Hour(), days)
	case 5:
		spec = strings.Join(words, " ")
	}
	r, err := ruleOf(spec, now, zone)
	switch {
	case err != nil:
		return "", ErrWhen
	case r.after(now).IsZero():
		return "", ErrNever
	}
	return spec, nil
}

const clockOnDay = time.DateOnly + " 15:04"

// nextDay is the next time with a clock time, as a person writes it.
func nextDay(clock, now time.Time, zone *time.Location) string {
	local := now.In(zone)
	wall := time.Date(local.Year(), local.Month(), local.Day(), clock.Hour(), clock.Minute(), 0, 0, time.UTC)
	if !instant(wall, zone).After(now) {
		wall = wall.AddDate(0, 0, 1)
	}
	return wall.Format(clockOnDay)
}

// rule computes the occurrences of a spec.
type rule struct {
	once  time.Time     // zero: it is not one time
	every time.Duration // counted from begin; 0: the spec is not an interval
	begin time.Time
	walls cron.Schedule // of wall-clock times, which stand as times of UTC
	zone  *time.Location
}

func ruleOf(spec string, begin time.Time, zone *time.Location) (r rule, err error) {
	if at, is := strings.CutPrefix(spec, onceSpec); is {
		r.once, err = time.Parse(time.RFC3339, at)
		return r, err
	}
	walls, err := cron.ParseStandard(spec)
	if err != nil {
		return r, err
	}
	if d, is := walls.(cron.ConstantDelaySchedule); is {
		return rule{every: d.Delay, begin: begin}, nil
	}
	return rule{walls: walls, zone: zone}, nil
}

// after returns the first occurrence after a time. It returns zero if there is none.
func (r rule) after(t time.Time) time.Time {
	switch {
	case r.once.After(t):
		return r.once
	case !r.once.IsZero():
		return time.Time{}
	case r.every > 0:
		return r.begin.Add((max(0, t.Sub(r.begin)/r.every) + 1) * r.every)
	}
	// Of a repeated hour the second pass has the wall-clock times of the first one again, and each of
	// them is before t.
	for wall := wallOf(t, r.zone); ; {
		if wall = r.walls.Next(wall); wall.IsZero() {
			return wall
		}
		if at := instant(wall, r.zone); at.After(t) {
			return at
		}
	}
}

// wallOf returns the wall-clock time in a zone, as a time of UTC.
func wallOf(t time.Time, zone *time.Location) time.Time {
	_, offset := t.In(zone).Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// instant returns the first time with a wall-clock time in a zone. For one in a gap it is the end
// of the gap.
func instant(wall time.Time, zone *time.Location) time.Time {
	at := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, zone)
	begin, end := at.ZoneBounds()
	for _, change := range []time.Time{begin, end} {
		if change.IsZero() {
			continue
		}
		_, was := change.Add(-time.Second).Zone()
		_, is := change.Zone()
		before, after := wall.Sub(wallOf(change.Add(-time.Second), zone))-time.Second, wall.Sub(wallOf(change, zone))
		switch {
		case was < is && before >= 0 && after < 0: // in the gap
			return change.UTC()
		case was > is && before < 0 && after >= 0: // in the repeated time
			return change.Add(before).UTC()
		}
	}
	return at.UTC()
}

// maxCounted limits the missed occurrences that are counted one by one, and longAgo the part of a
// longer absence that is searched for the last one.
const (
	maxCounted = 1000
	longAgo    = 366 * 24 * time.Hour
)

// due returns the last occurrence after last up to now, and how many were before it, or at least
// maxCounted. It returns zero if there is none.
func (r rule) due(last, now time.Time) (at time.Time, before int) {
	n := -1
	for next := r.after(last); !next.IsZero() && !next.After(now); next = r.after(last) {
		at, last = next, next
		if n++; n == maxCounted && now.Add(-longAgo).After(last) {
			last = now.Add(-longAgo)
		}
	}
	return at, max(0, n)
}
