package process

import (
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// BenchmarkScan measures one scan of the process table with 2,000 and with 10,000 additional
// processes: against the scan of peers for one session, and for fifty sessions against one. Both
// sides of a ratio are measured in turn, so that other load of the machine affects both.
func BenchmarkScan(b *testing.B) {
	for _, n := range []int{2000, 10000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) { benchmarkScan(b, n) })
	}
}

func benchmarkScan(b *testing.B, n int) {
	startSleepers(b, n)
	table, err := NewTable()
	require.NoError(b, err)
	ids := make([]uuid.UUID, 50)
	for i := range ids {
		ids[i] = uuid.New()
	}
	scan := func(ids ...uuid.UUID) func() {
		return func() {
			s, err := table.Snapshot(b.Context())
			require.NoError(b, err)
			require.Greater(b, len(s.Processes), n)
			require.Empty(b, Judge(s, nil, claudeNames, ids...))
		}
	}
	b.Run("one_id", func(b *testing.B) {
		one := scan(ids[0])
		b.ReportAllocs()
		for b.Loop() {
			one()
		}
	})
	b.Run("against_pgrep", func(b *testing.B) {
		path, err := exec.LookPath("pgrep")
		if err != nil {
			b.Skip("pgrep is not installed")
		}
		pgrep := func() { // it exits with 1 when nothing matches
			var exit *exec.ExitError
			err := exec.Command(path, "-f", "claude.*--resume "+ids[0].String()).Run()
			require.True(b, errors.As(err, &exit) && exit.ExitCode() == 1, "pgrep: %v", err)
		}
		ours, theirs := inTurn(b, scan(ids[0]), pgrep)
		b.ReportMetric(ms(ours), "scan_ms")
		b.ReportMetric(ms(theirs), "pgrep_ms")
		b.ReportMetric(float64(theirs)/float64(ours), "x_pgrep")
	})
	b.Run("fifty_ids", func(b *testing.B) {
		fifty, one := inTurn(b, scan(ids...), scan(ids[0]))
		b.ReportMetric(ms(fifty), "scan_ms")
		b.ReportMetric(float64(fifty)/float64(one), "x_one_id")
	})
}

// inTurn returns the medians.
func inTurn(b *testing.B, first, second func()) (time.Duration, time.Duration) {
	b.Helper()
	var took [2][]time.Duration
	for b.Loop() {
		for i, f := range []func(){first, second} {
			start := time.Now()
			f()
			took[i] = append(took[i], time.Since(start))
		}
	}
	b.ReportMetric(0, "ns/op") // it is the sum of two things
	for i := range took {
		slices.Sort(took[i])
	}
	return took[0][len(took[0])/2], took[1][len(took[1])/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// startSleepers starts them for the rest of the benchmark and ends them by pid, side by side.
func startSleepers(b *testing.B, n int) {
	b.Helper()
	var all []*exec.Cmd
	b.Cleanup(func() {
		var ending sync.WaitGroup
		for _, cmd := range all {
			ending.Go(func() {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			})
		}
		ending.Wait()
	})
	for range n {
		cmd := exec.Command("sleep", "600")
		require.NoError(b, cmd.Start())
		all = append(all, cmd)
	}
}
