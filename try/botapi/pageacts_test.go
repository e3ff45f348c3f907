package botapi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/longtest"
	"ccbot/try/botapi"
	"ccbot/try/botapi/botapitest"
	"ccbot/try/botapi/pagetest"
)

// choose opens the menu of a message with the right button of a mouse, and takes an entry.
func choose(page *pagetest.Page, id int, label string) {
	page.Eval(fmt.Sprintf(`document.querySelector('[data-id="%d"] .bubble').dispatchEvent(new MouseEvent("contextmenu", { bubbles: true, cancelable: true, clientX: 90, clientY: 300 }))`, id))
	page.Wait(fmt.Sprintf(`(() => { const b = [...document.querySelectorAll("#actions button")].find((n) => n.textContent === %q); b?.click(); return !!b; })()`, label))
}

// TestPageEditsAndAnswersWhateverMessage: one's own text is edited, a message with buttons is
// answered with a text, a picture and a voice message, in its topic.
func TestPageEditsAndAnswersWhateverMessage(t *testing.T) {
	longtest.Mark(t, "starts a browser")
	t.Parallel()
	srv := botapitest.Start(t, botapi.Options{Topics: true})
	b := newBot(t, srv)
	me := srv.PagePerson()
	me.Start()
	page := pagetest.Open(t, srv, pagetest.Look{})
	page.Send("a mistake")
	own := botapitest.Wait(t, srv, me.ID(), func(m botapi.Message) bool { return m.Text == "a mistake" })
	page.WaitText("a mistake")
	choose(page, own.ID, "Edit")
	page.Wait(`document.getElementById("text").value === "a mistake"`)
	page.Send(", mended")
	botapitest.Wait(t, srv, me.ID(), func(m botapi.Message) bool { return m.ID == own.ID && m.Text == "a mistake, mended" })
	page.WaitText("a mistake, mended")
	page.Wait(`document.getElementById("text").value === "" && document.getElementById("replying").hidden`)

	topic, err := b.CreateForumTopic(t.Context(), &tgbot.CreateForumTopicParams{ChatID: me.ID(), Name: "blog"})
	require.NoError(t, err)
	thread := topic.MessageThreadID
	menu, err := b.SendMessage(t.Context(), &tgbot.SendMessageParams{ChatID: me.ID(), MessageThreadID: thread, Text: "choose",
		ReplyMarkup: keys([]models.InlineKeyboardButton{key("Go on", "go", "")})})
	require.NoError(t, err)
	page.Wait(`document.querySelectorAll("#topics button").length === 2`)
	page.Eval(`document.querySelectorAll("#topics button")[1].click()`)
	page.WaitText("choose")
	answers := func(what string, is func(m botapi.Message) bool) {
		m := botapitest.Wait(t, srv, me.ID(), is)
		require.NotNil(t, m.ReplyTo, what)
		assert.Equal(t, []int{menu.ID, thread}, []int{m.ReplyTo.ID, m.Thread}, what)
	}
	choose(page, menu.ID, "Reply")
	page.Send("like this")
	answers("a text", func(m botapi.Message) bool { return m.Text == "like this" })
	choose(page, menu.ID, "Reply")
	page.Eval(`document.getElementById("voice").click()`)
	answers("a voice message", func(m botapi.Message) bool { return m.Voice != nil })
	choose(page, menu.ID, "Reply")
	page.Eval(`(() => { const all = new DataTransfer(); all.items.add(new File(["x"], "a.txt")); const f = document.getElementById("file");
		f.files = all.files; f.dispatchEvent(new Event("change")); })()`)
	answers("a file", func(m botapi.Message) bool { return m.Document != nil })
	page.Wait(`document.getElementById("replying").hidden`)

	choose(page, menu.ID, "Reply")
	page.Press("Escape")
	page.Eval(`document.querySelector('[data-id="` + fmt.Sprint(menu.ID) + `"] .bubble').dispatchEvent(new MouseEvent("contextmenu", { bubbles: true, clientX: 380, clientY: 830 }))`)
	assert.False(t, pagetest.Value[bool](page, `[...document.querySelectorAll("#actions button")].some((n) => n.textContent === "Edit")`), "nobody edits another's message")
	assert.True(t, pagetest.Value[bool](page, `(() => { const b = document.getElementById("actions").getBoundingClientRect(); return b.right <= innerWidth && b.bottom <= innerHeight; })()`))
	assert.Empty(t, page.Problems())
}

const richSource = "# The plan\n\nThis is **bold**, *slanted*, ~~gone~~ and `code`, with a [link](https://example.com/x) and /list  \non a second line.\n\n" +
	"- first\n  - **inner**\n- [x] done\n- [ ] open\n\n1. one\n2. two\n\n> a quotation\n> of two lines\n\n| File | Lines |\n|:--|--:|\n| a.go | 12 |\n| `b\\|c.go` | 7 |\n\n" +
	"```go\nfmt.Println(\"# no heading\")\n```\n\n***\n\nNot \\*bold\\*, <img src=x onerror=alert(1)> and 2 * 3 * 4."

// TestPageDrawsRichMessages, with nothing of them as HTML.
func TestPageDrawsRichMessages(t *testing.T) {
	longtest.Mark(t, "starts a browser")
	t.Parallel()
	srv := botapitest.Start(t, botapi.Options{Rich: true})
	b := newBot(t, srv)
	me := srv.PagePerson()
	me.Start()
	page := pagetest.Open(t, srv, pagetest.Look{Scale: 2})
	_, err := b.SendRichMessage(t.Context(), &tgbot.SendRichMessageParams{ChatID: me.ID(), RichMessage: models.InputRichMessage{Markdown: richSource}})
	require.NoError(t, err)
	page.WaitText("The plan")
	for selector, want := range map[string]string{".heading": "The plan", ".text b": "bold", ".text i": "slanted", ".text s": "gone", "code.inline": "code", ".text a": "link",
		".cmd": "/list", ".quoted .inside": "a quotation\nof two lines", "th": "File", "td:last-child": "12", "tr:last-child td": "b|c.go", ".pre pre": `fmt.Println("# no heading")`,
		".item": "•first", ".items:nth-of-type(1) .item:nth-child(3)": "☑done", ".text > p:last-of-type": "Not *bold*, <img src=x onerror=alert(1)> and 2 * 3 * 4."} {
		assert.Equal(t, want, strings.TrimSpace(pagetest.Value[string](page, fmt.Sprintf(`document.querySelector('.row %s')?.textContent ?? "none"`, selector))), selector)
	}
	assert.False(t, pagetest.Value[bool](page, `!!document.querySelector("#list img")`), "text is never HTML")
	assert.LessOrEqual(t, pagetest.Value[int](page, `document.documentElement.scrollWidth`), 390)
	if dir := os.Getenv(shotsVariable); dir != "" {
		for _, dark := range []bool{false, true} {
			page.Look(pagetest.Look{Scale: 2, Dark: dark, Width: 390, Height: 1000})
			page.Screenshot(filepath.Join(dir, fmt.Sprintf("rich-dark-%v.png", dark)))
		}
	}
	assert.Empty(t, page.Problems())
}
