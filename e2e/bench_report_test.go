//go:build bench

package e2e

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// row is a line of the table.
type row struct {
	title  string
	target string
	unit   string
	of     func(measured) float64
}

// measured returns the samples of a figure of one side.
type measured func(figure string) []float64

// at returns a function for the given percentile of the samples.
func at(percent float64, figure string) func(measured) float64 {
	return func(f measured) float64 {
		all := slices.Sorted(slices.Values(f(figure)))
		if len(all) == 0 {
			return math.NaN()
		}
		return all[min(len(all)-1, int(float64(len(all))*percent/100))]
	}
}

func half(figure string) func(measured) float64 { return at(50, figure) }
func most(figure string) func(measured) float64 { return at(100, figure) }

// more returns the relative difference of two figures, in parts.
func more(figure, than string, parts float64) func(measured) float64 {
	return func(f measured) float64 { return (half(figure)(f) - half(than)(f)) / parts }
}

var rows = []row{
	{"a message → its text in the pane, p50", "25", "ms", half("pasted")},
	{"a message → its text in the pane, p95", "60", "ms", at(95, "pasted")},
	{"a message → the agent has it, p50", "", "ms", half("submitted")},
	{"a line of a transcript → the request on the wire, p50", "10", "ms", half("answer")},
	{"a line of a transcript → the request on the wire, p99", "100", "ms", at(99, "answer")},
	{"ten sessions ask: a tap → the hook's decision, p95", "60", "ms", at(95, "approval")},
	{"the hook, start to end, p50", "", "ms", half("hook")},
	{"100 idle sessions, a minute: processor of ccbot and tmux", "100", "ms", half("idle 100")},
	{"100 idle sessions, a minute: processes started", "0", "", most("processes 100")},
	{"100 idle sessions, a minute: files written", "1", "", most("files 100")},
	{"100 idle sessions, a minute: system calls of ccbot", "", "", half("calls 100")},
	{"10 idle sessions: memory", "30", "MB", half("memory 10")},
	{"100 idle sessions: memory", "40", "MB", half("memory 100")},
	{"100 idle sessions, a minute: more memory", "0", "MB", half("growth 100")},
	{"100 sessions, 10 lines a second each: processor of ccbot", "0.6", "cores", half("busy bot")},
	{"the same: processor of tmux", "", "cores", half("busy tmux")},
	{"the same: an answer of a current session, p50", "", "ms", half("busy answer")},
	{"the same: an answer of a current session, p99", "500", "ms", at(99, "busy answer")},
	{"the same: memory at most", "", "MB", half("busy memory")},
	{"a start until the first poll, nothing there", "100", "ms", half("poll archived 0")},
	{"a start until the first poll, 3,000 archived", "500", "ms", half("poll archived 3000")},
	{"the same: commands to tmux, more than with none", "0", "", more("commands archived 3000", "commands archived 0", 1)},
	{"`/list`, 3,000 archived", "20", "ms", half("list archived 3000")},
	{"a start until the first poll, 100 running", "", "ms", half("poll 100")},
	{"`/list`, 100 running", "", "ms", half("list 100")},
	{"3,000 archived: more memory", "20", "MB", more("memory archived 3000", "memory archived 0", 1)},
	{"each archived record: memory", "6", "KB", more("memory archived 3000", "memory archived 0", 3000.0/1024)},
	{"a transcript of 500 MB: `/resume` until the agent starts", "300", "ms", half("resume 500 MB")},
	{"the same: read of it by `/resume`", "", "MB", half("resume read 500 MB")},
	{"the same: [Connect] until it is connected", "300", "ms", half("adopt 500 MB")},
	{"the same: read of it by [Connect]", "", "MB", half("adopt read 500 MB")},
	{"the same: a page of `/history`", "300", "ms", half("history 500 MB")},
	{"the same: more memory at most", "10", "MB", half("memory 500 MB")},
	{"a line of 10 MB: more memory at most", "50", "MB", half("memory long line")},
	{"the same: an answer of another session, at most", "100", "ms", most("beside a long line")},
	{"a look at 2,000 processes: times faster than pgrep -f", "at least 4", "×", half("pgrep 2000")},
	{"a look at 10,000 processes: times faster than pgrep -f", "at least 4", "×", half("pgrep 10000")},
	{"a look at 10,000 processes, in looks at 2,000", "5", "×",
		func(f measured) float64 { return half("scan 10000")(f) / half("scan 2000")(f) }},
	{"a turn: memory that stays in the tmux server", "1", "KB", half("tmux memory")},
	{"ccbot, as released", "31", "MB", half("size ccbot")},
	{"ccbot-hook, as released", "3.1", "MB", half("size ccbot-hook")},
}

// marks stand around the table in its page.
const (
	tableBegin = "<!-- made by make bench -->\n"
	tableEnd   = "<!-- end of what make bench makes -->\n"
)

// missed marks a figure of this run that misses its target.
const missed = ", missed"

// misses reports whether a figure misses a target such as "≤ 25 ms" or "at least 4".
func misses(t *testing.T, target, shown string) bool {
	if target == "" {
		return false
	}
	number := func(text string) float64 {
		value, err := strconv.ParseFloat(regexp.MustCompile(`[0-9.]+`).FindString(text), 64)
		require.NoError(t, err, text)
		return value
	}
	if strings.HasPrefix(target, "at least") {
		return number(shown) < number(target)
	}
	return number(shown) > number(target)
}

// load returns the load average of the last minute.
func load() string {
	data, _ := os.ReadFile("/proc/loadavg") // unknown on other systems
	words := strings.Fields(string(data) + " unknown")
	return words[0]
}

// report writes the table into its page, next to the figures of the previous run, and draws the
// curves. before is the machine's load at the start of the run.
func report(t *testing.T, samples map[string][]float64, before string) {
	side := func(name string) measured { return func(figure string) []float64 { return samples[name+" "+figure] } }
	page, err := os.ReadFile(benchReport)
	if os.IsNotExist(err) {
		page, err = []byte(tableBegin+tableEnd), nil
	}
	require.NoError(t, err)
	head, rest, found := strings.Cut(string(page), tableBegin)
	old, after, ended := strings.Cut(rest, tableEnd)
	require.True(t, found && ended, "%s has no place for the table", benchReport)
	previous := make(map[string][]string) // the cells of each line, by its title
	for line := range strings.Lines(old) {
		if cells := strings.Split(strings.TrimSpace(line), " | "); len(cells) == 5 {
			previous[strings.TrimPrefix(cells[0], "| ")] = cells
		}
	}
	const columns = "| | Target | This run | The run before | Times the baseline |\n|---|---:|---:|---:|---:|\n"
	table, fresh := columns, columns
	for _, r := range rows {
		value, compared := r.of(side(now)), r.of(side(baseline))
		cells := previous[r.title]
		if math.IsNaN(value) { // not measured in this run
			if cells != nil {
				table += strings.Join(cells, " | ") + "\n"
			}
			continue
		}
		target, ratio, last := r.target, "", ""
		if target != "" && !strings.HasPrefix(target, "at") {
			target = strings.TrimSpace("≤ " + target + " " + r.unit)
		}
		if !math.IsNaN(compared) && compared != 0 {
			ratio = fmt.Sprintf("%.2f", value/compared)
		}
		if cells != nil {
			last = strings.TrimSuffix(cells[2], missed)
		}
		shown := strings.TrimSpace(short(value) + " " + r.unit)
		if misses(t, target, shown) {
			shown += missed
		}
		line := fmt.Sprintf("| %s | %s | %s | %s | %s |\n", r.title, target, shown, last, ratio)
		table, fresh = table+line, fresh+line
	}
	table += fmt.Sprintf("\n(The last run: %d cores, with a load of %s before it and %s after it.)\n",
		runtime.NumCPU(), before, load())
	t.Logf("\n%s", fresh)
	require.NoError(t, os.WriteFile(benchReport, []byte(head+tableBegin+table+tableEnd+after), 0o644))
	for name, all := range growths {
		if benchCurves != "" && len(side(now)(fmt.Sprint(all[0].figure, all[0].sizes[0]))) > 0 { // measured in this run
			require.NoError(t, os.WriteFile(filepath.Join(benchCurves, name), []byte(curves(all, side)), 0o644))
		}
	}
}

// short shows a number with about three digits.
func short(v float64) string {
	switch {
	case math.Abs(v) >= 100 || v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case math.Abs(v) >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
