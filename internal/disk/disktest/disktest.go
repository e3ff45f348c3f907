package disktest

import (
	"fmt"
	"maps"
	"path"
	"regexp"
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

// Site is a call on a file: the function of ccbot that needs it, the function that it calls, and
// the call of package disk that this makes.
type Site struct{ Caller, Callee, Op string }

// Scenario is work with files. Begin prepares it, without faults, and returns the folder whose
// calls may fail. Act begins the work, and may return before the work is done. Check fails the test
// if the work is not done.
type Scenario interface {
	Begin(t *testing.T) (dir string)
	Act(t *testing.T)
	Check(t *testing.T)
}

// FailAll makes a call fail for each file of a folder, until heal is called or the test ends.
func FailAll(t *testing.T, op, dir string) (heal func()) {
	t.Helper()
	end := disk.Fail(func(is, path string) error {
		if is == op && strings.HasPrefix(path, dir+"/") {
			return syscall.EIO
		}
		return nil
	})
	t.Cleanup(end)
	return end
}

// length is how long a fault lasts: a number of calls, or a time.
type length struct {
	name  string
	calls int
	time  time.Duration
}

var lengths = []length{{"once", 1, 0}, {"ten times", 10, 0}, {"for a minute", 0, time.Minute}}

// Run runs a scenario without faults, and then with each fault of each of its calls that the table
// of calls leaves to this test. It fails the test if one of these calls is not made, or a call
// without a row is.
func Run(t *testing.T, scenario func() Scenario) {
	t.Helper()
	test := testName()
	seen := make(map[Site]bool)
	var mu sync.Mutex
	run(t, "without faults", scenario(), &fault{time: time.Minute}, func(s Site) error {
		mu.Lock()
		defer mu.Unlock()
		seen[s] = true
		return nil
	})
	require.False(t, t.Failed())
	rows, n := Rows(), 0
	for _, site := range slices.SortedFunc(maps.Keys(seen), compareSites) {
		i := slices.IndexFunc(rows, func(r Row) bool { return r.Has(site.Caller + " " + site.Callee) })
		if i < 0 {
			t.Errorf("%s has no row in the table of calls", site)
			continue
		}
		if rows[i].Why == test {
			rows[i].Used = true
			failEach(t, scenario, site, rows[i].Class == Reported, n)
			n++
		}
	}
	for _, r := range rows {
		if r.Why == test && !r.Used {
			t.Errorf("%s is not made", r)
		}
	}
}

// failEach fails one call once and ten times, each with one of the errors, and for a minute with
// each error.
func failEach(t *testing.T, scenario func() Scenario, site Site, reported bool, n int) {
	t.Helper()
	for _, l := range lengths {
		errors := Errors
		if l.time == 0 {
			n++
			errors = Errors[n%len(Errors):][:1]
		}
		for _, number := range errors {
			f := &fault{site: site, error: number, calls: l.calls, time: l.time, reported: reported}
			run(t, fmt.Sprintf("%s: %s %s", site, number, l.name), scenario(), f, f.fail)
		}
	}
}

func (s Site) String() string { return s.Caller + " " + s.Callee + " " + s.Op }

func compareSites(a, b Site) int { return strings.Compare(a.String(), b.String()) }

// testName is the test that has called Run, with its package.
func testName() string {
	pc, _, _, _ := runtime.Caller(2)
	name := strings.TrimPrefix(runtime.FuncForPC(pc).Name(), module)
	return strings.Replace(name, "_test.", ".", 1)
}

// run runs a scenario once. fail is called for each call in the scenario's folder; the fault has
// ended after its duration.
func run(t *testing.T, name string, s Scenario, f *fault, fail func(Site) error) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			dir := s.Begin(t)
			end := disk.Fail(func(op, path string) error {
				if path != dir && !strings.HasPrefix(path, dir+"/") {
					return nil
				}
				from, to := caller()
				return fail(Site{from, to, op})
			})
			defer end()
			if turns, ok := s.(*Turns); ok {
				turns.fault = f
			}
			lasts := f.duration() // of all its calls, before the turns begin
			s.Act(t)
			time.Sleep(lasts)
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
	// reported is set if the caller has to return the error.
	reported bool

	mu     sync.Mutex
	since  time.Time
	failed int
}

// count returns how many calls have failed.
func (f *fault) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
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
	f.failed++
	return f.error
}

const module = "ccbot/"

// layers are the packages that make calls for others.
var layers = []string{"internal/disk", "internal/spool", "internal/facts", "internal/ownfile"}

// IsLayer reports whether a package makes calls for others.
func IsLayer(pkg string) bool { return slices.Contains(layers, pkg) }

// caller returns the function of ccbot that makes the present call, without the names of functions
// in it, such as bot/inbox.Store.writeLocked, and the function of a layer that it calls, such as
// spool.Folder.Put.
func caller() (from, to string) {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		frame, more := frames.Next()
		function, ours := strings.CutPrefix(frame.Function, module)
		switch pkg := packageOf(function); {
		case ours && IsLayer(pkg):
			to = path.Base(Name(function))
		case ours && pkg != "internal/disk/disktest":
			return Name(function), to
		}
		if !more {
			return "unknown", to
		}
	}
}

// packageOf returns the package of a function.
func packageOf(function string) string {
	slash := strings.LastIndexByte(function, '/') + 1
	return function[:slash] + strings.SplitN(function[slash:], ".", 2)[0]
}

// generic matches the runtime's suffix of a generic type or function.
var generic = regexp.MustCompile(`\[[^\]]*\]`)

// Name is the name of a function, as the runtime knows it, in the form of the table of calls.
func Name(function string) string {
	function = generic.ReplaceAllString(strings.TrimPrefix(function, module), "")
	slash := strings.LastIndexByte(function, '/') + 1
	parts := strings.Split(function[slash:], ".")
	name := parts[0] + "." + strings.Trim(parts[1], "(*)")
	if strings.HasPrefix(parts[1], "(") && len(parts) > 2 {
		name += "." + parts[2]
	} else if len(parts) > 2 && !strings.HasPrefix(parts[2], "func") && !strings.HasPrefix(parts[2], "deferwrap") {
		name += "." + parts[2] // a method with a value receiver
	}
	return function[:slash] + name
}
