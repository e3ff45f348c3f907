package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/longtest"
	"ccbot/internal/programtest"
	"ccbot/try/botapi"
	"ccbot/try/botapi/pagetest"
)

// walk is one way through the chat, in the page of the stand-in.
type walk struct {
	*world
	name     string // in the names of its pictures
	catalog  *i18n.Catalog
	lang     string // of the pictures: the walk may change its words on the way
	words    i18n.Words
	page     *pagetest.Page
	kills    bool // the bot is killed and restarted after each screen
	pictures int
}

// TestTour takes the ways through the chat that people take: a day, what a menu leads to, what is
// past, what waits for a person, and another machine. Each screen is checked on a phone and on a
// desktop. Once the bot is killed after each screen. With CCBOT_SHOTS, see `make tour`, the walks go
// in each language and keep pictures, which are also dark.
//
// What the chat says in each language is what TestTourOfEachLanguage shows.
func TestTour(t *testing.T) {
	longtest.Mark(t, "starts a browser")
	t.Parallel()
	pagetest.Browser(t)
	catalog := i18n.Load(glyph.Name)
	langs := []string{"en"}
	if os.Getenv(shotsVariable) != "" {
		langs = i18n.Languages()
	}
	parts := make(map[string]func(t *testing.T))
	for _, one := range []struct {
		name  string
		take  func(t *testing.T, tr *walk)
		kills bool
	}{
		{"day", tourOfDay, true},
		{"menu", tourOfMenu, true},
		{"past", tourOfPast, true},
		{"attention", tourOfAttention, false},
		{"machines", tourOfMachines, false},
	} {
		for _, lang := range langs {
			parts[one.name+"-"+lang] = func(t *testing.T) {
				one.take(t, &walk{name: one.name, catalog: catalog, lang: lang, words: catalog.For(lang)})
			}
		}
		if one.kills {
			parts[one.name+" with a kill behind each screen"] = func(t *testing.T) {
				one.take(t, &walk{name: one.name, catalog: catalog, lang: "en", words: catalog.For("en"), kills: true})
			}
		}
	}
	atOnce(t, parts)
}

// opens opens the page of a world whose bot has started.
func (tr *walk) opens(t *testing.T, chat botapi.Options, before func()) {
	t.Helper()
	tr.world = newWorldAt(t, chat, withCards, "CCBOT_LANG="+tr.lang)
	before()
	tr.start()
	tr.page = pagetest.Open(t, tr.api, pagetest.Look{})
}

// ends stops a walk's bot.
func (tr *walk) ends() {
	tr.t.Helper()
	assert.Empty(tr.t, tr.page.Problems(), "console errors")
	tr.stop()
}

// atOnce runs the parts of a long test side by side. Parallel subtests would begin when all other
// tests have begun.
func atOnce(t *testing.T, parts map[string]func(t *testing.T)) {
	t.Helper()
	var all sync.WaitGroup
	for name, part := range parts {
		all.Go(func() { t.Run(name, part) })
	}
	all.Wait()
}

// tourOfDay has a new session, a prompt with its card, a permission, a prompt that interrupts, the
// answer, the changes, another session, a screenshot, and a topic.
func tourOfDay(t *testing.T, tr *walk) {
	for _, part := range []struct {
		chat botapi.Options
		take func()
	}{{botapi.Options{}, tr.whole}, {botapi.Options{Topics: true}, tr.topic}} {
		tr.opens(t, part.chat, func() { playground(t, tr.dir) })
		part.take()
		tr.ends()
	}
}

// playground makes a repository in which the demo agent really changes files.
func playground(t *testing.T, dir string) {
	t.Helper()
	programtest.Require(t, "git")
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".ccbot-demo"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "colours.conf"), []byte("colour = \"red\"\nsize = 10\n"), 0o600))
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."},
		{"-c", "user.name=Demo", "-c", "user.email=demo@example.com", "commit", "-q", "-m", "the beginning"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}

// says is a sentence of the chat in the tour's language.
func (tr *walk) says(key i18n.Key, args ...i18n.Args) string { return tr.words.Say(key, args...) }

// window is what screens are shown in.
type window struct {
	name string
	pagetest.Look
}

// looks are the windows in which screens are checked. Dark ones are for the pictures: colours move
// nothing.
func looks() []window {
	all := []window{
		{"phone-light", pagetest.Look{Scale: 2}},
		{"desktop-light", pagetest.Look{Width: 1100, Height: 800}},
	}
	if os.Getenv(shotsVariable) != "" {
		all = append(all, window{"phone-dark", pagetest.Look{Scale: 2, Dark: true}}, window{"desktop-dark", pagetest.Look{Width: 1100, Height: 800, Dark: true}})
	}
	return all
}

// cutButtons are the words of those buttons that have no room for them.
const cutButtons = `[...document.querySelectorAll(".keyboard button, .keyboard a")].filter((b) => b.scrollWidth > b.clientWidth).map((b) => b.textContent)`

// screen keeps pictures of what the page shows now.
func (tr *walk) screen(name string) {
	tr.t.Helper()
	if tr.kills {
		tr.until("what was sent is noted", func() bool {
			left, err := filepath.Glob(filepath.Join(tr.state, "outbox", "*.json"))
			return err == nil && len(left) == 0
		})
		tr.kill9()
		tr.start()
		return
	}
	tr.pictures++
	for _, look := range looks() {
		tr.page.Look(look.Look)
		assert.Empty(tr.t, pagetest.Value[[]string](tr.page, cutButtons), "buttons of %s that are too long, %s", name, look.name)
		shoot(tr.t, tr.page, fmt.Sprintf("%s-%s-%02d-%s-%s", tr.lang, tr.name, tr.pictures, name, look.name))
	}
}

// topic is a session in a chat with topics.
func (tr *walk) topic() {
	tr.person.Start()
	asked := tr.say("/new shop " + tr.dir)
	thread := 0
	tr.until("there is a topic", func() bool { thread = tr.api.Topic(tr.chat(), "shop"); return thread != 0 })
	tr.sees(asked, tr.says(i18n.Ready, i18n.Args{"Name": "shop"}))
	tr.screen("topics")
	tr.person.SendIn(tr.chat(), thread, "work 6")
	done := tr.sees(asked, "All 6 steps are done")
	card := tr.with(asked, i18n.ButtonDetails)
	require.Equal(tr.t, done.Thread, card.Thread)
	tr.page.Eval(`[...document.querySelectorAll("#topics button")].find((b) => b.textContent.includes("shop")).click()`)
	tr.page.WaitText("All 6 steps are done")
	tr.screen("topic")
}

// whole goes through the day.
func (tr *walk) whole() {
	tr.sees(tr.say("/new shop "+tr.dir), tr.says(i18n.Ready, i18n.Args{"Name": "shop"}))
	tr.screen("new")

	asked := tr.say("work 30")
	card := tr.with(asked, i18n.ButtonStop)
	tr.showedSteps(card.ID)
	tr.screen("card")
	tr.sees(asked, "All 30 steps are done")
	tr.until("the card is one line", func() bool { return tr.has(card.ID, i18n.ButtonDetails) })
	tr.screen("answer")

	tr.press(card.ID, i18n.ButtonDetails)
	tr.until("the card shows all steps", func() bool { return tr.has(card.ID, i18n.ButtonBack) })
	tr.screen("details")
	tr.press(card.ID, i18n.ButtonChanges)
	changes := tr.withWord(card.ID, "1 colours.conf")
	tr.screen("changes")
	tr.pressWord(changes.ID, "1 colours.conf")
	tr.until("the hunks are shown", func() bool { return strings.Contains(tr.message(changes.ID).Body(), "+weight = 3") })
	tr.screen("hunks")

	asked = tr.say("bash make deploy")
	allow := tr.with(asked, i18n.AskAllow)
	tr.screen("permission")
	tr.tap(allow, tr.says(i18n.AskAllow)) // it may have been brought below a text
	tr.sees(asked, "I pretended to run it")

	slow := tr.say("slow 600")
	tr.with(slow, i18n.ButtonStop)
	asked = tr.say("say the correction")
	queued := tr.with(asked, i18n.ButtonInterruptSend)
	tr.screen("queued")
	tr.press(queued.ID, i18n.ButtonInterruptSend)
	tr.sees(asked, "the correction")
	tr.screen("interrupted")

	asked = tr.say("/mode")
	tr.sees(asked, "shop")
	tr.screen("mode")

	other := filepath.Join(tr.dir, "api")
	require.NoError(tr.t, os.MkdirAll(other, 0o700))
	tr.sees(tr.say("/new api "+other), tr.says(i18n.Ready, i18n.Args{"Name": "api"}))
	tr.sees(tr.say("code"), "A tour of Markdown")
	asked = tr.say("/list")
	list := tr.sees(asked, "shop")
	tr.screen("list")
	tr.pressWord(list.ID, "shop")
	tr.until("shop is the current one", func() bool { return tr.hasWord(list.ID, "✓ shop") })
	tr.screen("switched")

	asked = tr.say("/screenshot")
	tr.until("a screenshot has come", func() bool {
		return slices.ContainsFunc(tr.api.Messages(tr.chat()), func(m botapi.Message) bool {
			return m.FromBot && m.ID > asked && len(m.Keyboard) > 2
		})
	})
	tr.screen("screenshot")
	tr.menu()
}

// menu goes from the menu to each of its pages and back, in one message.
func (tr *walk) menu() {
	id := tr.with(tr.say("/menu"), i18n.PageHelp).ID
	tr.screen("menu")
	for _, at := range []struct {
		name  string
		page  i18n.Key
		shows string
		then  func() // the action on the page
	}{
		{"sessions", i18n.PageSessions, "shop", func() {
			tr.pressWord(id, "api")
			tr.until("api is the current one", func() bool { return tr.hasWord(id, "✓ api") })
		}},
		{"health", i18n.PageHealth, "tmux ", func() { tr.press(id, i18n.ButtonRefresh) }},
		{"help", i18n.PageHelp, tr.says(i18n.HelpAbout), func() {
			tr.press(id, i18n.HelpWorkTitle)
			tr.shows(id, "/stop")
			tr.screen("topic")
			tr.press(id, i18n.ButtonBack)
			tr.shows(id, tr.says(i18n.HelpAbout))
		}},
	} {
		tr.press(id, at.page)
		tr.shows(id, at.shows)
		tr.screen(at.name)
		at.then()
		tr.press(id, i18n.ButtonBack)
		tr.shows(id, tr.says(i18n.MenuAsk))
	}
}

// message is a message as it is now.
func (tr *walk) message(id int) (found botapi.Message) {
	for _, m := range tr.api.Messages(tr.chat()) {
		if m.ID == id {
			found = m
		}
	}
	return found
}

func (tr *walk) has(id int, word i18n.Key) bool { return tr.hasWord(id, tr.says(word)) }

func (tr *walk) hasWord(id int, word string) bool {
	_, ok := tr.message(id).Find(word)
	return ok
}

// with waits for a message of the bot after another one that has a button.
func (tr *walk) with(after int, word i18n.Key) botapi.Message {
	tr.t.Helper()
	return tr.withWord(after, tr.says(word))
}

func (tr *walk) withWord(after int, word string) (found botapi.Message) {
	tr.t.Helper()
	tr.until("a message has the button "+word, func() bool {
		for _, m := range tr.api.Messages(tr.chat()) {
			if _, ok := m.Find(word); ok && m.FromBot && m.ID > after {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// press taps a button of a message as the message is now.
func (tr *walk) press(id int, word i18n.Key) { tr.t.Helper(); tr.pressWord(id, tr.says(word)) }

func (tr *walk) pressWord(id int, word string) {
	tr.t.Helper()
	tr.until(fmt.Sprintf("message %d has the button %q", id, word), func() bool { return tr.hasWord(id, word) })
	tr.tap(tr.message(id), word)
}

// sees waits for a message of the bot after another one that contains text, formatted or not.
func (tr *walk) sees(after int, text string) (found botapi.Message) {
	tr.t.Helper()
	tr.until("the chat shows "+text, func() bool {
		for _, m := range tr.api.Messages(tr.chat()) {
			if m.FromBot && m.ID > after && strings.Contains(m.Body(), text) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}
