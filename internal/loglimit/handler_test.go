package loglimit

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// output is what a log writes; summaries come from another goroutine.
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
