// Package waittest waits in tests for what will happen, however long the machine takes to do it.
//
// A test has no limit of its own: a machine that stands still for a minute would make it fail. A wait
// ends after ten minutes, because what takes longer never comes and the tests beside it go on, or
// shortly before go test's -timeout, so that the test says what it waited for. In a synctest bubble
// these are minutes of its own time.
package waittest

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// reserve is how long before the end of go test's own time a wait gives up. The failure must be
// printed before that, and the clean-up of the test takes time, too.
const reserve = 15 * time.Second

// most is the longest wait.
const most = 10 * time.Minute

// The pauses between two looks.
const (
	shortest = time.Millisecond
	longest  = 20 * time.Millisecond
)

// Until looks again and again until done returns true. what says in the words of fmt.Sprintf what
// the test waits for; a func() string among its arguments is called for the failure only.
func Until(t testing.TB, done func() bool, what ...any) {
	t.Helper()
	end, limited := soon(t)
	for pause := shortest; !done(); pause = min(2*pause, longest) {
		if limited && time.Now().After(end) {
			t.Fatal(missing(what))
		}
		time.Sleep(pause)
	}
}

// Next waits for a value of a channel, or for its end, and returns the value. what is as for Until.
func Next[T any](t testing.TB, c <-chan T, what ...any) T {
	t.Helper()
	var late <-chan time.Time // nil waits for ever
	if end, limited := soon(t); limited {
		late = time.After(time.Until(end))
	}
	select {
	case v := <-c:
		return v
	case <-late:
		t.Fatal(missing(what))
	}
	panic("not reached")
}

// Context returns a context for calls that end by themselves. It ends with a wait that begins now, and
// lasts during the clean-up of the test.
func Context(t testing.TB) context.Context {
	t.Helper()
	end, limited := soon(t)
	if !limited {
		return context.Background()
	}
	ctx, cancel := context.WithDeadline(context.Background(), end)
	t.Cleanup(cancel)
	return ctx
}

// soon returns when a single wait that begins now gives up.
func soon(t testing.TB) (end time.Time, limited bool) {
	end, limited = limit(t)
	if last := time.Now().Add(most); limited && last.Before(end) {
		end = last
	}
	return end, limited
}

// limit returns when all waits give up. Benchmarks and fuzz targets have no limit.
func limit(t testing.TB) (end time.Time, limited bool) {
	defer func() {
		if recover() != nil { // a bubble has no deadline
			end, limited = time.Now().Add(most), true
		}
	}()
	if d, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if end, limited = d.Deadline(); limited {
			end = end.Add(-min(reserve, time.Until(end)/10))
		}
	}
	return end, limited
}

func missing(what []any) string {
	said := "it never came"
	if len(what) > 0 {
		args := make([]any, 0, len(what))
		for _, a := range what[1:] {
			if f, ok := a.(func() string); ok {
				a = f()
			}
			args = append(args, a)
		}
		said = fmt.Sprintf(fmt.Sprint(what[0]), args...)
	}
	return "waited ten minutes, or until the end of go test's own time: " + said
}
