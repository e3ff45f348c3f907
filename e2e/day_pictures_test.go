//go:build pictures && linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/e2e/realcodex"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/try/botapi/pagetest"
)

// day is an hour of work with eight sessions of both real programs. Its chat is kept after each step.
type day struct {
	*walk
	home  string
	steps int
	seen  map[int]string // what the chat had at the last step, by messages
}

// TestDayOfEightSessions goes through an ordinary hour with five sessions of the real Claude Code and three of the real Codex: a server
// in the background, a worktree, a workflow, a plan, schedules, permissions, errors, a goal, and /clear at the desk. With CCBOT_SHOTS
// it keeps a picture of the chat after each step, for somebody to look at, and beside it what the chat got since the step before.
func TestDayOfEightSessions(t *testing.T) {
	pagetest.Browser(t)
	home := t.TempDir()
	var all []string
	for _, name := range []string{"web", "docs", "report", "api", "ops", "infra", "jobs", "cx"} {
		dir := filepath.Join(home, name)
		require.NoError(t, os.MkdirAll(dir, 0o750))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "handbook.md"), []byte("The link from before is old.\n"), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "dev-server"), []byte("#!/bin/sh\nexec sleep 7654329\n"), 0o700)) //nolint:gosec // a program
		playground(t, dir)
		all = append(all, dir)
	}
	w, claude := newRealWorldIn(t, home, all...)
	w.userSets(map[string]any{"showClearContextOnPlanAccept": true})
	claude.Means = map[string]string{
		"Start the dev server":                "serve ./dev-server",
		"Make the start page lighter":         "say The page is half as large. Look at http://localhost:8080/.",
		"And the footer?":                     "mute until " + filepath.Join(home, "free"),
		"Then the header too":                 "say The header is lighter now.",
		"Work on the docs in a worktree":      "enter docs-links",
		"Check all links of the handbook":     "edit " + filepath.Join(home, "docs", ".claude", "worktrees", "docs-links", "handbook.md"),
		"Leave the worktree":                  "leave",
		"Give the headings another colour":    "ask one",
		"Is that all?":                        "say Yes, that is all.",
		"Compare the numbers of both years":   `use Workflow {"script":"export const meta = {name: 'compare', description: 'compares the numbers of both years', phases: [{title: 'Read'}]}\nawait agent('slow 600')\n"}`,
		"How long will it take?":              "say About ten minutes.",
		"Plan how we move to the new prices":  "plan",
		"Look at the backup every year":       "remind",
		"Which backup is the newest?":         "say The one of last night.",
		"How large is it?":                    "say It has 12 GB.",
		"What did we talk about?":             "say We have only just begun.",
		"Delete the old backups":              "slow 600",
		"Write a summary of the whole year":   "refuse The API is overloaded.",
		"Then only of the last month, please": "say The last month was calm.",
	}
	w.addCodexOf(realcodex.InCodeMode, all...).Means = map[string]string{
		"Are all machines up to date?":   "say All machines have the update.",
		"Note the update in /etc":        "patch " + filepath.Join(home, "etc-notes"),
		"Restart the web server":         "esc true restart-web",
		"Import the orders of last week": "error 500",
		"Is the API still slow?":         "down " + filepath.Join(home, "up"),
		"Try it again":                   "say All 311 orders are imported.",
		"How many customers are new?":    "run seq 3 && wc -l colours.conf",
		"Who wrote the importer?":        "say Nobody knows.",
		"Is it fast enough?":             "say It takes two seconds.",
		"How far are you?":               "say Half of the tests pass.",
	}
	config := filepath.Join(w.state, "..", "codex", "config.toml")
	data, err := os.ReadFile(config)
	require.NoError(t, err)
	data = []byte(strings.Replace(string(data), realcodex.NoRetries, "request_max_retries = 0\nstream_max_retries = 6", 1))
	require.NoError(t, os.WriteFile(config, data, 0o600))
	w.env = append(w.env, "HOME="+home, "CCBOT_ROOTS="+home, "AGENT_ENV_NO_PROXY=127.0.0.1", withCards)
	catalog := i18n.Load(glyph.Name)
	d := &day{walk: &walk{world: w, lang: "en", catalog: catalog, words: catalog.For("en")}, home: home, seen: map[int]string{}}
	d.start()
	d.page = pagetest.Open(t, d.api, phone)
	d.startsAll()
	d.servesPages()
	d.worksInWorktree()
	d.compares()
	d.plans()
	d.schedules()
	d.patches()
	d.fails()
	d.pursues()
	d.stops()
	d.endsDay()
	assert.Empty(t, d.page.Problems(), "console errors")
	d.stop()
}

// shown keeps what the chat shows after a step.
func (d *day) shown(name string) {
	d.t.Helper()
	d.drained()
	d.steps++
	name = fmt.Sprintf("%02d-%s", d.steps, name)
	d.page.Look(pagetest.Look{Width: 390, Height: 844, Scale: 1.5})
	assert.Empty(d.t, pagetest.Value[[]string](d.page, cutButtons), "buttons of %s that are too long", name)
	shoot(d.t, d.page, name)
	var news strings.Builder
	for _, m := range d.api.Messages(d.chat()) {
		who := map[bool]string{false: "person", true: "ccbot"}[m.FromBot]
		text := fmt.Sprintf("%d %s %s", m.ID, who, m.Body())
		for _, row := range m.Keyboard {
			text += "\n   "
			for _, b := range row {
				text += " [" + b.Text + "]"
			}
		}
		if d.seen[m.ID] != text {
			news.WriteString(text + "\n\n")
		}
		d.seen[m.ID] = text
	}
	if dir := os.Getenv(shotsVariable); dir != "" {
		require.NoError(d.t, os.WriteFile(filepath.Join(dir, name+".txt"), []byte(news.String()), 0o600))
	}
}

// to sends a text to a session that becomes the current one before.
func (d *day) to(name, text string) int {
	d.t.Helper()
	list := d.sees(d.say("/list"), name)
	if !d.hasWord(list.ID, "✓ "+name) {
		d.pressWord(list.ID, name)
		d.until(name+" is the current one", func() bool { return d.hasWord(list.ID, "✓ "+name) })
	}
	return d.say(text)
}

// rests waits until a session is idle.
func (d *day) rests(name string) {
	d.t.Helper()
	d.until(name+" is idle", func() bool { return d.record(name).Phase == "idle" })
}

func (d *day) startsAll() {
	for _, one := range []struct{ name, agent, prompt, answer string }{
		{"docs", "", "", ""}, {"report", "", "", ""}, {"api", "", "", ""},
		{"ops", "", "Which backup is the newest?", "last night"},
		{"infra", " --agent codex", "Are all machines up to date?", "have the update"},
		{"jobs", " --agent codex", "Who wrote the importer?", "Nobody knows"}, {"cx", " --agent codex", "", ""},
	} {
		asked := d.say("/new " + one.name + " ~/" + one.name + one.agent)
		if one.prompt != "" { // it waits until the session is ready
			d.sees(d.say(one.prompt), one.answer)
		}
		d.sees(asked, d.says(i18n.Ready, i18n.Args{"Name": one.name}))
	}
	d.sees(d.say("/new web ~/web"), "web is ready")
	d.shown("eight-sessions")
	d.sees(d.say("/list"), "8 sessions")
	d.shown("list")
}

func (d *day) servesPages() {
	asked := d.say("Start the dev server")
	allow := d.with(asked, i18n.AskAllow)
	d.shown("server-asks")
	d.press(allow.ID, i18n.AskAllow)
	d.sees(asked, "tool result")
	d.rests("web")
	d.shown("server-runs")
	d.sees(d.say("Make the start page lighter"), "half as large")
	d.rests("web")
	d.shown("server-and-answer")
	busy := d.say("And the footer?")
	d.with(busy, i18n.ButtonStop)
	held := d.say("Then the header too")
	d.with(held, i18n.ButtonInterruptSend)
	d.shown("text-waits")
	d.sees(d.say("/status"), "web")
	d.shown("status-in-turn")
	require.NoError(d.t, os.WriteFile(filepath.Join(d.home, "free"), nil, 0o600))
	d.sees(held, "lighter now")
	d.rests("web")
	d.shown("both-answered")
	d.sees(d.say("/stop"), "Still running")
	d.shown("stop-when-idle")
}

func (d *day) worksInWorktree() {
	asked := d.to("docs", "Work on the docs in a worktree")
	d.sees(asked, "now works in")
	d.sees(asked, "tool result")
	d.rests("docs")
	d.shown("worktree")
	asked = d.say("Check all links of the handbook")
	allow := d.with(asked, i18n.AskAllow)
	d.shown("worktree-asks")
	d.press(allow.ID, i18n.AskAllow)
	d.sees(asked, "tool result")
	d.rests("docs")
	d.shown("worktree-answer")
	d.sees(d.say("/changes"), "docs")
	d.shown("worktree-changes")
	asked = d.say("Leave the worktree")
	d.sees(asked, "now works in")
	d.rests("docs")
	d.shown("worktree-left")
	d.sees(d.say("Give the headings another colour"), "Which colour?")
	held := d.say("Is that all?")
	d.sees(held, "docs is waiting for your answer")
	d.shown("question-and-text")
	d.pressWord(d.withWord(asked, "Blue").ID, "Blue")
	d.sees(held, "that is all")
	d.rests("docs")
	d.shown("question-answered")
}

func (d *day) compares() {
	asked := d.to("report", "Compare the numbers of both years")
	allow := d.with(asked, i18n.AskAllow)
	d.shown("workflow-asks")
	d.press(allow.ID, i18n.AskAllow)
	d.until("it runs", func() bool { return d.screenHas("report", "dynamic workflow") })
	d.sees(d.say("How long will it take?"), "About ten minutes")
	d.shown("workflow-and-text")
	d.sees(d.say("/status"), "report")
	d.shown("workflow-status")
}

func (d *day) plans() {
	list := d.to("api", "/mode")
	mode := d.withWord(list, "Plan")
	d.pressWord(mode.ID, "Plan")
	d.until("it plans", func() bool { return d.screenHas("api", "plan mode on") })
	d.shown("mode-plan")
	asked := d.say("Plan how we move to the new prices")
	d.sees(asked, "proposes a plan")
	d.until("the terminal asks", func() bool { return d.screenHas("api", "clear context") })
	d.shown("plan")
	before := d.record("api").AgentSessionID
	d.presses("=ccbot:=api", "Enter", func() bool { return d.screenHas("api", "clear context") })
	d.until("it goes on in a new conversation", func() bool { return d.record("api").AgentSessionID != before })
	d.sees(asked, "carries out the plan in a new conversation.")
	d.sees(asked, "echo: Implement the following plan")
	d.rests("api")
	d.shown("plan-in-new-conversation")
	d.sees(d.say("/status"), "Permission mode")
	d.shown("plan-status")
}

func (d *day) schedules() {
	asked := d.to("ops", "Look at the backup every year")
	d.sees(asked, "tool result")
	d.rests("ops")
	d.sees(d.say("/at 23:00 How large is it?"), "23:00")
	d.shown("schedules-made")
	d.sees(d.say("/schedules"), "How large is it?")
	d.sees(d.say("/status"), "schedule of its own")
	d.shown("schedules-listed")
	before := d.record("ops").AgentSessionID
	d.tmux("send-keys", "-t", "=ccbot:=ops", "-l", "/clear")
	d.until("the box has it", func() bool { return d.screenHas("ops", "❯ /clear") })
	d.tmux("send-keys", "-t", "=ccbot:=ops", "Enter")
	d.until("it is cleared", func() bool { return d.record("ops").AgentSessionID != before })
	d.sees(d.say("What did we talk about?"), "only just begun")
	d.rests("ops")
	d.shown("cleared-at-the-desk")
	d.sees(d.say("/status"), "ops")
	d.shown("cleared-status")
}

func (d *day) patches() {
	asked := d.to("infra", "Note the update in /etc")
	allow := d.with(asked, i18n.AskAllow)
	d.shown("patch-asks")
	d.press(allow.ID, i18n.AskAllow)
	d.sees(asked, "tool result")
	d.rests("infra")
	d.shown("patch-allowed")
	asked = d.say("Restart the web server")
	deny := d.with(asked, i18n.AskDeny)
	d.shown("command-asks")
	d.press(deny.ID, i18n.AskDeny)
	d.sees(asked, "rejected")
	d.rests("infra")
	d.shown("command-denied")
}

func (d *day) fails() {
	d.sees(d.to("jobs", "Import the orders of last week"), "stopped with an error")
	d.shown("error")
	d.sees(d.say("/list"), "8 sessions")
	d.shown("error-list")
	d.sees(d.say("Try it again"), "311 orders")
	d.rests("jobs")
	d.shown("error-retried")
	again := d.say("Is the API still slow?")
	d.until("it is repeated", func() bool { return d.screenHas("jobs", "Reconnecting") })
	d.with(again, i18n.ButtonStop)
	d.shown("api-repeats")
	require.NoError(d.t, os.WriteFile(filepath.Join(d.home, "up"), nil, 0o600))
	d.sees(again, "up again")
	d.rests("jobs")
	d.shown("api-is-back")
	d.sees(d.say("How many customers are new?"), "tool result")
	d.rests("jobs")
	d.shown("command-in-code-mode")
}

func (d *day) pursues() {
	d.sees(d.to("cx", "Is it fast enough?"), "two seconds")
	d.rests("cx")
	before := d.record("cx").AgentSessionID
	d.codexCommand("/new", func() bool { return d.record("cx").AgentSessionID != before })
	d.codexTypes("say The tests are green.")
	d.sees(0, "The tests are green.")
	d.rests("cx")
	d.shown("new-at-the-desk")
	d.codexTypes("/goal make all tests pass")
	d.until("the goal is known", func() bool { return d.record("cx").PhaseWhat == "pursuing" })
	d.sees(d.say("/list"), "8 sessions")
	d.shown("goal")
	text := d.say("How far are you?")
	pause := d.withWord(text, "Pause the goal")
	d.shown("goal-and-text")
	d.pressWord(pause.ID, "Pause the goal")
	d.sees(text, "Half of the tests")
	d.until("the goal is paused", func() bool { return !d.record("cx").Progress.Pursues })
	d.shown("goal-paused")
}

func (d *day) stops() {
	d.to("ops", "Delete the old backups")
	d.until("it answers", func() bool { return d.screenHas("ops", "slow word slow word") })
	d.shown("long-turn")
	d.sees(d.say("/stop"), "ops is interrupted")
	d.rests("ops")
	d.shown("stopped")
	failed := d.say("Write a summary of the whole year")
	d.sees(failed, "stopped with an error")
	d.shown("error-of-claude")
	d.sees(d.say("Then only of the last month, please"), "was calm")
	d.rests("ops")
	d.shown("after-the-error")
}

func (d *day) endsDay() {
	d.sees(d.say("/list"), "8 sessions")
	d.shown("list-at-the-end")
	ask := d.with(d.say("/kill web"), i18n.ButtonKill)
	d.shown("kill-asks")
	d.press(ask.ID, i18n.ButtonKill)
	d.sees(ask.ID, "web is archived")
	d.shown("killed")
	resumed := d.say("/resume web")
	d.sees(resumed, "web is ready")
	d.shown("resumed")
	d.sees(d.say("/why api"), "api")
	d.shown("why")
	d.sees(d.say("/health"), "Everything works")
	d.shown("health")
	for _, name := range []string{"report", "ops"} {
		ask := d.with(d.say("/kill "+name), i18n.ButtonKill)
		d.press(ask.ID, i18n.ButtonKill)
		d.sees(ask.ID, name+" is archived")
	}
	d.shown("two-more-killed")
}
