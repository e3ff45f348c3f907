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
	b.WriteString("| what went in | how often |\n|---|---:|\n")
	reportLine(&b, "prompts", f.prompts.sent)
	reportLine(&b, "sessions", len(f.sessions))
	reportLine(&b, "SIGKILLs of the bot", f.kills)
	reportLine(&b, "… of them before it was ready", f.early)
	reportLine(&b, "calls of the Bot API", f.calls.all)
	reportLine(&b, "… of them spoiled", f.calls.spoiled)
	for _, kind := range slices.Sorted(maps.Keys(f.calls.kinds)) {
		reportLine(&b, "… with `"+string(kind)+"`", f.calls.kinds[kind])
	}
	reportLine(&b, "… carried out, and the answer was spoiled", f.calls.applied)
	for _, what := range slices.Sorted(maps.Keys(f.upsets)) {
		reportLine(&b, what, f.upsets[what])
	}
	return b.String()
}

// results returns the outcome.
func (f figures) results() string {
	var b strings.Builder
	b.WriteString("| what came of it | how often |\n|---|---:|\n")
	reportLine(&b, "prompts lost", len(f.prompts.lost))
	reportLine(&b, "prompts typed twice", len(f.prompts.twice))
	reportLine(&b, "prompts out of order", len(f.prompts.disorder))
	reportLine(&b, "prompts typed once", f.prompts.typed)
	reportLine(&b, "… of them asked about, because nothing proved that the agent had them", f.prompts.asked)
	for _, why := range slices.Sorted(maps.Keys(f.prompts.why)) {
		reportLine(&b, "… why: "+why, f.prompts.why[why])
	}
	reportLine(&b, "… and the agent did not have it: sent again", f.prompts.again)
	reportLine(&b, "… and the agent had it: dropped", f.prompts.dropped)
	reportLine(&b, "answers lost", len(f.answers.lost))
	reportLine(&b, "answers out of order", len(f.answers.disorder))
	reportLine(&b, "answers in the chat", f.answers.written-len(f.answers.lost))
	reportLine(&b, "… in so many messages", f.answers.messages)
	reportLine(&b, "messages repeated after a kill", f.answers.byKill)
	reportLine(&b, "messages repeated after a call that was carried out and spoiled", f.answers.byCall)
	reportLine(&b, "messages repeated without a reason", len(f.answers.unexplained))
	reportLine(&b, "answers 429", f.pace.limited)
	reportLine(&b, "… of them because the bot was too fast", len(f.pace.own))
	reportLine(&b, "`retry_after` broken", len(f.pace.broken))
	reportLine(&b, "calls of a fresh start within a `retry_after` that a poll was told, or that was not on disk yet", len(f.pace.forgotten))
	reportLine(&b, "times the bot ended by itself", f.ownExits)
	reportLine(&b, "state files that cannot be read, or have the token in them", len(f.unsound))
	reportLine(&b, fmt.Sprintf("highest resident memory of all runs, of %d MB allowed (median of the runs)", f.size.memory),
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

const reliabilityFile = "../docs/dev/reliability.md"

const reliabilityPreface = `# Reliability

For people who want to know how often something goes wrong. Written by ` + "`make chaos`" + `; do not edit. It runs
` + "`TestP4_ChaosLosesNothing`" + ` in its long form: ccbot as it is built for people, with demo agents in a private tmux server and
the strict stand-in of the Bot API, while all of this happens at random:

- Calls fail before they are carried out (429 with ` + "`retry_after`" + `, 500, a proxy's HTML page with 502, a reset, a connection that
  hangs and is cut) or after (a reset, half of the answer), polls for updates included; now and then nothing works at all
  for some seconds. The stand-in keeps Telegram's limits of pace, too.
- Updates come once more after they were confirmed, in a random order within an answer, of kinds nobody knows, and with
  parts that the library cannot decode.
- ccbot is killed with SIGKILL, also before it is ready, and started again.

Each prompt and each answer has words of its own. One in ten is longer than a message. What ccbot asks about a prompt,
because nothing proves that the agent has it, is answered as a person would: by looking at the terminal. Judged at the
end, when all has come to rest:

- Every prompt is in exactly one transcript exactly once, in the order in which it was sent; those asked about have no
  order.
- Every word of every answer is in its chat, in order. A message comes again only where a kill stood between, or where
  the call was carried out and its answer spoiled: then nobody can know, and ccbot sends it again rather than not at all.
- No call goes to a chat before the ` + "`retry_after`" + ` is over that it was told, also after a kill, and no poll starts before that
  of a poll is over. (A call that came within half a second of the 429 had left before. A fresh start polls at once, and
  does not know what was told within half a second before the kill.)
- No run needs more memory than a fixed bound, and none ends by itself.
- Every state file can be read, none has the token in it, and nothing is in quarantine but what cannot be decoded.

` + "`make chaos`" + ` runs it; ` + "`CCBOT_CHAOS_SEED=n`" + ` repeats the choices of a run, though not who is faster in
between; ` + "`CCBOT_CHAOS_KILLS=1000`" + ` has the bot killed so often. A short form (30 prompts, 4 kills, 2 sessions, with the
race detector) runs with ` + "`make test`" + `.

A call that the other end takes and never answers, as a proxy does whose own way is cut, is made again after 30 s, although the
network may be back sooner. It may have been carried out, and to send a message again repeats it: a limit of 10 s would do
that on every network whose answers take longer. Edits cannot repeat anything, but there none would ever count as done. Only
reactions have 4 s, so that each accepted message has one within 10 s; another that comes too late changes nothing.

The other tables are of kills at chosen moments, where the milliseconds after the step stand behind a "+", and of what
comes upon a text on its way.
` + "`CCBOT_CHAOS_REPORT=$PWD/docs/dev/reliability.md CCBOT_KILL_ROUNDS=20 go test -timeout 60m -run 'Kill|ComesUpon' ./e2e`" + ` writes them.
`

// TestReliabilityDocument fails if the document is from another test, or if its run lost something.
func TestReliabilityDocument(t *testing.T) {
	data, err := os.ReadFile(reliabilityFile)
	require.NoError(t, err)
	text := string(data)
	assert.True(t, strings.HasPrefix(text, reliabilityPreface), "`make chaos` writes it anew")
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
	panes, err := exec.Command("tmux", "-L", c.socket, "list-panes", "-a", "-F", "#{window_name} #{pane_id}: pid #{pane_pid}, dead #{pane_dead}, "+
		"mode #{pane_in_mode}, #{pane_width}x#{pane_height}, #{pane_current_command}").CombinedOutput()
	c.t.Logf("panes at %s: %v\n%s", time.Now().UTC(), err, panes)
	lines := strings.Split(strings.TrimSpace(c.now().bot.log.String()), "\n")
	c.t.Logf("the bot of start %d:\n%s", len(c.runs), strings.Join(lines[max(0, len(lines)-60):], "\n"))
}
