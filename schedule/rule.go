package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/robfig/cron/v3"

	"ccbot/internal/timespan"
	"ccbot/port/refusal"
)

// Errors of Parse.
var (
	ErrWhen  = refusal.New(refusal.TimeUnclear, "the time is not understood: it is like 08:00, tomorrow 08:00, 2026-01-31 08:00, weekday 09:00, day 09:00, mon,thu 18:30, every 2h, or a cron spec")
	ErrPast  = refusal.New(refusal.TimePast, "the time has passed")
	ErrNever = refusal.New(refusal.TimeNever, "the time never comes")
	ErrOften = refusal.New(refusal.TimeOften, "the interval is shorter than a minute")
)

// onceSpec and everySpec begin the specs of one time and of an interval. Other specs are cron's.
const (
	onceSpec  = "@at "
	everySpec = "@every "
)

// named are the sets of days that have a name, in the singular.
var named = map[string]string{"day": "*", "weekday": "1-5", "weekend": "0,6"}

// shortDays has the names of days as cron knows them.
var shortDays = strings.NewReplacer("sunday", "sun", "monday", "mon", "tuesday", "tue", "wednesday", "wed", "thursday", "thu", "friday", "fri", "saturday", "sat")

// The first words of a time may be at, for its first occurrence alone, or every, for all.
const (
	atWord    = "at"
	everyWord = "every"
)

// Parse returns the spec of a time as a person writes it. A clock time without a day is the next
// one in the zone, or comes every day.
func Parse(when string, now time.Time, zone *time.Location) (spec string, err error) {
	words, how := strings.Fields(strings.ToLower(when)), ""
	if len(words) > 1 && (words[0] == everyWord || words[0] == atWord) {
		how, words = words[0], words[1:]
	}
	words = joinClock(words)
	if n := len(words); n > 2 && words[n-2] == atWord { // every day at 9
		words = slices.Delete(words, n-2, n-1)
	}
	if len(words) == 1 && how == everyWord {
		if _, is := clockOf(words[0]); is {
			words = []string{"day", words[0]}
		}
	}
	if spec, err = specOf(words, now, zone); err != nil {
		return "", err
	}
	r, err := ruleOf(spec, now, zone)
	if err != nil || how == everyWord && !r.once.IsZero() {
		return "", ErrWhen
	}
	switch first := r.after(now); {
	case first.IsZero() && !r.once.IsZero():
		return "", ErrPast
	case first.IsZero():
		return "", ErrNever
	case how == atWord:
		return onceAt(first), nil
	}
	return spec, nil
}

// specOf returns the spec of the words of a time. It may be of no use.
func specOf(words []string, now time.Time, zone *time.Location) (string, error) {
	if len(words) == 5 {
		return strings.Join(words, " "), nil
	}
	clock, is := time.Time{}, false
	if n := len(words); n == 1 || n == 2 {
		clock, is = clockOf(words[n-1])
	}
	if !is {
		return intervalOf(words)
	}
	local := now.In(zone)
	on := func(year int, month time.Month, day int) time.Time {
		return instant(time.Date(year, month, day, clock.Hour(), clock.Minute(), 0, 0, time.UTC), zone)
	}
	today, tomorrow := on(local.Date()), on(local.Year(), local.Month(), local.Day()+1)
	switch {
	case len(words) == 1 && today.After(now), words[0] == "today":
		return onceAt(today), nil
	case len(words) == 1, words[0] == "tomorrow":
		return onceAt(tomorrow), nil
	}
	if date, err := time.Parse(time.DateOnly, words[0]); err == nil {
		return onceAt(on(date.Date())), nil
	}
	day := strings.NewReplacer("days", "day", "weekends", "weekend").Replace(words[0])
	days, is := named[day]
	if !is {
		if !isDays(words[0]) { // what cron takes besides may be a number of the text
			return "", ErrWhen
		}
		days = shortDays.Replace(day)
	}
	return fmt.Sprintf("%d %d * * %s", clock.Minute(), clock.Hour(), days), nil
}

func onceAt(t time.Time) string { return onceSpec + t.UTC().Format(time.RFC3339) }

// clockOf parses a time of the day.
func clockOf(word string) (clock time.Time, is bool) {
	for _, layout := range []string{"15:04", "15.04", "15", "3pm", "3:04pm", "3.04pm"} {
		if clock, err := time.Parse(layout, word); err == nil {
			return clock, true
		}
	}
	return clock, false
}

// isSpan reports whether words may be one time span: one word, a number and its unit, or several
// numbers with units.
func isSpan(words []string) bool {
	if len(words) == 2 && isNumber(words[0]) {
		return !strings.ContainsAny(words[1], "0123456789")
	}
	return len(words) == 1 || !slices.ContainsFunc(words, func(word string) bool {
		_, err := timespan.Parse(word)
		return err != nil || isNumber(word)
	})
}

// intervalOf returns the spec of a time span: 2h, 2 hours, hour.
func intervalOf(words []string) (string, error) {
	if !isSpan(words) {
		return "", ErrWhen
	}
	text := strings.Join(words, "")
	for _, unit := range []string{"minute", "min", "hour", "day"} {
		if n, is := strings.CutSuffix(strings.TrimSuffix(text, "s"), unit); is && (n != "" || unit == "hour") {
			text = cmp.Or(n, "1") + unit[:1]
		}
	}
	switch every, err := timespan.Parse(text); {
	case err != nil:
		return "", ErrWhen
	case every < time.Minute:
		return "", ErrOften
	default:
		return everySpec + every.String(), nil
	}
}

// maxWords limits the words of a time: every, and a cron spec.
const maxWords = 6

// Cut parts a text into the time at its beginning, the longest possible one, and the rest. when is
// empty if the text does not begin with a time, or the rest may be a part of it.
func Cut(text string, now time.Time, zone *time.Location) (when, rest string) {
	for n := maxWords; n > 0; n-- {
		rest = text
		for range n {
			rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
			rest = rest[strings.IndexFunc(rest+" ", unicode.IsSpace):]
		}
		when = strings.TrimSpace(strings.TrimSuffix(text, rest))
		if _, err := Parse(when, now, zone); !errors.Is(err, ErrWhen) {
			if goesOn(when, rest) {
				break
			}
			return when, strings.TrimSpace(rest)
		}
	}
	return "", text
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
