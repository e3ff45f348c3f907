package i18n

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/message"
	"golang.org/x/text/number"
)

// Numbers, sizes, amounts of money and times are written here only. golang.org/x/text has the
// digits, the separators and the percent sign of each language. The sentences format_… and age_…
// have the rest: the layouts of times are those of the package time, with digits or English names
// of months.

// codes are the blanks for whole numbers that are codes: they have no separators.
var codes = map[string]bool{"PID": true, "Status": true}

// written returns the text of a blank's value if it is a number, a duration or a time, otherwise
// the value. A time has its day and its year, because Words do not know what day it is.
func (w Words) written(blank string, value any) any {
	switch n := value.(type) {
	case time.Duration:
		return w.Age(n)
	case time.Time:
		return w.Moment(n, time.Time{})
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		if !codes[blank] {
			return w.decimal(n, 0)
		}
	case float32, float64:
		return message.NewPrinter(w.tag).Sprint(number.Decimal(n, number.MaxFractionDigits(2)))
	}
	return value
}

// decimal returns a number with some digits after the decimal separator.
func (w Words) decimal(n any, digits int) string {
	return message.NewPrinter(w.tag).Sprint(number.Decimal(n, number.Scale(digits)))
}

// short returns a number with one digit after the decimal separator if it is below 10, and without
// one otherwise.
func (w Words) short(n float64) string {
	if n < 9.95 {
		return w.decimal(n, 1)
	}
	return w.decimal(n, 0)
}

// Number returns a whole number: 12,345.
func (w Words) Number(n int64) string { return w.decimal(n, 0) }

// Percent returns a percentage as a whole number: 42%.
func (w Words) Percent(n float64) string {
	return message.NewPrinter(w.tag).Sprint(number.Percent(n/100, number.Scale(0)))
}

// Dollars returns an amount of dollars with some digits for the cents: $1.25.
func (w Words) Dollars(n float64, digits int) string {
	return w.Say(FormatKey.Of("dollars"), Args{"Cost": w.decimal(n, digits)})
}

// Rounded returns a large number in the largest unit that gives at least 1: 950, 1.2k, 12k, 1.2M.
func (w Words) Rounded(n int64) string {
	text := w.Number(n)
	units, _ := largeUnits(w.Say(FormatKey.Of("rounded")))
	for _, unit := range units {
		size := float64(n) / math.Pow10(unit.power)
		if size < 0.9995 { // a unit below rounds to less than 1000
			break
		}
		text = w.short(size) + unit.suffix
	}
	return text
}

// largeUnit stands for a power of ten.
type largeUnit struct {
	power  int
	suffix string
}

// largeUnits returns the units of a text such as 3k|6M|9B; ok, if each has a suffix, and the lowest
// is the first.
func largeUnits(text string) (all []largeUnit, ok bool) {
	power := 0
	for unit := range strings.SplitSeq(text, "|") {
		suffix := strings.TrimLeft(unit, "0123456789")
		next, _ := strconv.Atoi(strings.TrimSuffix(unit, suffix))
		if next <= power || strings.TrimSpace(suffix) == "" {
			return all, false
		}
		power, all = next, append(all, largeUnit{next, suffix})
	}
	return all, true
}

// isUsable reports whether a text is of use in the place of the English one: a layout must have the
// same parts of a time, and a list the same number of units.
func isUsable(key Key, own, english string) bool {
	switch key {
	case FormatKey.Of("clock"), FormatKey.Of("seconds"), FormatKey.Of("day"), FormatKey.Of("date"):
		return partsOf(own).Equal(partsOf(english))
	case FormatKey.Of("rounded"):
		_, ok := largeUnits(own)
		return ok
	case FormatKey.Of("sizes"):
		units := strings.Split(own, "|")
		isBlank := func(unit string) bool { return strings.TrimSpace(unit) == "" }
		return len(units) == strings.Count(english, "|")+1 && !slices.ContainsFunc(units, isBlank)
	}
	return true
}

// partsOf returns what is left of a time that is written and read with a layout.
func partsOf(layout string) time.Time {
	at, _ := time.Parse(layout, time.Date(2026, time.November, 28, 15, 42, 37, 0, time.UTC).Format(layout))
	return at
}

// Size returns a number of bytes in the largest decimal unit that gives at least 1: 999 B, 1.5 kB,
// 432 MB. The zero Words write English.
func (w Words) Size(bytes int64) string {
	units, ok := find(w.all, FormatKey.Of("sizes")) // each with the space before it
	if !ok {
		units, _ = find(builtIn[english](), FormatKey.Of("sizes"))
	}
	unit, larger, _ := strings.Cut(units.other, "|")
	if bytes < 1000 {
		return w.Number(bytes) + unit
	}
	size := float64(bytes)
	for size >= 999.5 && larger != "" { // it is not rounded to 1000
		unit, larger, _ = strings.Cut(larger, "|")
		size /= 1000
	}
	return w.short(size) + unit
}

// Age returns a duration in its largest unit: 5 min.
func (w Words) Age(d time.Duration) string {
	unit, size := "days", 24*time.Hour
	switch {
	case d < time.Minute:
		unit, size = "seconds", time.Second
	case d < time.Hour:
		unit, size = "minutes", time.Minute
	case d < 24*time.Hour:
		unit, size = "hours", time.Hour
	}
	return w.Say(AgeKey.Of(unit), Args{"Count": int(max(d, 0) / size)})
}

// clock returns a time of the day in now's time zone: 15:04.
func (w Words) clock(at, now time.Time) string {
	return at.In(now.Location()).Format(w.Say(FormatKey.Of("clock")))
}

// Seconds returns a time of the day in now's time zone, with its seconds: 15:04:05.
func (w Words) Seconds(at, now time.Time) string {
	return at.In(now.Location()).Format(w.Say(FormatKey.Of("seconds")))
}

// Day returns a day, with its year if now is in another one: Nov 28.
func (w Words) Day(at, now time.Time) string {
	layout := FormatKey.Of("day")
	if at = at.In(now.Location()); at.Year() != now.Year() {
		layout = FormatKey.Of("date")
	}
	return at.Format(w.Say(layout))
}

func isSameDay(a, b time.Time) bool {
	return a.In(b.Location()).Format(time.DateOnly) == b.Format(time.DateOnly)
}

// Moment returns a time, with its day if now is on another one: 15:04.
func (w Words) Moment(at, now time.Time) string {
	if isSameDay(at, now) {
		return w.clock(at, now)
	}
	return w.Say(FormatKey.Of("moment"), Args{"Date": w.Day(at, now), "Time": w.clock(at, now)})
}

// At returns a moment with its preposition: at 15:04.
func (w Words) At(at, now time.Time) string {
	args := Args{"Date": w.Day(at, now), "Time": w.clock(at, now)}
	if isSameDay(at, now) {
		return w.Say(FormatKey.Of("at"), args)
	}
	return w.Say(FormatKey.Of("at_day"), args)
}

// Since returns the moment when a time begins: since 15:04.
func (w Words) Since(at, now time.Time) string {
	return w.Say(FormatKey.Of("since"), Args{"Time": w.Moment(at, now)})
}

// Until returns the moment when a time ends: until 15:04.
func (w Words) Until(at, now time.Time) string {
	return w.Say(FormatKey.Of("until"), Args{"Time": w.Moment(at, now)})
}
