//go:build linux

package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/e2e/realclaude"
	"ccbot/e2e/realcodex"
	"ccbot/e2e/responsesapi"
	"ccbot/internal/process"
	"ccbot/port/talk"
	"ccbot/try/botapi"
)

// feature is a row of the walk through what a real agent can do, and the states that it can be in. FOLDER in a text is the session's
// folder, and BESIDE the one that has it.
type feature struct {
	group, name string
	always      bool   // .ci/run walks it too: it is the one of its group, or no other test holds it
	records     bool   // nothing is expected of its own steps: the report has what the chat said
	fails       string // why ccbot fails in it, if that is known

	user     map[string]any    // settings of the person
	project  map[string]any    // settings of the repository
	env      []string          // of ccbot
	files    map[string]string // of the folder
	config   string            // lines before those of Codex' config.toml
	more     string            // and after them
	provider string            // in place of its lines about requests that fail
	forms    map[string]any    // of an MCP server
	account  bool              // the person has logged in, and has no key
	inRepo   bool              // the folder is a repository
	asked    bool              // whether permissions may be bypassed is asked at the start
	starting []act             // between /new and the ready session

	steps   []act
	lists   string // what /list says while the feature lasts; empty: that the session is idle
	holds   string // what the next text is told while the feature lasts; empty: it is answered
	leaves  []act  // what ends the feature then
	ending  string // what the question of /kill names
	resumes []act  // between /resume and the ready session
}

// act is what a person does in the chat or at the desk, and what follows.
type act struct {
	say   string // in the chat
	key   string // pressed at the desk
	back  bool   // the window is scrolled back at the desk
	frees string // a file that the test makes
	leave bool   // taps [Esc] until the agent asks nothing more
	idle  bool   // the turn is over then
	types string // typed at the desk and entered
	hears string // a message after the last one of the person has this
	tap   string // a button of that message
	then  string // what the chat says then, in a new message or in that one
	shows string // what the window shows
	hides string // what it does not show any more
	makes string // a file that is there then
	lacks string // a file that is not there
}

// featureWalk is the walk through one row.
type featureWalk struct {
	*world
	row       feature
	continues func(text, before string) bool // the model was asked a text, with another one before it
	said      func() []string                // what the agent has said, by its own record
	last      int                            // the last message of the person
	expected  map[int]bool                   // messages of the bot that the row or the checks expected
}

// run walks through the row: its own steps, then the five checks.
func (k *featureWalk) run() {
	k.t.Helper()
	k.start(k.row.env...)
	k.opens("/new work " + k.dir + map[bool]string{true: " --agent codex"}[k.codex != ""])
	k.follows(k.row.starting)
	k.hears(k.last, "work is ready")
	k.follows(k.row.steps)
	if k.row.records {
		k.recordsWhatIsSaid()
	}
	k.stateIsListed()
	k.textIsAnswered()
	k.turnsAreOver()
	k.killEndsAll()
	k.resumeContinues()
	k.chatIsComplete()
	k.stop()
}

// opens says something and remembers it as the last words of the person.
func (k *featureWalk) opens(text string) {
	k.last = k.say(strings.NewReplacer("FOLDER", k.dir, "BESIDE", filepath.Dir(k.dir)).Replace(text))
}

// hears is hear for a message that the walk expects.
func (k *featureWalk) hears(after int, text string) botapi.Message {
	k.t.Helper()
	m := k.hear(after, text)
	k.expected[m.ID] = true
	return m
}

// follows takes the steps of a row, one after the other.
func (k *featureWalk) follows(steps []act) {
	k.t.Helper()
	const window = "=ccbot:=work"
	for _, s := range steps {
		switch {
		case s.say != "":
			k.opens(s.say)
		case s.key != "":
			k.tmux("send-keys", "-t", window, s.key)
		case s.back:
			k.tmux("copy-mode", "-t", window)
		case s.types != "":
			k.typesAtDesk(strings.ReplaceAll(s.types, "FOLDER", k.dir))
		case s.frees != "":
			k.makesFile(s.frees)
		case s.leave:
			k.escape()
		}
		if s.tap != "" {
			k.taps(s)
		} else if s.hears != "" {
			k.hears(k.last, s.hears)
		}
		if s.then != "" {
			k.hears(k.last, s.then)
		}
		if s.shows != "" {
			k.until("the window shows "+s.shows, func() bool { return k.screenHas("work", s.shows) })
		}
		if s.hides != "" {
			k.until("the window no longer shows "+s.hides, func() bool { return !k.screenHas("work", s.hides) })
		}
		if s.makes != "" {
			k.until(s.makes+" is made", func() bool { _, err := os.Stat(filepath.Join(k.dir, s.makes)); return err == nil })
		}
		if s.idle {
			k.until("it is idle", func() bool { return k.phaseOf("work") == "idle" })
		}
		if s.lacks != "" {
			assert.NoFileExists(k.t, filepath.Join(k.dir, s.lacks))
		}
	}
}

// taps taps the button of a step under the newest message that has it.
func (k *featureWalk) taps(s act) {
	k.t.Helper()
	var found botapi.Message
	var label string
	k.until(s.hears+" has the button "+s.tap, func() bool {
		for _, m := range k.api.Messages(k.chat()) {
			for _, offered := range labels(m) {
				named := strings.TrimLeft(offered, "☐☑ ") == s.tap
				if named && m.FromBot && strings.Contains(m.Text, s.hears) && (s.say == "" || m.ID > k.last) {
					found, label = m, offered
				}
			}
		}
		return found.ID != 0
	})
	k.expected[found.ID] = true
	k.tap(found, label)
}

// makesFile makes a file in the session's folder.
func (k *featureWalk) makesFile(name string) {
	k.t.Helper()
	require.NoError(k.t, os.WriteFile(filepath.Join(k.dir, name), nil, 0o600))
}

// typesAtDesk types a line into the window and enters it when all of it is there.
func (k *featureWalk) typesAtDesk(line string) {
	k.t.Helper()
	const window = "=ccbot:=work"
	k.tmux("send-keys", "-t", window, "-l", "--", line)
	k.until("the line is in the box", func() bool { return k.screenHas("work", line) })
	k.tmux("send-keys", "-t", window, "Enter")
}

// recordsWhatIsSaid notes what the chat says to a command, and closes what the command has opened. Of a page that was opened at the
// desk it notes the last row.
func (k *featureWalk) recordsWhatIsSaid() {
	k.t.Helper()
	if s := k.row.steps[len(k.row.steps)-1]; s.types != "" {
		k.until("the command is entered", func() bool { return !k.screenHas("work", "› "+s.types) })
		rows := strings.Split(strings.TrimSpace(k.tmux("capture-pane", "-p", "-t", "=ccbot:=work")), "\n")
		row := strings.ReplaceAll(rows[len(rows)-1], k.dir, "FOLDER")
		k.t.Logf("recorded: %.100s", strings.Join(strings.Fields(row), " "))
		return
	}
	answer := botapi.Message{}
	k.until("the chat says something", func() bool {
		for _, m := range k.api.Messages(k.chat()) {
			card := strings.HasPrefix(m.Text, "work · ")
			if m.FromBot && m.ID > k.last && (!card || strings.Contains(m.Text, "done in") && k.phaseOf("work") == "idle") {
				answer = m
				return true
			}
		}
		return false
	})
	said, _, _ := strings.Cut(cmp.Or(strings.TrimSpace(answer.Body()), "a picture"), "\n\n")
	k.t.Logf("recorded: %.100s", strings.Join(strings.Fields(said), " "))
	k.escape()
	k.until("it is idle", func() bool { return k.phaseOf("work") == "idle" })
	k.expectsAll()
}

// expectsAll takes all that the chat has for expected.
func (k *featureWalk) expectsAll() {
	k.t.Helper()
	k.drained()
	for _, m := range k.api.Messages(k.chat()) {
		k.expected[m.ID] = true
	}
}

// stateIsListed is the check of the state: /list names it.
func (k *featureWalk) stateIsListed() {
	k.t.Helper()
	state := cmp.Or(k.row.lists, "work · idle")
	k.until("/list says "+state, func() bool {
		asked := k.say("/list")
		m := k.find("the list", func(m botapi.Message) bool {
			return m.ID > asked && !k.expected[m.ID] && strings.HasPrefix(m.Text, "1 session:")
		})
		k.expected[m.ID] = true
		return strings.Contains(m.Text, state)
	})
}

// textIsAnswered is the check of a text: it is answered, or told why it waits, and answered when that is over.
func (k *featureWalk) textIsAnswered() {
	k.t.Helper()
	if strings.HasPrefix(k.row.holds, "The limit") { // the chat may have its message a moment before the record has the limit
		k.until("the record has the limit", func() bool { return k.record("work").Phase == string(talk.PhaseLimited) })
	}
	asked := k.say("say arrived")
	k.last = asked
	if k.row.holds != "" {
		k.hears(asked, k.row.holds)
		k.follows(k.row.leaves)
	}
	answered := func() bool {
		return slices.ContainsFunc(k.api.Messages(k.chat()), func(m botapi.Message) bool { return m.FromBot && m.ID > asked && m.Text == "arrived" })
	}
	if k.row.records { // a page that was opened at the desk may be open
		k.until("the text is answered, or told why it waits", func() bool { return answered() || k.heardAfter(asked, pageIsOpen) })
		if !answered() {
			k.hears(asked, pageIsOpen)
			k.taps(act{tap: "Esc"})
		}
	}
	k.until("the text is answered", answered)
	if k.row.records {
		k.expectsAll()
	}
}

const pageIsOpen = "has something open"

// turnsAreOver is the check of the cards: when the agent is idle, none shows a running turn.
func (k *featureWalk) turnsAreOver() {
	k.t.Helper()
	k.until("no card shows a running turn", func() bool {
		return !slices.ContainsFunc(k.cards("work"), func(m botapi.Message) bool { return strings.Contains(m.Text, "working since") })
	})
}

// killEndsAll is the check of the end: whatever the agent has started ends with it.
func (k *featureWalk) killEndsAll() {
	k.t.Helper()
	snap, err := k.table.Snapshot(k.t.Context())
	require.NoError(k.t, err)
	bound := k.record("work").Binding
	require.NotNil(k.t, bound)
	all := []process.Identity{bound.Agent}
	for _, p := range snap.Descendants(bound.Agent.PID) {
		all = append(all, p.Identity)
	}
	if k.row.ending != "" {
		k.stateIsListed() // in a turn it is not known what goes on after it
	}
	asked := k.hears(k.say("/kill work"), "End work")
	assert.Contains(k.t, asked.Text, k.row.ending)
	k.tap(asked, "Kill")
	k.hears(asked.ID, "work is archived")
	k.until("all processes of the session have ended", func() bool {
		return !slices.ContainsFunc(all, func(id process.Identity) bool { return k.alive(id) })
	})
	k.until("its window is closed", func() bool { return len(k.windows()) == 0 })
}

// resumeContinues is the check of a resume: the model sees what was said before.
func (k *featureWalk) resumeContinues() {
	k.t.Helper()
	k.opens("/resume work")
	k.follows(k.row.resumes)
	k.hears(k.last, "work is ready")
	asked := k.say("say continued")
	k.find("the answer after /resume", func(m botapi.Message) bool { return m.FromBot && m.ID > asked && m.Text == "continued" })
	assert.True(k.t, k.continues("say continued", "say arrived"), "the model is sent what was said before")
	assert.Equal(k.t, []int{1, 1}, []int{k.saidTo("say arrived"), k.saidTo("say continued")}, "texts are typed once")
}

// chatIsComplete is the check of the chat: what the agent has said is there once, and nothing that was not expected.
func (k *featureWalk) chatIsComplete() {
	k.t.Helper()
	k.drained()
	bare := func(s string) string { // the marks of Markdown are shown as what they mean
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return r
			}
			return -1
		}, fence.ReplaceAllString(s, ""))
	}
	said, all := map[string]int{}, ""
	for _, text := range k.said() {
		said[bare(text)]++
		all += bare(text)
	}
	longestFirst := slices.SortedFunc(maps.Keys(said), func(a, b string) int { return len(b) - len(a) })
	shown, whole := map[string]int{}, ""
	for _, m := range k.api.Messages(k.chat()) {
		if text := bare(m.Body()); m.FromBot && text != "" {
			shown[text]++
			usual := slices.ContainsFunc(usualWords, func(words string) bool { return strings.HasPrefix(m.Text, words) })
			if !usual && !strings.HasPrefix(m.Text, "1 session:") { // which may come between the parts of an answer
				whole += text
			}
			for _, one := range longestFirst { // a message may have several texts, or a part of one
				text = strings.ReplaceAll(text, one, "")
			}
			assert.True(k.t, k.expected[m.ID] || usual || k.row.expects(m) || strings.Contains(all, text), "the chat has a foreign message: %.300q", m.Body())
		}
	}
	for text, times := range said {
		has := sort.Search(len(text), func(n int) bool { return !strings.Contains(whole, text[:n+1]) })
		assert.GreaterOrEqual(k.t, strings.Count(whole, text), times, "the chat lacks what the agent has said: it has %d of %d characters, up to %q, of %.200q",
			has, len(text), text[max(0, has-30):has], text)
		assert.LessOrEqual(k.t, shown[text], times, "the chat repeats %.200q", text)
	}
}

// fence begins and ends a block of code, whose language is not shown.
var fence = regexp.MustCompile("```[a-z]*")

// expects reports whether a message has words that a step of the row waits for. A dialog that was drawn again is posted again.
func (row feature) expects(m botapi.Message) bool {
	if row.lists == "needs you" && strings.HasPrefix(m.Text, "work is waiting for an answer:") {
		return true
	}
	return slices.ContainsFunc(slices.Concat(row.starting, row.steps, row.leaves, row.resumes), func(s act) bool {
		return s.hears != "" && strings.Contains(m.Text, s.hears) || s.then != "" && strings.Contains(m.Text, s.then)
	})
}

// usualWords begin the messages that may come in any row, on a busy machine: cards, and what becomes of a text that has to wait.
var usualWords = []string{"work · ", "↓ Continued below.", "Your message was sent to work.", "Queued: work is working.", "work is still starting after"}

// recorded reads the lines of files of JSON, and returns the texts that of finds in them.
func recorded(t *testing.T, pattern string, of func(line []byte) []string) (all []string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(string(data)) {
			all = append(all, of([]byte(line))...)
		}
	}
	return all
}

// claudeSaid are the texts of the agent in a line of a transcript: not those of subagents, and not errors, which the chat tells in its
// own words.
func claudeSaid(line []byte) (all []string) {
	var entry struct {
		Type              string
		IsSidechain       bool
		IsAPIErrorMessage bool // isApiErrorMessage in the line: letters match in any case
		Message           struct{ Content json.RawMessage }
	}
	if json.Unmarshal(line, &entry) != nil || entry.Type != "assistant" || entry.IsSidechain || entry.IsAPIErrorMessage {
		return nil
	}
	var blocks []struct{ Type, Text string }
	if json.Unmarshal(entry.Message.Content, &blocks) != nil {
		return nil
	}
	for _, b := range blocks {
		if b.Type == "text" {
			all = append(all, b.Text)
		}
	}
	return all
}

// codexSaid are the texts of the agent in a line of a rollout.
func codexSaid(line []byte) (all []string) {
	var entry struct {
		Payload struct {
			Type string
			Item struct {
				Type, Text string
				Content    []struct{ Text string }
			}
		}
	}
	if json.Unmarshal(line, &entry) != nil || entry.Payload.Type != "item_completed" {
		return nil
	}
	switch item := entry.Payload.Item; item.Type {
	case "AgentMessage":
		for _, c := range item.Content {
			all = append(all, c.Text)
		}
	case "Plan":
		all = append(all, item.Text)
	}
	return all
}

// newClaudeWalk makes the world of a row for Claude Code.
func newClaudeWalk(t *testing.T, row feature) *featureWalk {
	t.Helper()
	w, api := newRealWorld(t)
	w.env = append(w.env, withCards)
	k := &featureWalk{world: w, row: row, expected: map[int]bool{}}
	k.said = func() []string { return recorded(t, filepath.Join(w.claude, "projects", "*", "*.jsonl"), claudeSaid) }
	k.continues = func(text, before string) bool {
		request, asked := api.Asked(text)
		return asked && request.Says(before)
	}
	if row.user != nil {
		w.userSets(row.user)
	}
	if row.project != nil {
		w.projectSets(row.project)
	}
	if row.forms != nil {
		w.asksForms(row.forms)
	}
	if row.account {
		realclaude.Dirs{Home: filepath.Dir(w.claude), Config: w.claude}.LogIn(t)
		w.env = slices.DeleteFunc(w.env, func(entry string) bool { return strings.HasPrefix(entry, "ANTHROPIC_API_KEY=") })
	}
	if row.asked {
		file := filepath.Join(w.claude, ".claude.json")
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		asks := strings.Replace(string(data), `"bypassPermissionsModeAccepted": true`, `"bypassPermissionsModeAccepted": false`, 1)
		require.NoError(t, os.WriteFile(file, []byte(asks), 0o600))
	}
	k.makesFolder()
	return k
}

// newCodexWalk makes the world of a row for Codex.
func newCodexWalk(t *testing.T, row feature, model string) *featureWalk {
	t.Helper()
	w := newWorld(t, withCards)
	api := w.addCodexOf(model, w.dir)
	w.codex = filepath.Join(w.state, "..", "codex")
	k := &featureWalk{world: w, row: row, expected: map[int]bool{}}
	k.said = func() []string {
		return recorded(t, filepath.Join(w.codex, "sessions", "*", "*", "*", "*.jsonl"), codexSaid)
	}
	k.continues = func(text, before string) bool {
		return slices.ContainsFunc(api.Requests(), func(r responsesapi.Request) bool {
			return strings.Contains(string(r.Body), text) && strings.Contains(string(r.Body), before)
		})
	}
	if row.forms != nil {
		self, forms := w.mcpServer(row.forms)
		row.more += fmt.Sprintf("[mcp_servers.forms]\ncommand = %q\nargs = [\"-test.run=^$\"]\nenv = {%s = %q, %s = %q}\n", self, mcpEnv, forms, binariesEnv, binaries)
	}
	if row.config+row.more+row.provider != "" {
		file := filepath.Join(w.codex, "config.toml")
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		if row.provider != "" {
			data = []byte(strings.Replace(string(data), realcodex.NoRetries, row.provider, 1))
		}
		require.NoError(t, os.WriteFile(file, slices.Concat([]byte(row.config+"\n"), data, []byte(row.more)), 0o600))
	}
	k.makesFolder()
	return k
}

func (k *featureWalk) makesFolder() {
	k.t.Helper()
	if k.row.inRepo {
		k.repository()
	}
	for name, content := range k.row.files {
		file := filepath.Join(k.dir, name)
		require.NoError(k.t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(k.t, os.WriteFile(file, []byte(strings.ReplaceAll(content, "FOLDER", k.dir)), 0o600))
	}
}
