package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// leastRatio is the least factor by which the Python hook is slower. On a quiet machine it is 20 to
// 30; on a busy one the two suffer unequally, and this benchmark must find a hook that has become
// slow, not a busy machine.
const leastRatio = 12

// BenchmarkHook runs the whole process 500 times, as each prompt does, and reports the median and
// the 99th percentile in milliseconds. In the same run, one call for every tenth, it starts the
// least that a hook written in Python does (testdata/peer_hook.py) and reports by which factor that
// is slower. That is a lower bound: it leaves out the script of the package manager that finds the
// package, the package's own modules, the folders of a virtual environment, and its log. Below
// leastRatio it fails, because a time alone depends on the load of the machine.
func BenchmarkHook(b *testing.B) {
	const calls = 500
	hook := build(b)
	in := filepath.Join(b.TempDir(), "in")
	require.NoError(b, os.WriteFile(in, []byte(payload("UserPromptSubmit", "a prompt of a usual length, give or take a word")), 0o600))
	env := []string{"PATH=" + os.Getenv("PATH"), "CCBOT_LAUNCH=" + launchID, "CLAUDE_PID=" + strconv.Itoa(os.Getpid())}
	peer, peerEnv := peerHook(b)
	for b.Loop() {
		dir := shortDir(b)
		var ours, theirs []time.Duration
		for i := range calls {
			ours = append(ours, timed(b, in, env, hook, "--dir", dir))
			if peer != nil && i%10 == 0 {
				theirs = append(theirs, timed(b, in, slices.Concat(env, peerEnv), append(peer, dir)...))
			}
		}
		slices.Sort(ours)
		b.ReportMetric(milliseconds(ours[calls/2]), "p50-ms")
		b.ReportMetric(milliseconds(ours[calls*99/100]), "p99-ms")
		if theirs != nil {
			slices.Sort(theirs)
			half := theirs[len(theirs)/2]
			ratio := float64(half) / float64(ours[calls/2])
			b.ReportMetric(milliseconds(half), "python-p50-ms")
			b.ReportMetric(ratio, "python/hook")
			if ratio < leastRatio {
				b.Fatalf("the hook of half the calls takes %.2f ms (99th of a hundred: %.2f), the one in Python %.2f ms: %.0f times, less than %d",
					milliseconds(ours[calls/2]), milliseconds(ours[calls*99/100]), milliseconds(half), ratio, leastRatio)
			}
		}
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// timed runs one process from its start to its end. Its stdin is a file, so that the benchmark
// copies nothing during the run.
func timed(b *testing.B, in string, env []string, argv ...string) time.Duration {
	stdin, err := os.Open(in)
	require.NoError(b, err)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Stdin = env, stdin
	began := time.Now()
	err = cmd.Run()
	took := time.Since(began)
	require.NoError(b, err)
	require.NoError(b, stdin.Close())
	return took
}

// peerHook is the command of the Python hook and its environment, a pane of a private tmux server;
// nil without Python or tmux.
func peerHook(b *testing.B) (argv, env []string) {
	// Asked for its own path, so that no version switcher's script is timed along.
	python, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		b.Logf("no Python to compare with: %v", err)
		return nil, nil
	}
	script, err := filepath.Abs("testdata/peer_hook.py")
	require.NoError(b, err)
	if _, err := exec.LookPath("tmux"); err != nil {
		b.Logf("no tmux to compare with: %v", err)
		return nil, nil
	}
	dir := shortDir(b)
	tmux := func(args ...string) *exec.Cmd {
		cmd := exec.Command("tmux", append([]string{"-L", "ccbot-test-bench-" + strconv.Itoa(os.Getpid()), "-f", "/dev/null"}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMUX_TMPDIR=" + dir, "TERM=xterm-256color", "LANG=C.UTF-8"}
		return cmd
	}
	out, err := tmux("new-session", "-d", "-P", "-F", "#{socket_path},#{pid},0 #{pane_id}", "sleep 600").Output()
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, tmux("kill-server").Run()) })
	where, pane, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	return []string{strings.TrimSpace(string(python)), script}, []string{"TMUX=" + where, "TMUX_PANE=" + pane}
}
