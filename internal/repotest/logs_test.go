package repotest

import (
	"fmt"
	"go/ast"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/i18n"
	"ccbot/internal/logkey"
	"ccbot/internal/loglimit"
	"ccbot/internal/sysfault"
)

// line is a position that writes to the log.
type line struct{ level, at string }

// logCalls are the functions that write to the log, with the argument that is the message.
var logCalls = map[string]int{"Debug": 0, "Info": 0, "Warn": 0, "Error": 0, "DebugContext": 1, "InfoContext": 1, "WarnContext": 1, "ErrorContext": 1,
	"LogAttrs": 2, "warn": 2, "logFailure": 1} // the last two are of bot/inbox

// logged maps each constant message of the log to its positions and levels.
func logged(t *tree) map[string][]line {
	all := make(map[string][]line)
	for _, s := range t.product() {
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			fun, ok := call.Fun.(*ast.SelectorExpr)
			i, logs := 0, false
			if ok {
				i, logs = logCalls[fun.Sel.Name]
			}
			if !logs || len(call.Args) <= i {
				return true
			}
			if text, ok := call.Args[i].(*ast.BasicLit); ok {
				if message, err := strconv.Unquote(text.Value); err == nil {
					all[message] = append(all[message], line{strings.TrimSuffix(fun.Sel.Name, "Context"), t.at(call)})
				}
			}
			return true
		})
	}
	return all
}

// eventName also matches the one event that other programs search for.
var eventName = regexp.MustCompile(`^([a-z0-9]+(_[a-z0-9]+)*|Dropping stale window_state)$`)

// TestLogMessagesAreEvents requires a snake_case event name as the message of every log line,
// because an unknown sentence cannot be searched for.
func TestLogMessagesAreEvents(t *testing.T) {
	holds(t, func(t *tree) (faults []string) {
		for message, lines := range logged(t) {
			if !eventName.MatchString(message) {
				faults = append(faults, fmt.Sprintf("%s: %q is no name of an event; write it in snake_case, and what varies as attributes", lines[0].at, message))
			}
		}
		return faults
	}, wrong{map[string]string{"loop/x.go": "package loop\n\nfunc f() { log.Warn(\"Cannot read\") }\n"}, `loop/x.go:3:12: "Cannot read" is no name`})
}

// TestP9_LogTakesErrorsNotTheirTexts: an error is logged as a value, because package wording masks
// the words of people in it. The text of an error cannot be masked.
func TestP9_LogTakesErrorsNotTheirTexts(t *testing.T) {
	holds(t, func(t *tree) (faults []string) {
		for _, s := range t.product() {
			ast.Inspect(s.file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				for i, arg := range call.Args {
					key, ok := arg.(*ast.SelectorExpr)
					if !ok || key.Sel.Name != "Error" || fmt.Sprint(key.X) != "logkey" || i+1 == len(call.Args) {
						continue
					}
					if made, ok := call.Args[i+1].(*ast.CallExpr); ok {
						if fun, _ := made.Fun.(*ast.SelectorExpr); fun == nil || fun.Sel.Name != "CleanError" && fun.Sel.Name != "New" {
							faults = append(faults, t.at(made)+": log the error itself, because the words of people in its text cannot be masked")
						}
					}
				}
				return true
			})
		}
		return faults
	}, wrong{map[string]string{"loop/x.go": "package loop\n\nfunc f() { log.Warn(\"unread\", logkey.Error, err.Error()) }\n"}, "loop/x.go:3:45: log the error itself"})
}

const events = "docs/operations.md"

var code = regexp.MustCompile("`([^`]+)`")

// TestOperationsPageHasEachEvent compares the lists in docs/operations.md with the log: each event
// above debug is there once, and no other.
func TestOperationsPageHasEachEvent(t *testing.T) {
	small := map[string]string{"loop/x.go": "package loop\n\nfunc f() { log.Warn(\"loop_lost\"); log.Debug(\"loop_seen\") }\n", events: "\n## Log events\n\n- `loop_gone`: it is gone\n"}
	twice := map[string]string{"loop/x.go": small["loop/x.go"], events: "\n## Log events\n\n- `loop_lost`, `loop_lost`: it is gone\n"}
	holds(t, operationsPageHasEachEvent, wrong{small, "loop_lost: " + events + " has no item"}, wrong{small, "loop_gone: the program"}, wrong{twice, "loop_lost: " + events + " has it twice"})
}

func operationsPageHasEachEvent(t *tree) (faults []string) {
	var want, got []string
	for message, lines := range logged(t) {
		if slices.ContainsFunc(lines, func(l line) bool { return l.level != "Debug" }) {
			want = append(want, message)
		}
	}
	for _, item := range strings.Split(t.section(events, "## Log events"), "\n- ")[1:] {
		names, _, _ := strings.Cut(item, ":")
		for _, m := range code.FindAllStringSubmatch(names, -1) {
			if slices.Contains(got, m[1]) {
				faults = append(faults, m[1]+": "+events+" has it twice")
			}
			got = append(got, m[1])
		}
	}
	return append(faults, differences(want, got, events+" has no item of this event; say what it means and what to do", "the program does not log this event; take it out of "+events)...)
}

// TestP9_EventsDoNotFloodLog repeats each event of the program. A line that is left out is counted.
func TestP9_EventsDoNotFloodLog(t *testing.T) {
	levels := map[string]slog.Level{"Info": slog.LevelInfo, "Error": slog.LevelError}
	here, err := workingTree()
	require.NoError(t, err)
	all := logged(here)
	require.Greater(t, len(all), 100)
	synctest.Test(t, func(t *testing.T) {
		for _, message := range slices.Sorted(maps.Keys(all)) {
			level, ok := levels[all[message][0].level]
			if !ok {
				level = slog.LevelWarn
			}
			seen := &counter{}
			log := slog.New(loglimit.New(slog.NewJSONHandler(seen, nil)))
			burst := loglimit.BurstOf(message)
			flood := 10 * burst
			for range flood {
				log.Log(t.Context(), level, message, logkey.Error, "again")
			}
			count, _ := seen.read()
			assert.Equal(t, burst, count, message)
			time.Sleep(loglimit.SummaryInterval)
			synctest.Wait()
			count, last := seen.read()
			assert.Equal(t, burst+1, count, message)
			assert.Contains(t, last, `"count":`+strconv.Itoa(flood-burst)+"}", message)
		}
	})
}

// counter counts the lines of a log.
type counter struct {
	mu    sync.Mutex
	lines int
	last  string
}

func (c *counter) read() (lines int, last string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lines, c.last
}

func (c *counter) Write(line []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines, c.last = c.lines+1, string(line)
	return len(line), nil
}

// TestSystemFaultsHaveSentences compares the table of faults with the sentences of each language.
func TestSystemFaultsHaveSentences(t *testing.T) {
	for _, kind := range sysfault.Kinds() {
		assert.Empty(t, withoutSentence(string(kind)))
	}
	assert.Len(t, withoutSentence("flooded"), len(i18n.Languages()), "the rule finds a fault without a sentence")
}

// withoutSentence returns the languages that have no sentence for a fault.
func withoutSentence(kind string) (faults []string) {
	words := i18n.Load(func(string) string { return "" })
	for _, lang := range i18n.Languages() {
		if said := words.For(lang).Say(i18n.SystemKey.Of(kind), i18n.Args{"Dir": "/x"}); said == "" || strings.Contains(said, "system_") {
			faults = append(faults, "i18n/locales/"+lang+".json has no system_"+kind)
		}
	}
	return faults
}
