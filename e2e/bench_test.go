//go:build bench

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Settings of TestBench, all by environment: `make bench` and `make bench-quick` set them.
var (
	benchQuick  = os.Getenv("CCBOT_BENCH_QUICK") != ""                   // smaller, and each experiment once
	benchBase   = os.Getenv("CCBOT_BENCH_BASE")                          // a commit to compare with
	benchOnly   = regexp.MustCompile(os.Getenv("CCBOT_BENCH_ONLY"))      // the experiments to run
	benchReport = os.Getenv("CCBOT_BENCH_REPORT")                        // the page with the table
	benchCurves = os.Getenv("CCBOT_BENCH_CURVES")                        // the folder of the pictures
	benchFolder = os.Getenv("CCBOT_BENCH_FOLDER")                        // for profiles
	benchSides  = map[bool][]string{false: {now}, true: {now, baseline}} // with a commit to compare with
)

// The sides of a comparison.
const (
	now      = "this"
	baseline = "baseline"
)

// experiment measures some figures on a whole ccbot.
type experiment struct {
	name   string
	rounds int // each measures both sides, in turn; a quick run has one
	run    func(b *bench)
}

var experiments = []experiment{
	{"binaries", 1, (*bench).sizes},
	{"hook", 3, (*bench).hook},
	{"start", 1, (*bench).starts},
	{"prompt", 3, (*bench).prompts},
	{"answer", 3, (*bench).answers},
	{"approval", 2, (*bench).approvals},
	{"line", 1, (*bench).longLine},
	{"transcript", 1, (*bench).longTranscript},
	{"busy", 2, (*bench).busy},
	{"household", 1, (*bench).households},
	{"scan", 1, (*bench).scan},
	{"tmux", 1, (*bench).tmuxMemory},
}

// bench is one run of one experiment with the binaries of one side.
type bench struct {
	*testing.T
	side    string
	samples map[string][]float64 // by side and figure; of the whole run
}

// sample notes one value of a figure.
func (b *bench) sample(figure string, value float64) {
	key := b.side + " " + figure
	b.samples[key] = append(b.samples[key], value)
}

// TestBench measures what docs/dev/performance.md explains and writes testdata/performance.md. It
// asserts no times. If a commit is given, both programs are measured in turn, so that other load
// affects both. It has a build tag because it takes minutes and needs the machine for itself.
func TestBench(t *testing.T) {
	built, samples, before := make(map[string]string), make(map[string][]float64), load()
	for _, side := range benchSides[benchBase != ""] {
		built[side] = buildSide(t, side)
	}
	for _, e := range experiments {
		if !benchOnly.MatchString(e.name) {
			continue
		}
		if benchQuick {
			e.rounds = 1
		}
		for round := range e.rounds {
			sides := slices.Clone(benchSides[benchBase != ""])
			if round%2 == 1 {
				slices.Reverse(sides)
			}
			for _, side := range sides {
				binaries = built[side]
				t.Run(fmt.Sprintf("%s of %s, round %d", e.name, side, round+1), func(t *testing.T) {
					e.run(&bench{T: t, side: side, samples: samples})
				})
			}
		}
	}
	report(t, samples, before)
}

// buildSide builds the release program, and once more with a profiling endpoint (profiled). Both
// sides use the same agent.
func buildSide(t *testing.T, side string) string {
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	dir, agent := t.TempDir(), root
	if side == baseline {
		tree := filepath.Join(dir, "tree")
		command(t, root, "git", "worktree", "add", "--detach", tree, benchBase)
		t.Cleanup(func() { command(t, root, "git", "worktree", "remove", "--force", tree) })
		root = tree
	}
	door, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(root, "cmd/ccbot/profile.go"): filepath.Join(agent, "e2e/testdata/profile.go")}})
	require.NoError(t, err)
	overlay := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(overlay, door, 0o600))
	for to, flags := range map[string][]string{dir: nil, profiled(dir): {"-overlay", overlay}} {
		args := append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", to + "/"}, flags...)
		command(t, root, "go", append(args, "./cmd/ccbot", "./cmd/ccbot-hook")...)
		command(t, agent, "go", "build", "-o", to+"/", "./cmd/ccbot-try")
	}
	return dir
}

func profiled(dir string) string { return filepath.Join(dir, "profiled") }

func command(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %q: %s", name, args, out)
	return string(out)
}

// size returns the figure for a full or a quick run.
func size[T any](full, quick T) T {
	if benchQuick {
		return quick
	}
	return full
}
