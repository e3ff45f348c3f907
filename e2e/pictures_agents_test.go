//go:build pictures && linux

package e2e

import (
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

// The windows of a desktop, and of a phone whose list of five sessions is whole.
var (
	wide = pagetest.Look{Width: 900, Height: 780, Scale: 1.5}
	tall = pagetest.Look{Width: 390, Height: 780, Scale: 1.5}
)

// What the person of the pictures writes.
const (
	asksLinks  = "Check all links of the handbook"
	asksPage   = "Make the start page lighter"
	asksNotes  = "Write the new prices into the notes"
	asksPrices = "Now compare them with last year's"
	asksColour = "Give the headings another colour"
	asksUpdate = "Update all machines"
	asksCount  = "How many colours are there?"
	asksDeploy = "Deploy it"
)

// TestPicturesOfAgents makes the pictures of a chat with three sessions of the real Claude Code and
// two of the real Codex, for `make pictures`. With CCBOT_SHOTS it also keeps each screen, as it is on
// a phone and on a desktop.
func TestPicturesOfAgents(t *testing.T) {
	pagetest.Browser(t)
	home := t.TempDir()
	var all []string
	for _, name := range []string{"api", "docs", "infra", "shop", "web"} {
		dir := filepath.Join(home, name)
		require.NoError(t, os.MkdirAll(dir, 0o750))
		playground(t, dir)
		all = append(all, dir)
	}
	w, claude := newRealWorldIn(t, home, all...)
	notes := filepath.Join(home, "shop", "notes")
	require.NoError(t, os.WriteFile(notes, []byte("before\n"), 0o600))
	claude.Means = map[string]string{asksLinks: "say The links are right now.", asksPage: "say The page is half as large.",
		asksNotes: "job " + notes, asksPrices: "slow 600", asksColour: "ask one"}
	w.addCodexOf(realcodex.InCodeMode, all...).Means = map[string]string{asksUpdate: "say All machines have the update.",
		asksCount: "run seq 3 && sleep 4 && wc -l colours.conf", asksDeploy: "esc make deploy"}
	w.env = append(w.env, "HOME="+home, "CCBOT_ROOTS="+home, "AGENT_ENV_NO_PROXY=127.0.0.1", "CLAUDE_CODE_ENABLE_TODO_TOOLS=1", withCards)
	catalog := i18n.Load(glyph.Name)
	tr := &walk{world: w, lang: "en", catalog: catalog, words: catalog.For("en")}
	tr.start()
	tr.page = pagetest.Open(t, tr.api, phone)
	tr.opensFive()
	tr.worksInBoth()
	tr.codexAsks()
	tr.readsPast()
	assert.Empty(t, tr.page.Problems(), "console errors")
	tr.stop()
}

// kept keeps a screen for CCBOT_SHOTS.
func (tr *walk) kept(name string) {
	tr.t.Helper()
	for _, look := range []struct {
		name string
		pagetest.Look
	}{{"phone", phone}, {"desktop", wide}} {
		tr.page.Look(look.Look)
		assert.Empty(tr.t, pagetest.Value[[]string](tr.page, cutButtons), "buttons of %s that are too long, %s", name, look.name)
		shoot(tr.t, tr.page, name+"-"+look.name)
	}
}

// opensFive opens the sessions, each with a turn.
func (tr *walk) opensFive() {
	for _, one := range []struct{ name, agent, prompt, answer string }{
		{"docs", "", asksLinks, "links are right"},
		{"web", "", asksPage, "half as large"},
		{"infra", " --agent codex", asksUpdate, "have the update"},
		{"shop", "", "", ""},
		{"api", " --agent codex", "", ""},
	} {
		asked := tr.say("/new " + one.name + " ~/" + one.name + one.agent)
		tr.sees(asked, tr.says(i18n.Ready, i18n.Args{"Name": one.name}))
		if one.prompt != "" {
			tr.sees(tr.say(one.prompt), one.answer)
		}
		tr.kept("02-ready-" + one.name)
	}
}

// chooses makes a session the current one.
func (tr *walk) chooses(name string) {
	tr.t.Helper()
	list := tr.sees(tr.say("/list"), "shop")
	tr.pressWord(list.ID, name)
	tr.until(name+" is the current one", func() bool { return tr.hasWord(list.ID, "✓ "+name) })
}

// worksInBoth has a turn of Codex and a turn of Claude Code.
func (tr *walk) worksInBoth() {
	asked := tr.say(asksCount)
	card := tr.with(asked, i18n.ButtonStop)
	tr.until("the card shows the step", func() bool { return strings.Contains(tr.message(card.ID).Body(), "wc -l") })
	tr.kept("03-card-codex")
	tr.sees(asked, "tool result")
	tr.kept("04-answer-codex")

	tr.chooses("shop")
	asked = tr.say(asksNotes)
	allow := tr.with(asked, i18n.AskAllow)
	tr.kept("05-card-claude")
	tr.tap(allow, tr.says(i18n.AskAllow))
	tr.sees(asked, "The job is done")
	tr.kept("06-answer-claude")
	tr.with(tr.say(asksPrices), i18n.ButtonStop)
}

// codexAsks has a request of Codex and a question of Claude Code, and lists all.
func (tr *walk) codexAsks() {
	tr.chooses("docs")
	tr.sees(tr.say(asksColour), "Which colour?")
	tr.chooses("api")
	asked := tr.say(asksDeploy)
	allow := tr.with(asked, i18n.AskAllow)
	tr.kept("07-request-codex")
	tr.sees(tr.say("/list"), "shop")
	tr.kept("08-list")
	tr.picture("agents", tall)
	tr.tap(allow, tr.says(i18n.AskAllow))
	tr.sees(asked, "tool result")
	tr.kept("09-allowed-codex")
}

// readsPast shows what was done.
func (tr *walk) readsPast() {
	tr.sees(tr.say("/why api"), "api")
	tr.kept("10-why")
	tr.sees(tr.say("/status api"), "api")
	tr.kept("11-status")
	tr.with(tr.say("/usage"), i18n.ButtonRefresh)
	tr.kept("12-usage")
	tr.sees(tr.say("/history api"), "api")
	tr.kept("13-history")
	tr.sees(tr.say("/mode api"), "api")
	tr.kept("14-mode")
	ask := tr.with(tr.say("/kill api"), i18n.ButtonKill)
	tr.press(ask.ID, i18n.ButtonKill)
	tr.sees(ask.ID, "api is archived")
	tr.kept("15-killed")
	tr.sees(tr.say("/archive"), "api")
	tr.kept("16-archive")
	tr.sees(tr.say("/settings"), "Claude Code (default)")
	tr.kept("17-settings")
	tr.withWord(tr.say("/new"), "Codex")
	tr.kept("18-new")
}
