package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// filesPage has the table of the files in CCBOT_DIR.
const filesPage = "../docs/configuration.md"

// filesRow is a row of the table.
type filesRow struct {
	names              []string
	writtenBy, removed string
}

// filesTable returns the rows, and the verbs that a cell calls those that change something.
func filesTable(t *testing.T) (rows []filesRow, changing []string) {
	t.Helper()
	data, err := os.ReadFile(filesPage)
	require.NoError(t, err)
	_, section, found := strings.Cut(string(data), "\n## Files\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		if after, found := strings.CutPrefix(line, `Below, "verbs that change something" are `); found {
			changing = quoted(after)
		}
		if cells := strings.Split(line, " | "); len(cells) == 5 && strings.HasPrefix(line, "| `") {
			rows = append(rows, filesRow{quoted(cells[0]), cells[2], constantName.ReplaceAllString(cells[3], "")})
		}
	}
	require.NotEmpty(t, rows)
	require.NotEmpty(t, changing)
	return rows, changing
}

// constantName is a comment behind a number, which the rules of the tree check.
var constantName = regexp.MustCompile(`<!--.*?-->`)

var codeType = regexp.MustCompile("`(?:ccbot )?(?:host )?([^` ]+)[^`]*`")

// quoted returns the first words of the texts in code type, without "ccbot" and "host".
func quoted(text string) (words []string) {
	for _, m := range codeType.FindAllStringSubmatch(text, -1) {
		words = append(words, m[1])
	}
	return words
}

// named returns the verbs that the row names as writers.
func (r filesRow) named() []string {
	names := quoted(r.writtenBy)
	if strings.Contains(r.writtenBy, " start") && !slices.Contains(names, "run") {
		names = append(names, "run")
	}
	return names
}

// byVerbs reports whether the row names the verbs that change something.
func (r filesRow) byVerbs() bool { return strings.Contains(r.writtenBy, "erbs that change something") }

// written returns the verbs that have written each file or folder of the world's CCBOT_DIR.
func (w *world) written() map[string][]string {
	data, _ := os.ReadFile(w.writes) // missing if ccbot was built without failpoints
	verbs := make(map[string][]string)
	for line := range strings.Lines(string(data)) {
		verb, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if verb == "ccbot" {
			verb = "run"
		}
		if info, err := os.Stat(filepath.Join(w.state, name)); err == nil && info.IsDir() {
			name += "/"
		}
		if !slices.Contains(verbs[name], verb) {
			verbs[name] = append(verbs[name], verb)
		}
	}
	return verbs
}

// checkWriters compares the writers of the files with the table.
func (w *world) checkWriters() {
	rows, changing := filesTable(w.whole)
	for name, verbs := range w.written() {
		i := slices.IndexFunc(rows, func(r filesRow) bool {
			return slices.ContainsFunc(r.names, func(n string) bool { return strings.TrimSuffix(n, "/") == strings.TrimSuffix(name, "/") })
		})
		if i < 0 {
			continue // a person's own file, or a test's
		}
		for _, verb := range verbs {
			allowed := slices.Contains(rows[i].named(), verb) || rows[i].byVerbs() && slices.Contains(changing, verb)
			assert.True(w.whole, allowed, "%s: %q writes %s, which has %q as its writers", filesPage, verb, name, rows[i].writtenBy)
		}
	}
}

// notSeen are the rows whose writers TestFilesTableNamesWriters does not see, with the reasons.
var notSeen = map[string]string{
	"ccbot.env":    "a person's file, written by a call that is not recorded",
	"ccbot.lock":   "written by a call that is not recorded",
	"ccbot.sock":   "see ccbot.lock",
	"reads":        "see ccbot.lock",
	".probe":       "doctor needs a fault that it can remedy",
	"format":       "written once, by the first program",
	"instance":     "see format",
	"backups/":     "needs a start that changes a record",
	"codex/":       "needs Codex",
	"claude_old":   "needs an old Claude Code",
	"disk_low":     "needs a disk that is almost full",
	"holds.json":   "needs a pause that Telegram asks for",
	"prices.json":  "written by a person",
	"loops/":       "needs a loop",
	"schedules/":   "needs a schedule",
	"fleet/":       "needs another machine, see TestP8_MachineJoins",
	"exports/":     "needs a long conversation",
	"windows.json": "needs a window without a session",
	"quarantine/":  "needs a damaged file",
	"changes/":     "needs a repository",
	"usage/":       "needs a transcript of today's",
}

// TestFilesTableNamesWriters has each kind of writer at work: the table names no writer that
// does not write.
func TestFilesTableNamesWriters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte(w.api.Token()+"\n"), 0o600))
	w.without("TELEGRAM_BOT_TOKEN", "ALLOWED_USERS")
	setup := w.run([]string{"setup", "--token-file", token, "--allow", itoa(int(w.person.ID())), "--folder", w.dir, "--hooks=false",
		"--service=false", "--yes"})
	w.until("setup has ended", setup.over)
	require.Zero(t, setup.cmd.ProcessState.ExitCode(), setup.log)
	w.start()
	w.open("work", w.dir)
	w.person.SendFile(w.chat(), "a.txt", "text/plain", []byte("a report"), "say read it")
	w.gets(1)
	w.say("bash ls")
	w.tap(w.offered(0, "Deny"), "Deny")
	w.drained()
	w.until("the agent is idle", func() bool { return w.record("work").Phase == "idle" })
	w.stop()
	w.typeInTerminal("work", "say at the desk")
	w.until("the hook has written an event", func() bool {
		events, _ := filepath.Glob(filepath.Join(w.state, "events", "*.json"))
		return len(events) > 0
	})
	rows, changing := filesTable(t)
	for _, row := range rows {
		if slices.Contains(row.named(), "ccbot-hook") {
			files, err := os.ReadDir(filepath.Join(w.state, row.names[0]))
			require.NoError(t, err)
			assert.NotEmpty(t, files, "the hook writes %s", row.names[0])
		}
	}
	term := w.newTerminal()
	for _, line := range []string{"new other " + w.dir, "send-prompt other 'say one' --wait", "archive other --yes", "resume other", "recover",
		"done other --yes", "forget other --yes"} {
		term.says("ccbot " + line)
	}
	seen := w.written()
	for _, row := range rows {
		if notSeen[row.names[0]] != "" || slices.Contains(row.named(), "ccbot-hook") {
			continue
		}
		var verbs []string
		for _, name := range row.names {
			verbs = append(verbs, seen[name]...)
		}
		for _, verb := range row.named() {
			assert.Contains(t, verbs, verb, "%s: it writes %s", filesPage, row.names)
		}
		if row.byVerbs() {
			assert.True(t, slices.ContainsFunc(verbs, func(v string) bool { return slices.Contains(changing, v) }), "%s: a verb writes %s", filesPage, row.names)
		}
	}
}

// lifetimeOf returns the time span that pattern finds in the cell Removed of a row.
func lifetimeOf(t *testing.T, name, pattern string) time.Duration {
	t.Helper()
	rows, _ := filesTable(t)
	i := slices.IndexFunc(rows, func(r filesRow) bool { return slices.Contains(r.names, name) })
	require.GreaterOrEqual(t, i, 0)
	m := regexp.MustCompile(pattern).FindStringSubmatch(rows[i].removed)
	require.NotNil(t, m, "%s has no %q in %q", name, pattern, rows[i].removed)
	number, unit, _ := strings.Cut(m[1], " ")
	n := map[string]int{"an": 1, "a": 1}[number]
	for _, digit := range number {
		if digit >= '0' && digit <= '9' {
			n = n*10 + int(digit-'0')
		}
	}
	of := map[string]time.Duration{"hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour}[strings.TrimSuffix(unit, "s")]
	require.Positive(t, time.Duration(n)*of, m[1])
	return time.Duration(n) * of
}

// TestFilesTableHasLifetimes ages files by a little less and a little more than the table's times,
// and starts ccbot.
func TestFilesTableHasLifetimes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say from the chat"), "from the chat")
	w.newTerminal().says("ccbot send-prompt work 'say from a script' --wait")
	w.drained()
	w.stop()

	marker := func(prompt bool) string {
		done, err := filepath.Glob(filepath.Join(w.state, "inbox", "*.done"))
		require.NoError(t, err)
		i := slices.IndexFunc(done, func(name string) bool { return strings.HasPrefix(filepath.Base(name), "p-") == prompt })
		require.GreaterOrEqual(t, i, 0, done)
		return done[i]
	}
	purged := filepath.Join(w.state, "backups", "purged", "019cb8f0-1111-7000-8000-0000bbbbbbbb.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(purged), 0o700))
	require.NoError(t, os.WriteFile(purged, []byte("{}"), 0o600))
	for _, file := range []struct {
		path string
		life time.Duration
	}{
		{marker(false), lifetimeOf(t, "inbox/", "`.done` (an? \\w+|\\d+ \\w+) later")},
		{marker(true), lifetimeOf(t, "inbox/", "of prompts not from Telegram (\\d+ \\w+)")},
		{purged, lifetimeOf(t, "backups/", "of `purged/` after (\\d+ \\w+)")},
	} {
		for _, kept := range []bool{true, false} {
			at := time.Now().Add(-file.life)
			if kept {
				at = at.Add(10 * time.Minute)
			}
			require.NoError(t, os.Chtimes(file.path, at, at))
			w.start()
			for range 2 { // the second poll confirms the updates of the first
				w.hear(w.say("/list"), "work")
			}
			gone := func() bool { _, err := os.Stat(file.path); return os.IsNotExist(err) }
			if !kept {
				w.until(file.path+" is removed after "+file.life.String(), gone)
			}
			w.stop()
			assert.Equal(t, !kept, gone(), "%s after %s, kept: %t", file.path, file.life, kept)
		}
	}
}
