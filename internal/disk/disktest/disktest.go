// Package disktest makes calls on files fail and work again: each call that a test makes, once, ten
// times, and for a minute with each error that the system may return.
//
// The minute passes in the time of testing/synctest.
package disktest

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"ccbot/internal/disk"
)

// Errors are the errors that calls fail with.
var Errors = []syscall.Errno{syscall.EIO, syscall.EMFILE, syscall.ENOSPC, syscall.EROFS, syscall.EACCES}

// HealTime is how long after the end of a fault everything that was accepted must be handled.
const HealTime = 10 * time.Second

// Site is a call on a file: the function of ccbot that needs it, and the call of package disk.
type Site struct{ Caller, Op string }

// Scenario is work with files. Begin prepares it, without faults, and returns the folder whose calls
// may fail. Act begins the work, and may return before the work is done. Check fails the test if the work is
// not done.
type Scenario interface {
	Begin(t *testing.T) (dir string)
	Act(t *testing.T)
	Check(t *testing.T)
}

// length is how long a fault lasts: a number of calls, or a time.
type length struct {
	name  string
	calls int
	time  time.Duration
}

var lengths = []length{{"once", 1, 0}, {"ten times", 10, 0}, {"for a minute", 0, time.Minute}}

// Run runs a scenario without faults, and then with each fault of each of its calls. skip returns the
// reason for which a call may not fail, such as a call of the preparation; "" if it may. Run returns the
// functions of ccbot whose calls failed.
func Run(t *testing.T, scenario func() Scenario, skip func(Site) string) (callers []string) {
	t.Helper()
	seen := make(map[Site]bool)
	var mu sync.Mutex
	run(t, "without faults", scenario(), func(s Site) error {
		mu.Lock()
		defer mu.Unlock()
		seen[s] = true
		return nil
	}, time.Minute)
	require.False(t, t.Failed())
	failed := make(map[string]bool)
	for _, site := range slices.SortedFunc(maps.Keys(seen), func(a, b Site) int {
		return strings.Compare(a.Caller+a.Op, b.Caller+b.Op)
	}) {
		if skip(site) != "" {
			continue
		}
		failed[site.Caller] = true
		for n, l := range lengths {
			errors := Errors
			if l.time == 0 {
				errors = Errors[(len(failed)+n)%len(Errors):][:1] // another one for each call
			}
			for _, number := range errors {
				f := &fault{site: site, error: number, calls: l.calls, time: l.time}
				run(t, fmt.Sprintf("%s %s: %s %s", site.Caller, site.Op, number, l.name), scenario(), f.fail, f.duration())
			}
		}
	}
	return slices.Sorted(maps.Keys(failed))
}

// run runs a scenario once. fail is asked about each call in the scenario's folder; the faults have ended after
// longest.
func run(t *testing.T, name string, s Scenario, fail func(Site) error, longest time.Duration) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			dir := s.Begin(t)
			end := disk.Fail(func(op, path string) error {
				if path != dir && !strings.HasPrefix(path, dir+"/") {
					return nil
				}
				return fail(Site{caller(), op})
			})
			defer end()
			s.Act(t)
			time.Sleep(longest)
			end()
			time.Sleep(HealTime)
			synctest.Wait()
			s.Check(t)
		})
	})
}

// fault makes one call fail.
type fault struct {
	site  Site
	error error
	calls int
	time  time.Duration

	mu    sync.Mutex
	since time.Time
}

// duration is after which time the fault has ended: ten calls with the longest pause between them.
func (f *fault) duration() time.Duration { return max(f.time, time.Duration(f.calls)*5*time.Second) }

func (f *fault) fail(s Site) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s != f.site {
		return nil
	}
	if f.since.IsZero() {
		f.since = time.Now()
	}
	if f.time == 0 {
		if f.calls--; f.calls < 0 {
			return nil
		}
	} else if time.Since(f.since) >= f.time {
		return nil
	}
	return f.error
}

// layers are the packages that make calls for others.
var layers = []string{"ccbot/internal/disk.", "ccbot/internal/disk/", "ccbot/internal/spool.", "ccbot/internal/facts."}

// caller returns the function of ccbot that needs the present call, without the names of functions in
// it: bot/inbox.Store.writeLocked.
func caller() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		frame, more := frames.Next()
		layer := slices.ContainsFunc(layers, func(l string) bool { return strings.HasPrefix(frame.Function, l) })
		if !layer && strings.HasPrefix(frame.Function, "ccbot/") {
			return Name(frame.Function)
		}
		if !more {
			return "unknown"
		}
	}
}

// Name is the name of a function, as the runtime knows it, in the form of the table of calls.
func Name(function string) string {
	function = strings.TrimPrefix(function, "ccbot/")
	slash := strings.LastIndexByte(function, '/') + 1
	parts := strings.Split(function[slash:], ".")
	name := parts[0] + "." + strings.Trim(parts[1], "(*)")
	if strings.HasPrefix(parts[1], "(") && len(parts) > 2 {
		name += "." + parts[2]
	} else if len(parts) > 2 && !strings.HasPrefix(parts[2], "func") {
		name += "." + parts[2] // a method with a value receiver
	}
	return function[:slash] + name
}
