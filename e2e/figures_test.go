//go:build figures

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
)

// TestFigures starts ccbot in households of several sizes and logs a row for each: what the start took of the
// processor and read, and what ccbot keeps in memory. It asserts nothing. The figures are of a program as people have
// it, without the race detector, so the test has a build tag and runs alone.
func TestFigures(t *testing.T) {
	binaries = t.TempDir()
	for _, name := range []string{"ccbot", "ccbot-hook", "ccbot-try"} {
		out, err := exec.Command("go", "build", "-o", binaries+"/"+name, "ccbot/cmd/"+name).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	for _, size := range []struct{ archived, running int }{{0, 0}, {3000, 0}, {0, 10}, {0, 50}, {3000, 10}} {
		t.Run(fmt.Sprintf("%d archived, %d running", size.archived, size.running), func(t *testing.T) {
			w := newWorld(t, "LOG_LEVEL=info")
			w.start()
			for i := range size.running {
				w.open(fmt.Sprint("s", i), w.dir)
			}
			w.stop()
			w.archived(size.archived)
			b := w.start()
			cpu, read := b.figure("stat", `\) \S+(?: \S+){10} (\d+ \d+)`), b.figure("io", `rchar: (\d+)`)
			time.Sleep(10 * time.Second) // the memory of the start is given back, as far as the runtime does so
			t.Logf("| %d | %d | %d ms | %.1f MB | %.0f MB | %.0f MB |", size.archived, size.running, cpu*10, float64(read)/1e6,
				float64(b.figure("status", `VmHWM:\s+(\d+)`))/1e3, float64(b.figure("status", `VmRSS:\s+(\d+)`))/1e3)
			w.stop()
		})
	}
}

// archived writes the records of sessions that are over, each with a history of 30 lines.
func (w *world) archived(n int) {
	store, now := w.store(), time.Now().UTC()
	for i := range n {
		r := session.Record{ID: uuid.New(), Name: fmt.Sprint("old-", i), Dir: w.dir, Host: "desk", State: session.Archived,
			ClaudeSessionID: uuid.New(), CreatedAt: now.Add(-time.Hour), StartedAt: now.Add(-time.Hour), EndedAt: now}
		for line := range 30 {
			r.Note(now, "chat.note", fmt.Sprintf("line %d of the history of session %d", line, i))
		}
		require.NoError(w.t, store.Create(r))
	}
}

// figure is the sum of the numbers that a file of the process in /proc tells.
func (b *botProcess) figure(file, pattern string) (sum int) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", b.cmd.Process.Pid, file))
	if err != nil {
		return 0
	}
	if m := regexp.MustCompile(pattern).FindSubmatch(data); m != nil {
		for _, word := range strings.Fields(string(m[1])) {
			n, _ := strconv.Atoi(word) // the pattern has digits only
			sum += n
		}
	}
	return sum
}
