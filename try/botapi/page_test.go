package botapi_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/longtest"
	"ccbot/try/botapi"
	"ccbot/try/botapi/botapitest"
	"ccbot/try/botapi/pagetest"
)

// shotsVariable names the folder where the screenshots of a realistic conversation stay; they are
// thrown away without it.
const shotsVariable = "CCBOT_SHOTS"

func newBot(t testing.TB, srv *botapi.Server) *tgbot.Bot {
	t.Helper()
	b, err := tgbot.New(srv.Token(), tgbot.WithServerURL(srv.URL()))
	require.NoError(t, err)
	return b
}

func picture(t testing.TB, w, h int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, color.RGBA{uint8(20 + x*20/w), uint8(24 + y*30/h), 40, 255})
		}
	}
	for line := range h / 18 { // looks like text on a terminal from afar
		for x := 12; x < 12+(line*97)%(w-40); x++ {
			if (x+line)%9 < 7 {
				for y := range 7 {
					img.Set(x, line*18+8+y, color.RGBA{120, uint8(150 + line*7%90), 160, 255})
				}
			}
		}
	}
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, img))
	return out.Bytes()
}

// serve answers as a small bot: a question with buttons, then an edit in place.
func serve(t testing.TB, srv *botapi.Server) {
	t.Helper()
	answer := func(ctx context.Context, b *tgbot.Bot, u *models.Update) {
		switch {
		case u.CallbackQuery != nil:
			_, err := b.EditMessageText(ctx, &tgbot.EditMessageTextParams{ChatID: u.CallbackQuery.From.ID, MessageID: u.CallbackQuery.Message.Message.ID, Text: "done: " + u.CallbackQuery.Data})
			assert.NoError(t, err)
			_, err = b.AnswerCallbackQuery(ctx, &tgbot.AnswerCallbackQueryParams{CallbackQueryID: u.CallbackQuery.ID, Text: "Thank you"})
			assert.NoError(t, err)
		case u.Message != nil:
			text, entities := rich("⟦bold|You said⟧ ⟦code|" + u.Message.Text + "⟧\n⟦pre:go|fmt.Println(1)⟧\n⟦expandable_blockquote|one\ntwo\nthree\nfour⟧\n⟦spoiler|secret⟧ ⟦text_link:https://example.com/x|link⟧ <img src=x onerror=alert(1)>")
			_, err := b.SendMessage(ctx, &tgbot.SendMessageParams{ChatID: u.Message.Chat.ID, Text: text, Entities: entities,
				ReplyMarkup: keys([]models.InlineKeyboardButton{key("Go on", "go:"+u.Message.Text, "success")})})
			assert.NoError(t, err)
		}
	}
	b, err := tgbot.New(srv.Token(), tgbot.WithServerURL(srv.URL()), tgbot.WithDefaultHandler(answer), tgbot.WithNotAsyncHandlers(),
		tgbot.WithErrorsHandler(func(error) {})) // the last poll is cut by the end of the test
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { b.Start(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
}

func TestPage(t *testing.T) {
	longtest.Mark(t, "starts a browser")
	t.Parallel()
	srv := botapitest.Start(t, botapi.Options{})
	page := pagetest.Open(t, srv, pagetest.Look{Width: 360, Height: 740})
	assert.False(t, pagetest.Value[bool](page, `document.getElementById("empty").hidden`), "a first visitor is told what to do")
	serve(t, srv)
	page.Send("hello")
	page.WaitText("You said hello")
	assert.Equal(t, "", pagetest.Value[string](page, `document.getElementById("text").value`))
	assert.True(t, pagetest.Value[bool](page, `document.getElementById("empty").hidden`))
	for name, selector := range map[string]string{
		"bold": ".row:not(.out) b", "code": "code.inline", "pre": ".pre pre code", "language": ".pre header span", "folded quote": ".quoted.folded",
		"hidden spoiler": ".spoiler:not(.shown)", "safe link": `a[rel="noopener noreferrer"]`, "button": ".keyboard .success",
	} {
		assert.True(t, pagetest.Value[bool](page, `!!document.querySelector('`+selector+`')`), name)
	}
	assert.False(t, pagetest.Value[bool](page, `!!document.querySelector("#list img")`), "text is never HTML")

	page.Tap("Go on")
	page.WaitText("done: go:hello")
	page.Wait(`document.getElementById("toast").textContent === "Thank you" && !document.querySelector(".waiting")`)
	assert.True(t, pagetest.Value[bool](page, `!!document.querySelector(".edited") && !document.querySelector(".keyboard")`), "edited in place")
	assert.Equal(t, 2, pagetest.Value[int](page, `document.querySelectorAll(".row").length`))
	pagetest.Run(page, chromedp.Reload())
	page.WaitText("done: go:hello")
	assert.LessOrEqual(t, pagetest.Value[int](page, `document.documentElement.scrollWidth`), 360, "nothing sticks out at a phone's width")
	assert.Empty(t, page.Problems())
}

func TestPageFollowsTheBot(t *testing.T) {
	longtest.Mark(t, "starts a browser")
	t.Parallel()
	srv := botapitest.Start(t, botapi.Options{Topics: true})
	b := newBot(t, srv)
	me := srv.PagePerson()
	me.Start()
	page := pagetest.Open(t, srv, pagetest.Look{})
	ctx := t.Context()
	_, err := b.SendChatAction(ctx, &tgbot.SendChatActionParams{ChatID: me.ID(), Action: models.ChatActionTyping})
	require.NoError(t, err)
	page.Wait(`document.getElementById("status").textContent === "typing"`)
	var first *models.Message
	for i := range 30 {
		m, err := b.SendMessage(ctx, &tgbot.SendMessageParams{ChatID: me.ID(), Text: fmt.Sprint("line ", i)})
		require.NoError(t, err)
		if first == nil {
			first = m
		}
	}
	page.WaitText("line 29")
	page.Wait(`document.getElementById("status").textContent === "bot"`)
	page.Wait(`document.getElementById("down").hidden`)
	page.Eval(`document.getElementById("scroll").scrollTo(0, 0)`)
	page.Wait(`!document.getElementById("down").hidden`)
	_, err = b.SendMessage(ctx, &tgbot.SendMessageParams{ChatID: me.ID(), Text: "news"})
	require.NoError(t, err)
	page.Wait(`document.querySelector("#down b")?.textContent === "1"`)
	_, err = b.DeleteMessage(ctx, &tgbot.DeleteMessageParams{ChatID: me.ID(), MessageID: first.ID})
	require.NoError(t, err)
	page.Wait(`!document.querySelector('[data-id="` + fmt.Sprint(first.ID) + `"]')`)
	page.Eval(`document.getElementById("down").click()`)
	page.Wait(`document.getElementById("down").hidden`)

	_, err = b.SetMyCommands(ctx, &tgbot.SetMyCommandsParams{Commands: []models.BotCommand{{Command: "list", Description: "L"}, {Command: "new", Description: "N"}}})
	require.NoError(t, err)
	page.Wait(`!document.getElementById("menu").hidden`)
	page.Type("/")
	page.Wait(`document.querySelectorAll("#commands button").length === 2`)
	page.Press("ArrowDown")
	page.Wait(`document.querySelector('#commands [aria-selected="true"] b').textContent === "/new"`)
	page.Press("Enter")
	page.WaitText("/new")
	botapitest.Wait(t, srv, me.ID(), func(m botapi.Message) bool { return m.Text == "/new" && !m.FromBot })

	page.Send("two\nlines")
	botapitest.Wait(t, srv, me.ID(), func(m botapi.Message) bool { return m.Text == "two\nlines" })
	topic, err := b.CreateForumTopic(ctx, &tgbot.CreateForumTopicParams{ChatID: me.ID(), Name: "blog"})
	require.NoError(t, err)
	page.Wait(`document.querySelectorAll("#topics button").length === 2`)
	page.Eval(`document.querySelectorAll("#topics button")[1].click()`)
	page.Send("in the topic")
	botapitest.Wait(t, srv, me.ID(), func(m botapi.Message) bool { return m.Thread == topic.MessageThreadID && m.Text == "in the topic" })
	page.WaitGone("line 29")
	assert.Empty(t, page.Problems())
}

// TestPageShowsUnsupportedMessages has words for kinds that people do not send from here.
func TestPageShowsUnsupportedMessages(t *testing.T) {
	longtest.Mark(t, "starts a browser")
	t.Parallel()
	srv := botapitest.Start(t, botapi.Options{Rich: true})
	b := newBot(t, srv)
	me := srv.PagePerson()
	place := me.SendLocation(me.ID(), 52.5, 13.4)
	me.SendSticker(me.ID(), "🙂")
	me.SendContact(me.ID(), "Bob", "+1")
	me.SendVideo(me.ID(), "film.mp4", []byte("v"), "")
	page := pagetest.Open(t, srv, pagetest.Look{})
	_, err := b.SendRichMessage(t.Context(), &tgbot.SendRichMessageParams{ChatID: me.ID(),
		RichMessage: models.InputRichMessage{Markdown: "# Heading\n\n<b>no HTML</b>"}, ReplyParameters: &models.ReplyParameters{MessageID: place}})
	require.NoError(t, err)
	for _, text := range []string{"Heading", "<b>no HTML</b>", "Location 52.50000, 13.40000", "🙂 Sticker", "Contact Bob, +1"} {
		page.WaitText(text)
	}
	page.Wait(`document.getElementById("list").innerText.includes("film.mp4")`)
	assert.Empty(t, page.Problems())
}

func TestPageScreenshots(t *testing.T) {
	longtest.Mark(t, "starts a browser")
	t.Parallel()
	dir := os.Getenv(shotsVariable)
	if dir == "" {
		dir = t.TempDir()
	}
	require.NoError(t, os.MkdirAll(dir, 0o700))
	srv := botapitest.Start(t, botapi.Options{})
	b := newBot(t, srv)
	page := pagetest.Open(t, srv, pagetest.Look{Scale: 2})
	page.Screenshot(filepath.Join(dir, "phone-empty.png"))
	_, err := b.SetMyCommands(t.Context(), &tgbot.SetMyCommandsParams{Commands: []models.BotCommand{
		{Command: "new", Description: "Start a session"}, {Command: "list", Description: "All sessions, with their state"},
		{Command: "kill", Description: "Stop a session and archive it"}, {Command: "resume", Description: "Bring an archived session back"},
		{Command: "screenshot", Description: "What the terminal shows now"}, {Command: "stop", Description: "Interrupt the agent (Esc)"},
		{Command: "help", Description: "How all of this works"},
	}})
	require.NoError(t, err)
	converse(t, srv, b)
	page.WaitText("Shall I commit this")
	calm := func() {
		page.Wait(`document.getAnimations().length === 0`)
	}
	calm()
	page.Screenshot(filepath.Join(dir, "phone-light.png"))
	page.Look(pagetest.Look{Scale: 2, Dark: true})
	page.Screenshot(filepath.Join(dir, "phone-dark.png"))
	page.Eval(`document.getElementById("scroll").scrollTo(0, 0)`)
	page.Wait(`!document.getElementById("down").hidden`)
	page.Screenshot(filepath.Join(dir, "phone-dark-top.png"))
	page.Look(pagetest.Look{Scale: 2})
	page.Type("/")
	page.Wait(`!document.getElementById("commands").hidden`)
	page.Screenshot(filepath.Join(dir, "phone-light-commands.png"))
	page.Look(pagetest.Look{Width: 1100, Height: 800})
	page.Eval(`document.getElementById("text").value = ""; document.getElementById("text").dispatchEvent(new Event("input"))`)
	page.Eval(`document.getElementById("scroll").scrollTo(0, 1e6)`)
	calm()
	page.Screenshot(filepath.Join(dir, "desktop-light.png"))
	page.Look(pagetest.Look{Width: 1100, Height: 800, Dark: true})
	page.Eval(`document.getElementById("scroll").scrollTo(0, 500)`)
	calm()
	page.Screenshot(filepath.Join(dir, "desktop-dark.png"))
	require.Empty(t, page.Problems())
}
