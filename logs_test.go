package ccbot_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"ccbot/internal/logkey"
	"ccbot/internal/loglimit"
)

// logged maps each constant message of the log to its positions and levels.
func logged(t *testing.T) map[string][]line {
	t.Helper()
	at := map[string]int{"Debug": 0, "Info": 0, "Warn": 0, "Error": 0, "DebugContext": 1, "InfoContext": 1, "WarnContext": 1, "ErrorContext": 1,
		"LogAttrs": 2, "warn": 2, "logFailure": 1} // the last two are of bot/inbox
	all := make(map[string][]line)
	for _, s := range product(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			fun, ok := call.Fun.(*ast.SelectorExpr)
			i, logs := 0, false
			if ok {
				i, logs = at[fun.Sel.Name]
			}
			if !logs || len(call.Args) <= i {
				return true
			}
			if text, ok := call.Args[i].(*ast.BasicLit); ok {
				message, err := strconv.Unquote(text.Value)
				assert.NoError(t, err)
				all[message] = append(all[message], line{strings.TrimSuffix(fun.Sel.Name, "Context"), s.fset.Position(call.Pos())})
			}
			return true
		})
	}
	assert.Greater(t, len(all), 100)
	return all
}

// line is a position that writes to the log.
type line struct {
	level string
	at    token.Position
}

// TestLogMessagesAreEvents requires a snake_case event name as the message of every log line,
// because an unknown sentence cannot be searched for. The one exception is an event that other
// programs search for.
func TestLogMessagesAreEvents(t *testing.T) {
	event := regexp.MustCompile(`^([a-z0-9]+(_[a-z0-9]+)*|Dropping stale window_state)$`)
	for message, lines := range logged(t) {
		assert.Regexp(t, event, message, lines[0].at)
	}
}

// TestP9_LogTakesErrorsNotTheirTexts: an error is logged as a value, because package wording masks
// the words of people in it. The text of an error cannot be masked.
func TestP9_LogTakesErrorsNotTheirTexts(t *testing.T) {
	seen := 0
	for _, s := range product(t) {
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
				seen++
				if made, ok := call.Args[i+1].(*ast.CallExpr); ok {
					fun, _ := made.Fun.(*ast.SelectorExpr)
					assert.True(t, fun != nil && (fun.Sel.Name == "CleanError" || fun.Sel.Name == "New"), s.fset.Position(made.Pos()))
				}
			}
			return true
		})
	}
	assert.Greater(t, seen, 100)
}

// TestOperationsPageHasEachEvent compares the lists in docs/operations.md with the log: each event
// above debug is there once, and no other.
func TestOperationsPageHasEachEvent(t *testing.T) {
	all := logged(t)
	var want, got []string
	for message, lines := range all {
		if slices.ContainsFunc(lines, func(l line) bool { return l.level != "Debug" }) {
			want = append(want, message)
		}
	}
	_, section, found := strings.Cut(pages(t)["docs/operations.md"], "\n## Log events\n")
	assert.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	for _, item := range strings.Split(section, "\n- ")[1:] {
		events, _, _ := strings.Cut(item, ":")
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(events, -1) {
			got = append(got, m[1])
		}
	}
	assert.ElementsMatch(t, want, got)
}

// TestP9_EventsDoNotFloodLog repeats each event of the program. A line that is left out is counted.
func TestP9_EventsDoNotFloodLog(t *testing.T) {
	levels := map[string]slog.Level{"Info": slog.LevelInfo, "Error": slog.LevelError}
	all := logged(t)
	synctest.Test(t, func(t *testing.T) {
		for message, lines := range all {
			level, ok := levels[lines[0].level]
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
