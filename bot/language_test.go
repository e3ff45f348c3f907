package bot_test

import (
	"slices"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/menu"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/news"
)

// The words of Claude are quoted without their prefix and their full stop.
func TestErrorOfLoopIsQuoted(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Running)
	paused := port.Loop{Session: r.ID, State: port.LoopPaused, Reason: port.WhyAPIError, Detail: "API Error: 529 Overloaded."}
	require.NoError(t, w.SessionNews(t.Context(), r, news.Looped{Loop: paused}))
	w.Work(t)
	assert.Contains(t, w.Shows(t, 1).Text.Text, "A request of the agent failed: “529 Overloaded”. ")
}

// The language of a person's Telegram holds in the person's own chat, until the person chooses one.
func TestAnswerUsesTelegramLanguage(t *testing.T) {
	w := chattest.NewWorld(t)
	spoken := 0
	w.Changed = func(was, now conversation.Settings) {
		if was.Language != now.Language || was.Telegram != now.Telegram {
			spoken++
		}
	}
	help := func(at models.Chat, telegram string) string {
		t.Helper()
		key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice, LanguageCode: telegram}, Chat: at, Text: "/help"})
		require.NoError(t, w.HandleText(t, key, u))
		return w.Telegram.Texts()[len(w.Telegram.Texts())-1]
	}
	said := func(lang string) string { return w.Speech.For(lang).Say(i18n.HelpAbout) }
	private, group := chattest.PrivateChat(chattest.Alice), chattest.GroupChat(chattest.Ours)
	assert.Equal(t, said("en"), help(private, ""))
	assert.Equal(t, said("ru"), help(private, "ru"), "the first answer is in it already")
	assert.Equal(t, said("ru"), help(private, ""), "a message need not tell it")
	assert.Equal(t, said("en"), help(group, "ru"), "a group is not one person's")
	assert.Equal(t, 1, spoken)
	assert.Equal(t, said("en"), help(private, "tlh-x"), "one that is not spoken here gives the bot's own")
	require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.Language = "zh" }))
	assert.Equal(t, said("zh"), help(private, "ru"), "what was chosen counts")
	w.Restart(t)
	assert.Equal(t, said("zh"), help(private, ""))
}

// The list of commands uses the language of each person's Telegram, or the language that the person
// chose.
func TestCommandListUsesReadersLanguage(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Lang = "ru"
	w.Again()
	list := func(at int64, telegram string) string {
		i := slices.IndexFunc(w.Menus(), func(m menu.List) bool { return m.Chat == at && m.Lang == telegram && !m.Groups })
		if i < 0 {
			return ""
		}
		return w.Menus()[i].Commands[0].Text
	}
	said := func(lang string) string { return w.Speech.For(lang).Say(i18n.MenuKey.Of("new")) }
	assert.Equal(t, said("ru"), list(0, ""), "whose Telegram has a language that is not spoken here")
	assert.Equal(t, said("en"), list(0, "en"))
	assert.Equal(t, said("zh"), list(0, "zh"))
	for _, tt := range []struct{ name, telegram, chosen, want string }{
		{"nothing chosen", "zh", "", ""},
		{"the same", "zh-hans", "zh", ""},
		{"another one", "zh", "en", said("en")},
		{"the bot's own, which Telegram has not", "zh", "ru", said("ru")},
		{"the bot's own, where Telegram has none of ours", "tlh", "ru", ""},
		{"before Telegram's is known", "", "en", said("en")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.Telegram, s.Language = tt.telegram, tt.chosen }))
			assert.Equal(t, tt.want, list(chattest.Alice, ""))
		})
	}
}
