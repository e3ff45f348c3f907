package bot_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/news"
)

// scriptOf returns the script of a language's own name.
func scriptOf(name string) *unicode.RangeTable {
	for _, script := range unicode.Scripts {
		if first, _ := utf8.DecodeRuneInString(name); unicode.Is(script, first) {
			return script
		}
	}
	return nil
}

// foreignSigns are signs of another script next to Chinese.
var foreignSigns = regexp.MustCompile(`\p{Han} ?[,;:(]|[，。；：、] `)

// TestSentencesExistInEachLanguage sends all texts of this package in a chat whose language
// is not the bot's, while another person's chat has a third one. It looks for an unfilled field,
// for a key shown as text, and for a sentence in another language.
func TestSentencesExistInEachLanguage(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../i18n/locales/en.json")
	require.NoError(t, err)
	var catalogue map[string]any
	require.NoError(t, json.Unmarshal(data, &catalogue))
	var keys []string
	sentences := slices.Collect(maps.Keys(catalogue))
	for _, key := range sentences {
		if strings.Contains(key, "_") {
			keys = append(keys, key)
		}
	}
	all := i18n.Languages()
	for i, lang := range all {
		of := map[int64]string{chattest.Alice: lang, chattest.Bob: all[(i+1)%len(all)]}
		chattest.RunsAs(t, lang, func(t *testing.T, w *chattest.World) {
			w.Stops(t)
			w.Lang = all[(i+2)%len(all)]
			w.Again()
			w.Starts(t)
			require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.Language, s.Telegram = lang, of[chattest.Bob] }))
			english := map[string][]string{of[chattest.Alice]: pieces(w, of[chattest.Alice], sentences), of[chattest.Bob]: pieces(w, of[chattest.Bob], sentences)}
			w.SayReceipts(t)
			w.SayRefusals(t)
			for _, k := range []chattest.Conflict{chattest.ResumeRefused, chattest.OtherWriter, chattest.WriterAfterEnd} {
				w.SayWriters(t, k)
			}
			w.SayAsks(t)
			w.SayRecovery(t)
			w.SayWindows(t)
			saysBob(t, w, of[chattest.Bob])
			said, heard := 0, make(map[[2]string]bool)
			for _, m := range slices.Concat(w.Telegram.Posted, w.Telegram.Edited, w.Telegram.Sent) {
				texts := []string{m.Text.Text}
				for _, row := range m.Buttons {
					for _, button := range row {
						texts = append(texts, button.Text)
					}
				}
				for _, text := range texts {
					if one := [2]string{of[m.To.ChatID], text}; !heard[one] {
						heard[one] = true
						isIn(t, w, of[m.To.ChatID], text, keys, english[of[m.To.ChatID]])
					}
				}
				said += len(texts)
			}
			for _, text := range w.Telegram.Done() {
				isIn(t, w, "", text, keys, nil)
			}
			assert.Greater(t, said, 100)
		})
	}
}

// isIn checks that a text is a sentence of a language; "": of any.
func isIn(t *testing.T, w *chattest.World, lang, text string, keys, english []string) {
	t.Helper()
	assert.NotContains(t, text, "(?)", "a value is missing")
	assert.NotRegexp(t, foreignSigns, text, "Chinese has signs of its own")
	for _, key := range keys {
		if strings.Contains(text, key) {
			assert.Fail(t, key+" says itself", text)
		}
	}
	if lang == "" {
		return
	}
	for _, other := range i18n.Languages() { // the languages' own names appear in every chat
		text = strings.ReplaceAll(text, w.Speech.For(other).Say(i18n.LanguageName), "")
	}
	own := scriptOf(w.Speech.For(lang).Say(i18n.LanguageName))
	for _, other := range i18n.Languages() {
		if script := scriptOf(w.Speech.For(other).Say(i18n.LanguageName)); script != unicode.Latin && script != own {
			assert.False(t, strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(script, r) }), "%s in %s", text, lang)
		}
	}
	for _, piece := range english {
		if strings.Contains(text, piece) {
			assert.Fail(t, "not in "+lang, text)
		}
	}
}

// pieces returns the words between the blanks of the English sentences that a language has a text
// for, as far as they are long enough to be nothing else.
func pieces(w *chattest.World, lang string, keys []string) (all []string) {
	for _, key := range keys {
		said := w.Speech.For("en").Say(i18n.Key(key))
		if said == w.Speech.For(lang).Say(i18n.Key(key)) {
			continue
		}
		for piece := range strings.SplitSeq(said, "(?)") {
			if piece = strings.TrimSpace(piece); len(strings.Fields(piece)) > 2 {
				all = append(all, piece)
			}
		}
	}
	return all
}

// saysBob makes another person, whose Telegram has another language, use each feature, and sends
// everyone a message.
func saysBob(t *testing.T, w *chattest.World, lang string) {
	t.Helper()
	r := w.Session(t, "bobs", session.Running)
	w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = session.Conversation{ChatID: chattest.Bob} })
	for _, text := range []string{"/help", "/list", "/status bobs", "/why bobs", "/queue bobs", "/kill bobs", "/resume", "/new nowhere/at/all", "/idle", "/settings"} {
		key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Bob, LanguageCode: lang},
			Chat: chattest.PrivateChat(chattest.Bob), Text: text})
		require.NoError(t, w.HandleText(t, key, u))
	}
	id := w.Telegram.LastID()
	for i := range 8 {
		w.Press(t, chattest.Bob, id, w.Shows(t, id).Buttons[i/2][i%2].Text)
		w.Press(t, chattest.Bob, id, w.In(session.Conversation{ChatID: chattest.Bob}).Say(i18n.ButtonBack))
	}
	require.NoError(t, w.DiskLow(t.Context(), 1_000_000_000))
	for _, silent := range []bool{true, false} {
		require.NoError(t, w.SessionNews(t.Context(), session.Record{}, news.TmuxSilence{Ended: !silent}))
	}
	require.NoError(t, w.DiskFull(t.Context()))
	assert.Equal(t, lang, w.Chats.Settings(chattest.Bob).Telegram)
}
