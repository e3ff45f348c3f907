package bot_test

import (
	"context"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/port/refusal"
)

// shelf is a feature with two pages: one counts its uses, and records typed texts.
func shelf(done *[]string) chat.Feature {
	option := func(text, value string) []card.Option { return []card.Option{{Text: text, Value: value}} }
	return chat.Feature{Name: "shelf", Pages: map[string]chat.Page{
		"shelf": {Draw: func(context.Context, chat.Visit) (chat.Screen, error) {
			return chat.Screen{Text: render.Plain("shelf"), Options: [][]card.Option{option("A book", chat.ToPage("book/a/1"))}}, nil
		}},
		"book": {
			Draw: func(_ context.Context, v chat.Visit) (chat.Screen, error) {
				return chat.Screen{Text: render.Plain("book " + v.Rest), Back: "shelf",
					Options: [][]card.Option{option("On", chat.ToPage("book/a/2")), option("Mark", "mark"), option("Lost", chat.ToPage("none"))}}, nil
			},
			Do: func(_ context.Context, v chat.Visit, what string) (chat.Answer, string, error) {
				return chat.Answer{Text: "marked", Then: func(context.Context) error {
					*done = append(*done, what+" "+v.Rest)
					return nil
				}}, "", nil
			},
			Typed: func(_ context.Context, _ chat.Visit, text string) (string, error) { return "book/" + text, nil },
		}}}
}

// Two addresses show the same list if one of them is outdated: a button counts on both. The effect
// of a button depends on the address.
func TestButtonsOfOneScreenStay(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Restart(t)
	var done []string
	w.Install(append([]chat.Feature{shelf(&done)}, w.Features()...))
	in := chat.Incoming{Message: conversation.Message{To: chattest.AtAlice}, From: chattest.Alice}
	require.NoError(t, w.Chat.Pages.Open(t.Context(), in, "shelf/gone"))
	w.Work(t)
	id := w.Telegram.LastID()
	button := func(label i18n.Key) string { return w.Spot(t, w.Shows(t, id), label).Button.Data }
	list := button("A book")
	w.Press(t, chattest.Alice, id, "A book")
	mark := button("Mark")
	w.Press(t, chattest.Alice, id, "On")
	assert.NotEqual(t, mark, button("Mark"))
	w.Press(t, chattest.Alice, id, w.Word(i18n.ButtonBack))
	assert.Equal(t, list, button("A book"))
}

func TestPageSurvivesRestartWithBackPath(t *testing.T) {
	w := chattest.NewWorld(t)
	var done []string
	restart := func() {
		w.Restart(t)
		w.Install(append([]chat.Feature{shelf(&done)}, w.Features()...))
	}
	restart()
	open := func(from int64) int {
		require.NoError(t, w.Chat.Pages.Open(t.Context(), chat.Incoming{Message: conversation.Message{To: chattest.AtAlice}, From: from}, "shelf"))
		w.Work(t)
		return w.Telegram.LastID()
	}
	one, other := open(chattest.Alice), open(chattest.Alice)
	shows := func(id int) string { return w.Shows(t, id).Text.Text }
	steps := []struct{ press, want string }{
		{"A book", "book a/1"}, {"On", "book a/2"}, {"Mark", "book a/2"}, {"Lost", "book a/2"}, {w.Word(i18n.ButtonBack), "shelf"},
	}
	for _, s := range steps {
		w.Press(t, chattest.Alice, one, s.press)
		assert.Equal(t, s.want, shows(one), s.press)
		restart()
		assert.Equal(t, "shelf", shows(other), "another message is another reader's")
	}
	assert.Equal(t, []string{"mark a/2"}, done)
	assert.Contains(t, w.Telegram.Done(), "answer query: marked")

	w.Answer(t, one, "to the shelf")
	w.Work(t)
	assert.Equal(t, "shelf", shows(one), "a page that takes no text leaves the text to others")
	w.Press(t, chattest.Alice, other, "A book")
	key, reply := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Text: "b/7",
		ReplyToMessage: &models.Message{ID: other}})
	require.NoError(t, w.Handle(t.Context(), key, reply))
	w.Work(t)
	below := w.Telegram.LastID()
	assert.Equal(t, "book b/7", shows(below), "below what was typed")
	assert.Equal(t, "book a/1", shows(other))
	assert.Empty(t, w.Shows(t, other).Buttons)
	restart()
	require.NoError(t, w.Handle(t.Context(), key, reply), "it is repeated after a kill")
	w.Work(t)
	assert.Equal(t, below, w.Telegram.LastID())
	w.Press(t, chattest.Alice, below, "On")
	assert.Equal(t, "book a/2", shows(below))
}

// A page that an earlier version had is gone: what leads to it, and what it did, is stale.
func TestPageOfEarlierVersionIsStale(t *testing.T) {
	w := chattest.NewWorld(t)
	var done []string
	start := func(features ...chat.Feature) {
		w.Restart(t)
		w.Install(append(features, w.Features()...))
	}
	now, earlier := shelf(&done), shelf(&done)
	draw := earlier.Pages["shelf"].Draw
	earlier.Pages["shelf"] = chat.Page{Draw: func(ctx context.Context, v chat.Visit) (chat.Screen, error) {
		s, err := draw(ctx, v)
		s.Options[0][0].Value = chat.ToPage("case")
		return s, err
	}}
	earlier.Pages["case"] = earlier.Pages["book"]
	start(earlier)
	open := func(address string) int {
		in := chat.Incoming{Message: conversation.Message{To: chattest.AtAlice}, From: chattest.Alice}
		require.NoError(t, w.Chat.Pages.Open(t.Context(), in, address))
		w.Work(t)
		return w.Telegram.LastID()
	}
	leads, does := open("shelf"), open("case")
	start(now)
	stale := "answer query: " + w.Word(i18n.StaleButton)
	w.Press(t, chattest.Alice, leads, "A book")
	assert.Contains(t, w.Telegram.Done(), stale)
	w.Press(t, chattest.Alice, leads, "A book")
	assert.Equal(t, "book a/1", w.Shows(t, leads).Text.Text, "the page was drawn again")
	w.Telegram.Forget()
	w.Press(t, chattest.Alice, does, "Mark")
	assert.Contains(t, w.Telegram.Done(), stale)
	assert.Empty(t, w.Shows(t, does).Buttons)
	assert.Empty(t, done)
}

// A refusal of what a button does is explained, and the page stays; a fault is explained once.
func TestPageStaysAfterRefusal(t *testing.T) {
	for _, tt := range []struct {
		err  error
		says i18n.Key
	}{{&refusal.Error{Code: refusal.NoTmux}, i18n.TmuxMissing}, {chattest.ErrDisk, i18n.InternalError}} {
		w := chattest.NewWorld(t)
		w.Restart(t)
		f := shelf(new([]string))
		book := f.Pages["book"]
		book.Do = func(context.Context, chat.Visit, string) (chat.Answer, string, error) {
			return chat.Answer{Then: func(context.Context) error { return tt.err }}, "shelf", nil
		}
		f.Pages["book"] = book
		w.Install(append([]chat.Feature{f}, w.Features()...))
		in := chat.Incoming{Message: conversation.Message{To: chattest.AtAlice}, From: chattest.Alice}
		require.NoError(t, w.Chat.Pages.Open(t.Context(), in, "book/a/1"))
		w.Work(t)
		id := w.Telegram.LastID()
		w.Press(t, chattest.Alice, id, "Mark")
		w.Work(t)
		assert.Equal(t, []string{"book a/1", w.Word(tt.says)}, w.Telegram.Texts())
		assert.Equal(t, "book a/1", w.Shows(t, id).Text.Text)
	}
}
