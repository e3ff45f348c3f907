//go:build linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/claudesettings"
	"ccbot/e2e/realclaude"
	"ccbot/e2e/realcodex"
)

const (
	// featuresEnv names the document that the walk through all rows writes. Without it only those of .ci/run are walked.
	featuresEnv = "CCBOT_FEATURES_REPORT"
	// featureEnv names the row that this process walks, in a walk through all.
	featureEnv = "CCBOT_FEATURE"
	// featuresOf matches the names of the rows that a walk is limited to.
	featuresOf = "CCBOT_FEATURES_OF"
)

// walkTime is the -timeout of the process that walks through one row: one that hangs holds no other up.
const walkTime = "4m"

// agentFeatures are the rows of one agent, with one of its models or versions.
type agentFeatures struct {
	agent, column string // the section and the column of the document
	rows          []feature
	walk          func(t *testing.T, row feature) *featureWalk
	version       func(t *testing.T) string
	inCI          bool
}

func allFeatures() []agentFeatures {
	codex := func(column, model string) agentFeatures {
		return agentFeatures{agent: "Codex", column: column, rows: codexFeatures(), inCI: model == realcodex.InCodeMode,
			walk:    func(t *testing.T, row feature) *featureWalk { t.Helper(); return newCodexWalk(t, row, model) },
			version: func(t *testing.T) string { t.Helper(); return versionOf(t, realcodex.Require(t)) + " with " + model }}
	}
	claude := agentFeatures{agent: "Claude Code", rows: claudeFeatures(), walk: newClaudeWalk, inCI: true,
		version: func(t *testing.T) string { t.Helper(); return versionOf(t, realclaude.Require(t)) }}
	return []agentFeatures{claude, codex("in code mode", realcodex.InCodeMode), codex("classic", realcodex.Classic)}
}

var versionNumber = regexp.MustCompile(`\d+\.\d+\.\d+`)

func versionOf(t *testing.T, program string) string {
	t.Helper()
	out, err := exec.Command(program, "--version").Output()
	require.NoError(t, err)
	return versionNumber.FindString(string(out))
}

func (row feature) title() string { return row.group + ": " + row.name }

// TestRealFeatures walks through what the real agents can do, a world for each row.
func TestRealFeatures(t *testing.T) {
	report, only := os.Getenv(featuresEnv), os.Getenv(featureEnv)
	of := regexp.MustCompile(os.Getenv(featuresOf))
	for _, all := range allFeatures() {
		outcomes := &featureOutcomes{of: map[string]string{}}
		kind := strings.TrimSpace(all.agent + " " + all.column)
		t.Run(kind, func(t *testing.T) {
			for _, row := range all.rows {
				name := kind + "/" + row.title()
				inCI := all.inCI && row.always && row.fails == ""
				if only != "" && only != name || only == "" && report == "" && !inCI || !of.MatchString(name) {
					continue
				}
				t.Run(row.title(), func(t *testing.T) {
					t.Parallel()
					if report != "" && only == "" {
						outcomes.note(t, row, walkAlone(t, name))
						return
					}
					all.walk(t, row).run()
				})
			}
		})
		if report != "" && only == "" && len(outcomes.of) > 0 {
			column := all.column
			version := all.version(t)
			if column == "" {
				column = map[bool]string{true: "oldest", false: "newest"}[version == claudesettings.Oldest]
			}
			walked := version + " on " + time.Now().Format(time.DateOnly)
			writeFeatures(t, report, all.agent, column, walked, len(outcomes.of) == len(all.rows), outcomes.of)
		}
	}
}

type featureOutcomes struct {
	sync.Mutex
	of map[string]string // by the title of the row
}

func (o *featureOutcomes) note(t *testing.T, row feature, outcome string) {
	t.Helper()
	switch failed := strings.HasPrefix(outcome, "**fails**"); {
	case failed && row.fails != "":
		outcome = "fails: " + row.fails
	case failed:
		t.Errorf("%s %s", row.title(), outcome)
	}
	o.Lock()
	defer o.Unlock()
	o.of[row.title()] = outcome
}

const passes = "✓"

var (
	whyFailed = []*regexp.Regexp{regexp.MustCompile(`go test's own time: (.+)`), regexp.MustCompile(`Messages:\s+(.+)`), regexp.MustCompile(`Error:\s+(.+)`)}
	wasSaid   = regexp.MustCompile(`recorded: (.+)`)
)

// notOfAFile are the characters of a row's name that the name of its log does not have.
var notOfAFile = regexp.MustCompile(`[^\pL\pN.]+`)

// walkAlone walks through a row in a process of its own, and returns its outcome for the document. The process writes into a file: it
// cleans up also if this one is ended before.
func walkAlone(t *testing.T, name string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	folder := filepath.Join("..", "bin", "features")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	log, err := os.Create(filepath.Join(folder, notOfAFile.ReplaceAllString(name, "-")+".log"))
	require.NoError(t, err)
	cmd := exec.Command(self, "-test.run=^TestRealFeatures$", "-test.timeout="+walkTime, "-test.v")
	cmd.Env = append(os.Environ(), featureEnv+"="+name)
	cmd.Stdout, cmd.Stderr = log, log
	failed := cmd.Run()
	require.NoError(t, log.Close())
	out, err := os.ReadFile(log.Name())
	require.NoError(t, err)
	if failed == nil {
		require.NoError(t, os.Remove(log.Name()))
		if said := wasSaid.FindSubmatch(out); said != nil {
			return "seen: " + string(said[1])
		}
		return passes
	}
	why := []byte(failed.Error())
	for _, pattern := range whyFailed {
		if found := pattern.FindSubmatch(out); found != nil {
			why = found[1]
			break
		}
	}
	return fmt.Sprintf("**fails**: %.150s", why)
}
