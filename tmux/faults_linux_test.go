package tmux_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"ccbot/internal/process"
	"ccbot/internal/sysfault"
	"ccbot/tmux"
)

// The server cannot start another process, before or after the placeholder is made: the error names
// that, no window is left, and the next start works.
func TestServerWithoutProcesses_AsUser(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("SKIPPED: the limit of processes does not hold for root")
	}
	for _, step := range []string{"", "window-tagged"} {
		t.Run("at "+step, func(t *testing.T) {
			r := ensured(t)
			server, err := r.Server(t.Context())
			require.NoError(t, err)
			before, err := r.Panes(t.Context())
			require.NoError(t, err)
			var limit unix.Rlimit
			require.NoError(t, unix.Prlimit(server.PID, unix.RLIMIT_NPROC, nil, &limit))
			allow := func(processes uint64) {
				require.NoError(t, unix.Prlimit(server.PID, unix.RLIMIT_NPROC, &unix.Rlimit{Cur: processes, Max: limit.Max}, nil))
			}
			spec := tmux.Spec{Name: "api", Tag: "t/1", Dir: "/", Argv: []string{"/bin/sleep", "1000"}}
			spec.At = func(at string) {
				if at == step {
					allow(0)
				}
			}
			spec.At("")
			_, err = r.NewWindow(t.Context(), spec)
			assert.Equal(t, sysfault.Processes, sysfault.Of(err), "%v", err)
			require.NotErrorIs(t, err, tmux.ErrLost)
			after, err := r.Panes(t.Context())
			require.NoError(t, err)
			assert.Len(t, after, len(before))
			allow(limit.Cur)
			spec.At = nil
			_, err = r.NewWindow(t.Context(), spec)
			require.NoError(t, err)
		})
	}
}

// A tmux that cannot be run is not a tmux that is missing.
func TestTmuxThatCannotRunIsInstalled(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tmux"), []byte("#!/no/such/program\n"), 0o700))
	t.Setenv("PATH", dir)
	_, err := tmux.Installed(nil)
	require.Error(t, err)
	require.NotErrorIs(t, err, tmux.ErrNoTmux)
}

// TestEarlierControlClientIsSeen: what a client asks for is what the process table shows of the client before it.
func TestEarlierControlClientIsSeen(t *testing.T) {
	t.Parallel()
	r := open(t)
	require.NoError(t, r.Ensure(t.Context()))
	cfg, seen := r.config(), make(chan bool, 100)
	table, err := process.NewTable()
	require.NoError(t, err)
	cfg.Runs = func(ctx context.Context, argv []string) bool {
		s, err := table.Snapshot(ctx)
		assert.NoError(t, err)
		seen <- slices.ContainsFunc(s.Processes, func(p process.Process) bool { return slices.Equal(p.Args, argv) })
		return false
	}
	next, err := tmux.New(cfg)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- next.Run(ctx) }()
	assert.True(t, <-seen)
	_, err = next.Server(t.Context())
	require.NoError(t, err)
	cancel()
	assert.NoError(t, <-done)
}
