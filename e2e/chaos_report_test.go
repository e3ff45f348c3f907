package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reportLine writes a row of a table.
func reportLine(b *strings.Builder, what string, figure any) {
	fmt.Fprintf(b, "| %s | %v |\n", what, figure)
}

// table returns all figures.
func (f figures) table() string { return f.injected() + "\n" + f.results() }

// injected returns the injected faults.
func (f figures) injected() string {
	var b strings.Builder
	b.WriteString("| faults | count |\n|---|---:|\n")
	reportLine(&b, "prompts", f.prompts.sent)
	reportLine(&b, "sessions", len(f.sessions))
	reportLine(&b, "SIGKILLs of the bot", f.kills)
	reportLine(&b, "… of them before it was ready", f.early)
	reportLine(&b, "calls of the Bot API", f.calls.all)
	reportLine(&b, "… of them spoiled", f.calls.spoiled)
	for _, kind := range slices.Sorted(maps.Keys(f.calls.kinds)) {
		reportLine(&b, "… with `"+string(kind)+"`", f.calls.kinds[kind])
	}
	reportLine(&b, "… carried out, and the answer spoiled", f.calls.applied)
	for _, what := range slices.Sorted(maps.Keys(f.upsets)) {
		reportLine(&b, what, f.upsets[what])
	}
	return b.String()
}

// results returns the outcome.
func (f figures) results() string {
	var b strings.Builder
	b.WriteString("| results | count |\n|---|---:|\n")
	reportLine(&b, "prompts lost", len(f.prompts.lost))
	reportLine(&b, "prompts typed twice", len(f.prompts.twice))
	reportLine(&b, "prompts out of order", len(f.prompts.disorder))
	reportLine(&b, "prompts typed once", f.prompts.typed)
	reportLine(&b, "… of them asked about, as unproven", f.prompts.asked)
	for _, why := range slices.Sorted(maps.Keys(f.prompts.why)) {
		reportLine(&b, "… why: "+why, f.prompts.why[why])
	}
	reportLine(&b, "… the agent did not have it: sent again", f.prompts.again)
	reportLine(&b, "… the agent had it: dropped", f.prompts.dropped)
	reportLine(&b, "answers lost", len(f.answers.lost))
	reportLine(&b, "answers out of order", len(f.answers.disorder))
	reportLine(&b, "answers in the chat", f.answers.written-len(f.answers.lost))
	reportLine(&b, "… their messages", f.answers.messages)
	reportLine(&b, "messages repeated after a kill", f.answers.byKill)
	reportLine(&b, "messages repeated after a call that was carried out and spoiled", f.answers.byCall)
	reportLine(&b, "messages repeated without a reason", len(f.answers.unexplained))
	f.requests.table(&b)
	reportLine(&b, "answers 429", f.pace.limited)
	reportLine(&b, "… of them because the bot was too fast", len(f.pace.own))
	reportLine(&b, "`retry_after` broken", len(f.pace.broken))
	reportLine(&b, "calls of a new start within a `retry_after` of a poll, or one not yet on disk", len(f.pace.forgotten))
	reportLine(&b, "times the bot ended by itself", f.ownExits)
	reportLine(&b, "unreadable state files, or with the token", len(f.unsound))
	reportLine(&b, fmt.Sprintf("highest resident memory of a run, of %d MB allowed (median)", f.size.memory),
		fmt.Sprintf("%d MB (%d MB)", f.memory, f.medianMemory))
	reportLine(&b, "minutes", fmt.Sprintf("%.1f", f.took.Round(time.Second).Minutes()))
	return b.String()
}

// document returns the section for `make chaos`.
func (f figures) document() string {
	form := "entities"
	if f.rich {
		form = "rich messages"
	}
	return fmt.Sprintf("Commit %s, seed %d, answers as %s.\n\n%s\n%s", cmp.Or(os.Getenv(commitEnv), "unknown"), f.seed, form, f.injected(), f.results())
}

// oneSection is held while a section of the document is written.
var oneSection sync.Mutex

// writeSection writes a section of the document, replacing the one with that title.
func writeSection(t *testing.T, path, title, text string) {
	t.Helper()
	oneSection.Lock()
	defer oneSection.Unlock()
	data, err := os.ReadFile(path)
	require.True(t, err == nil || errors.Is(err, fs.ErrNotExist), err)
	_, rest, _ := strings.Cut(string(data), "\n## ")
	sections, found := strings.Split(rest, "\n## "), false
	for i, s := range sections {
		if head, _, _ := strings.Cut(s, "\n"); head == title || s == "" {
			sections[i], found = title+"\n\n"+text, true
		}
	}
	if !found {
		sections = append(sections, title+"\n\n"+text)
	}
	whole := reliabilityPreface + "\n## " + strings.Join(sections, "\n## ")
	require.NoError(t, os.WriteFile(path, []byte(whole), 0o644)) // readable by all
}

const reliabilityFile = "testdata/reliability.md"

const reliabilityPreface = `# Reliability, measured

` + "`make chaos`" + `, ` + "`make soak`" + ` and the tests below write this; docs/dev/reliability.md explains it. Kills are at chosen moments (` + "`+`" + `:
milliseconds after the step). The tables of kills and of events during the typing are written by
` + "`CCBOT_CHAOS_REPORT=$PWD/e2e/testdata/reliability.md CCBOT_KILL_ROUNDS=20 go test -timeout 60m -run 'Kill|TypedPromptSurvives' ./e2e`" + `.
`

// TestReliabilityDocument fails if the document is from another test, or if its run lost something.
func TestReliabilityDocument(t *testing.T) {
	data, err := os.ReadFile(reliabilityFile)
	require.NoError(t, err)
	text := string(data)
	assert.True(t, strings.HasPrefix(text, reliabilityPreface), "`make chaos` writes it again")
	size := longChaos(t)
	for what, figure := range map[string]int{"prompts": size.prompts, "sessions": size.sessions,
		"prompts lost": 0, "prompts typed twice": 0, "prompts out of order": 0, "answers lost": 0, "answers out of order": 0,
		"messages repeated without a reason": 0, "`retry_after` broken": 0, "times the bot ended by itself": 0} {
		assert.Contains(t, text, fmt.Sprintf("\n| %s | %d |\n", what, figure))
	}
	kills := regexp.MustCompile(`\n\| SIGKILLs of the bot \| (\d+) \|\n`).FindStringSubmatch(text)
	require.NotNil(t, kills)
	n, err := strconv.Atoi(kills[1])
	require.NoError(t, err)
	assert.GreaterOrEqual(t, n, size.kills)
}

// logPrompts logs the order in which each agent got its prompts, and the handled messages.
func (c *chaos) logPrompts() {
	c.t.Helper()
	asked, _ := c.readTranscripts()
	for _, l := range asked {
		c.t.Logf("%s: %s", filepath.Base(l.file), l.words[0])
	}
	files, _ := filepath.Glob(c.state + "/inbox/*.done") // the pattern is well formed
	for _, file := range files {
		data, err := os.ReadFile(file)
		c.t.Log(filepath.Base(file), err, clipped(string(data)))
	}
}

// explain logs the unfinished sessions, and the end of the bot's log.
func (c *chaos) explain() {
	c.t.Helper()
	for _, r := range c.records() {
		c.t.Logf("session %s: it rests: %t; its agent is %s", r.Name, c.rests(r), c.table.Liveness(r.Agent()))
	}
	for _, pattern := range []string{c.state + "/sessions/*.json", c.claude + "/sessions/*.json", c.state + "/inbox/*.json", c.state + "/outbox/*.json",
		c.state + "/events/*.json", c.claude + "/projects/*/*.jsonl"} {
		files, _ := filepath.Glob(pattern) // the pattern is well formed
		for _, file := range files {
			data, err := os.ReadFile(file)
			if filepath.Ext(file) == ".jsonl" { // its size is compared with the cursors of the record
				data = nil
			}
			if info, statErr := os.Stat(file); statErr == nil { // otherwise it was removed at this moment
				c.t.Logf("%s: %v, %d bytes of %s\n%s", file, err, info.Size(), info.ModTime().UTC(), lastKB(string(data), 6))
			}
		}
	}
	c.explainHosts()
	c.explainRequests()
	panes, err := exec.Command("tmux", "-L", c.socket, "list-panes", "-a", "-F", "#{window_name} #{pane_id}: pid #{pane_pid}, dead #{pane_dead}, "+
		"mode #{pane_in_mode}, #{pane_width}x#{pane_height}, #{pane_current_command}").CombinedOutput()
	c.t.Logf("panes at %s: %v\n%s", time.Now().UTC(), err, panes)
	lines := strings.Split(strings.TrimSpace(c.now().bot.log.String()), "\n")
	c.t.Logf("the bot of start %d:\n%s", len(c.runs), strings.Join(lines[max(0, len(lines)-60):], "\n"))
}
