package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/i18n"
	"ccbot/try/botapi"
)

// tourOfMenu starts at the menu: a new session in a searched folder, which continues a conversation
// unknown to ccbot with a first prompt; then the archive, the history, the cost, ccbot's health, and
// the settings, where the language changes to each other one.
func tourOfMenu(t *testing.T, tr *walk) {
	tr.opens(t, botapi.Options{}, func() { tr.past(); tr.folders() })
	tr.begins()
	tr.works()
	tr.looksBack()
	tr.spends()
	tr.speaksOthers()
	tr.ends()
}

// folders makes what the browser shows, and conversations in one of the folders.
func (tr *walk) folders() {
	for _, name := range []string{"shop", "shop-admin", "a-service-with-a-very-long-name", "docs", "старый-сайт", "网站", ".hidden"} {
		require.NoError(tr.t, os.MkdirAll(filepath.Join(tr.dir, name), 0o700))
	}
	shop := filepath.Join(tr.dir, "shop")
	playground(tr.t, shop)
	now := time.Now().UTC()
	for n, last := range []string{"What would you do about it?", "And on Tuesdays?", "Is it the time zone?", "Почему только по понедельникам?",
		"请解释原因。", "Compare it with the same test of the admin pages, and tell me in a few words what is different there."} {
		end := now.Add(-time.Duration(n*n*26+2) * time.Hour)
		path := filepath.Join(tr.claude, "projects", regexp.MustCompile("[^A-Za-z0-9]").ReplaceAllString(shop, "-"), uuid.NewString()+".jsonl")
		require.NoError(tr.t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(tr.t, os.WriteFile(path, []byte(conversation(shop, end, last)), 0o600))
		require.NoError(tr.t, os.Chtimes(path, end, end))
	}
}

// turnsTo presses a button, and waits for another one on the same message.
func (tr *walk) turnsTo(id int, press, until string) {
	tr.t.Helper()
	tr.pressWord(id, press)
	tr.until("there is the button "+until, func() bool { return tr.hasWord(id, until) })
}

// begins finds a folder and starts a session there.
func (tr *walk) begins() {
	at := tr.with(tr.say("/menu"), i18n.PageNew).ID
	tr.screen("menu")
	tr.turnsTo(at, tr.says(i18n.PageNew), tr.says(i18n.ButtonBrowse))
	tr.screen("places")
	tr.turnsTo(at, tr.says(i18n.ButtonBrowse), "work")
	tr.screen("home")
	tr.turnsTo(at, "work", "shop-admin")
	tr.screen("folders")

	at = tr.replied(at, "SHOP", "shop-admin")
	require.False(tr.t, tr.hasWord(at, "docs"))
	tr.screen("filtered")
	tr.turnsTo(at, tr.says(i18n.ButtonBack), "docs")
	tr.press(at, i18n.ButtonNewFolder)
	tr.shows(at, tr.says(i18n.NewFolderName, i18n.Args{"Dir": "~/work"}))
	tr.screen("naming")
	at = tr.replied(at, "warehouse", tr.says(i18n.ButtonUseThis))
	tr.screen("made")
	tr.turnsTo(at, tr.says(i18n.ButtonStar), tr.says(i18n.ButtonUnstar))
	tr.turnsTo(at, tr.says(i18n.ButtonUp), "shop")
	tr.press(at, "shop")
	tr.shows(at, "~/work/shop")
	tr.turnsTo(at, tr.says(i18n.ButtonUseThis), tr.says(i18n.ButtonStartFresh))
	tr.screen("conversations")
	tr.turnsTo(at, "→", "5")
	tr.turnsTo(at, "←", "1")

	tr.say("say good morning")
	tr.until("the text is kept", func() bool { return tr.has(at, i18n.ButtonTakeBack) })
	tr.screen("first")
	tr.pressWord(at, "1")
	tr.until("the page is over", func() bool { return len(tr.message(at).Keyboard) == 0 })
	tr.sees(at, "good morning")
	tr.screen("begun")
}

// works has the card of a turn, which leads to another session, and its steps.
func (tr *walk) works() {
	for _, name := range []string{"orders", "checkout"} {
		tr.sees(tr.say("/new "+name+" "+filepath.Join(tr.dir, "shop")), tr.says(i18n.Ready, i18n.Args{"Name": name}))
	}
	card := tr.withWord(tr.say("work 24"), "orders")
	tr.showedSteps(card.ID)
	tr.screen("card")
	tr.sees(card.ID, "All 24 steps are done")
	tr.press(card.ID, i18n.ButtonDetails)
	tr.until("the card shows all steps", func() bool { return tr.has(card.ID, i18n.ButtonBack) })
	tr.screen("details")
}

// looksBack opens the history of an archived session and searches there.
func (tr *walk) looksBack() {
	at := tr.with(tr.say("/menu"), i18n.PageArchive).ID
	tr.turnsTo(at, tr.says(i18n.PageArchive), tr.says(i18n.ButtonLost))
	tr.screen("archive")
	at = tr.with(tr.say("/history shop"), i18n.ButtonOlder).ID
	tr.screen("history")
	at = tr.replied(at, "mondays", "1")
	require.False(tr.t, tr.has(at, i18n.ButtonDays))
	tr.screen("found")
}

// spends shows what was used, and how ccbot does.
func (tr *walk) spends() {
	at := tr.with(tr.say("/menu"), i18n.PageUsage).ID
	tr.turnsTo(at, tr.says(i18n.PageUsage), tr.says(i18n.ButtonRefresh))
	tr.screen("today")
	month := tr.says(i18n.UsageDays, i18n.Args{"Count": 30})
	tr.turnsTo(at, month, "✓ "+month)
	tr.screen("month")

	at = tr.with(tr.say("/menu"), i18n.PageHealth).ID
	tr.turnsTo(at, tr.says(i18n.PageHealth), tr.says(i18n.ButtonRefresh))
	tr.screen("health")
}

// speaksOthers chooses each other language in the settings and goes through the menu in it.
func (tr *walk) speaksOthers() {
	at := tr.with(tr.say("/menu"), i18n.PageSettings).ID
	for _, lang := range i18n.Languages() {
		if lang == tr.lang {
			continue
		}
		tr.turnsTo(at, tr.says(i18n.PageSettings), tr.says(i18n.SettingQuiet))
		label := tr.catalog.For(lang).Say(i18n.LanguageName)
		tr.turnsTo(at, tr.says(i18n.SettingLanguage), label)
		tr.screen("language")
		tr.turnsTo(at, label, "✓ "+label)
		tr.words = tr.catalog.For(lang)
		tr.shows(at, tr.says(i18n.SettingLanguageAbout))
		tr.screen("chosen")
		tr.turnsTo(at, tr.says(i18n.ButtonBack), tr.says(i18n.SettingQuiet))
		tr.screen("settings")
		tr.turnsTo(at, tr.says(i18n.ButtonBack), tr.says(i18n.PageArchive))
		tr.screen("menu")
		for _, page := range []struct{ leads, shows i18n.Key }{
			{i18n.PageArchive, i18n.ButtonLost}, {i18n.PageUsage, i18n.ButtonRefresh},
			{i18n.PageHealth, i18n.ButtonRefresh}, {i18n.PageHelp, i18n.HelpWorkTitle},
		} {
			tr.turnsTo(at, tr.says(page.leads), tr.says(page.shows))
			tr.screen("page")
			tr.turnsTo(at, tr.says(i18n.ButtonBack), tr.says(i18n.PageArchive))
		}
	}
}

// replied replies to a page, which then moves below the reply, and returns the page's new message.
func (tr *walk) replied(to int, text, button string) (id int) {
	tr.t.Helper()
	return tr.withWord(tr.person.Reply(tr.chat(), to, text), button).ID
}
