package tmux_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/tmux"
)

// BenchmarkServerMemory measures by how much the tmux server grows with each operation, over a pane
// with a full scrollback and a coloured screen. Run it with -benchtime=3000x: the first 500 are not
// counted, because the server's caches fill.
func BenchmarkServerMemory(b *testing.B) {
	r := ensured(b)
	script := `i=0; while [ $i -lt 2500 ]; do printf '\033[3%dm%0110d\033[0m\n' $((i % 8)) $i; i=$((i+1)); done; exec cat`
	pane := r.shell(b, "agent", script)
	g := tmux.Guard{Pane: pane.ID, PID: pane.PID}
	eventually(b, func() bool {
		p, err := r.Pane(b.Context(), pane.ID)
		return err == nil && p.Command == "cat" && p.Scrolled > 1700
	})
	operations := []struct {
		name string
		do   func() error
	}{
		{"answers", func() error { return r.Answers(b.Context()) }},
		{"pane", func() error { _, err := r.Pane(b.Context(), pane.ID); return err }},
		{"capture", func() error { _, err := r.Capture(b.Context(), pane.ID, 0); return err }},
		{"look", func() error { _, _, _, err := r.PaneAndScreen(b.Context(), pane.ID); return err }},
		{"viewers", func() error { _, err := r.Viewers(b.Context()); return err }},
		{"key", func() error { return r.Press(b.Context(), g, tmux.KeyUp) }},
		{"paste", func() error { return r.Paste(b.Context(), g, "x") }},
		{"rename", func() error { return r.Rename(b.Context(), g, "t/agent", "agent") }},
	}
	for _, o := range operations {
		b.Run(o.name, func(b *testing.B) {
			for range 500 {
				require.NoError(b, o.do())
			}
			before := r.resident(b)
			b.ResetTimer()
			for range b.N {
				require.NoError(b, o.do())
			}
			b.StopTimer()
			b.ReportMetric(float64(r.resident(b)-before)/float64(b.N), "server-B/op")
		})
	}
}

// A guard leaves nothing in the server: a branch of if-shell that runs is never freed.
func TestGuardLeavesNoMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the memory of a process is read in /proc")
	}
	r := ensured(t)
	pane := r.shell(t, "agent", "stty raw -echo; exec cat >/dev/null")
	g := tmux.Guard{Pane: pane.ID, PID: pane.PID, Command: "cat"}
	eventually(t, func() bool {
		p, err := r.Pane(t.Context(), pane.ID)
		return err == nil && p.Command == g.Command
	})
	press := func(n int) {
		for range n {
			require.NoError(t, r.Press(t.Context(), g, tmux.KeyUp))
		}
	}
	press(500) // the server's caches fill
	before := r.resident(t)
	const keys = 2000
	press(keys)
	assert.Less(t, r.resident(t)-before, keys*200, "a branch with one command takes more than 400 bytes")
}

// resident returns the private memory of the server in bytes.
func (r real) resident(b testing.TB) (bytes int) {
	b.Helper()
	server, err := r.Client.Server(b.Context())
	require.NoError(b, err)
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", server.PID))
	require.NoError(b, err)
	_, rest, _ := strings.Cut(string(data), "RssAnon:")
	_, err = fmt.Sscanf(rest, "%d", &bytes)
	require.NoError(b, err)
	return bytes << 10
}
