package i18n

import (
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

// written returns the text of a blank's value if it is a whole number, otherwise the value.
func (w Words) written(blank string, value any) any {
	switch n := value.(type) {
	case int:
		if !codes[blank] {
			return w.Number(int64(n))
		}
	case int64:
		return w.Number(n)
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
	for unit := range strings.SplitSeq(w.Say(FormatKey.Of("rounded")), "|") { // a power of ten and a suffix, the lowest first
		suffix := strings.TrimLeft(unit, "0123456789")
		size := float64(n)
		for power, _ := strconv.Atoi(strings.TrimSuffix(unit, suffix)); power > 0; power-- {
			size /= 10
		}
		if size < 0.9995 { // a unit below rounds to less than 1000
			break
		}
		text = w.short(size) + suffix
	}
	return text
}

// Size returns a number of bytes in the largest decimal unit that gives at least 1: 999 B, 1.5 kB,
// 432 MB. The zero Words write English.
func (w Words) Size(bytes int64) string {
	units, ok := find(w.all, FormatKey.Of("sizes"))
	if !ok {
		units, _ = find(builtIn[english](), FormatKey.Of("sizes"))
	}
	unit, larger, _ := strings.Cut(units.other, "|")
	if bytes < 1000 {
		return w.Number(bytes) + " " + unit
	}
	size := float64(bytes)
	for size >= 999.5 && larger != "" { // it is not rounded to 1000
		unit, larger, _ = strings.Cut(larger, "|")
		size /= 1000
	}
	return w.short(size) + " " + unit
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

// Clock returns a time of the day: 15:04.
func (w Words) Clock(at time.Time) string { return at.Local().Format(w.Say(FormatKey.Of("clock"))) }

// Seconds returns a time of the day with its seconds: 15:04:05.
func (w Words) Seconds(at time.Time) string { return at.Local().Format(w.Say(FormatKey.Of("seconds"))) }

// ShortDay returns a day in up to five digits and signs: 11/28.
func (w Words) ShortDay(at time.Time) string {
	return at.Local().Format(w.Say(FormatKey.Of("short_day")))
}

// Day returns a day, with its year if now is in another one: Nov 28.
func (w Words) Day(at, now time.Time) string {
	layout := FormatKey.Of("day")
	if at.Local().Year() != now.Local().Year() {
		layout = FormatKey.Of("date")
	}
	return at.Local().Format(w.Say(layout))
}

func isSameDay(a, b time.Time) bool {
	return a.Local().Format(time.DateOnly) == b.Local().Format(time.DateOnly)
}

// Moment returns a time, with its day if now is on another one: 15:04.
func (w Words) Moment(at, now time.Time) string {
	if isSameDay(at, now) {
		return w.Clock(at)
	}
	return w.Say(FormatKey.Of("moment"), Args{"Date": w.Day(at, now), "Time": w.Clock(at)})
}

// At returns a moment with its preposition: at 15:04.
func (w Words) At(at, now time.Time) string {
	args := Args{"Date": w.Day(at, now), "Time": w.Clock(at)}
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
