package loglimit

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// output holds the lines that a log writes; summaries come from another goroutine.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func (o *output) Reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf.Reset()
}

// newLog returns a limited log and what it writes.
func newLog() (*slog.Logger, *output) {
	out := &output{}
	return slog.New(New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug}))), out
}

func lines(out *output, event string) int { return strings.Count(out.String(), "msg="+event+" ") }

func TestP9_RepeatedEventIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, out := newLog()
		flooded := log.With("key", "value")
		for range 10_000 {
			flooded.Warn("flooded", "n", 1)
		}
		log.Warn("other", "n", 1)
		assert.Equal(t, Burst, lines(out, "flooded"))
		assert.Equal(t, 1, lines(out, "other"))
		assert.Zero(t, lines(out, "log_lines_left_out"))
		time.Sleep(SummaryInterval)
		synctest.Wait()
		assert.Contains(t, out.String(), "msg=log_lines_left_out name=flooded count=9700\n")

		out.Reset()
		for range 100 {
			log.Warn("flooded", "n", 1)
		}
		assert.Equal(t, int(SummaryInterval/Interval), lines(out, "flooded"))
		time.Sleep(SummaryInterval)
		synctest.Wait()
		assert.Contains(t, out.String(), "name=flooded count=94\n")
		out.Reset()
		time.Sleep(10 * SummaryInterval)
		assert.Empty(t, out.String(), "a log at rest says nothing")
	})
}

// TestOrphanWindowsAreLogged: a start logs each window of a machine that has as many as it can,
// and a flood ends there.
func TestOrphanWindowsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, out := newLog()
		for range maxWindows {
			log.Warn("orphan_window", "window_id", "@1", "n", 1)
		}
		assert.Equal(t, maxWindows, lines(out, "orphan_window"))
		for range 1000 {
			log.Warn("orphan_window", "window_id", "@1", "n", 1)
		}
		assert.Equal(t, maxWindows, lines(out, "orphan_window"))
		time.Sleep(SummaryInterval)
		synctest.Wait()
		assert.Contains(t, out.String(), "name=orphan_window count=1000\n")
	})
}

func TestP9_RepeatedFaultIsLoggedEachMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, out := newLog()
		unlink := func(name string, number syscall.Errno) {
			log.Warn("not_removed", "name", name, "error", fmt.Errorf("tidy: %w", &os.PathError{Op: "unlink", Path: "/x", Err: number}))
		}
		unlink("file0", syscall.EIO)
		time.Sleep(time.Second / 2)
		for n := range 150 {
			unlink(fmt.Sprint("file", n+1), syscall.EIO)
			time.Sleep(time.Second)
		}
		assert.Equal(t, 3, lines(out, "not_removed"))
		assert.Contains(t, out.String(), `name=file0 error="tidy: unlink /x: input/output error"`+"\n")
		assert.Contains(t, out.String(), `name=file60 error="tidy: unlink /x: input/output error" count=60`)
		unlink("other", syscall.EROFS)
		assert.Equal(t, 4, lines(out, "not_removed"), "another fault")
		time.Sleep(2 * FaultInterval)
		assert.Equal(t, 5, lines(out, "not_removed"), "the rest")
		unlink("again", syscall.EIO)
		assert.Equal(t, 6, lines(out, "not_removed"), "a new fault")
		time.Sleep(2 * FaultInterval)
	})
}

func TestP9_DebugLinesAreLimitedToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, out := newLog()
		for range 2 * debugBurst {
			log.Debug("seen", "n", 1)
		}
		log.Info("seen", "n", 1)
		assert.Equal(t, debugBurst+1, lines(out, "seen"))
		time.Sleep(SummaryInterval)
		synctest.Wait()
	})
}

func TestP9_LongValuesAreCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, out := newLog()
		long := strings.Repeat("x", 1<<20)
		log.With("a", long).Warn("long", "b", long, "error", errors.New(long), "n", 7)
		assert.Less(t, len(out.String()), 4*MaxValue)
		assert.Contains(t, out.String(), "x… b=x")
		assert.Contains(t, out.String(), "x… n=7\n")
	})
}
