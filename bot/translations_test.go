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
			said, heard := 0, make(map[string]map[string]bool) // the texts of a language
			for _, m := range slices.Concat(w.Telegram.Posted, w.Telegram.Edited, w.Telegram.Sent) {
				texts := []string{m.Text.Text}
				for _, row := range m.Buttons {
					for _, button := range row {
						texts = append(texts, button.Text)
					}
				}
				for _, text := range texts {
					lang := of[m.To.ChatID]
					if heard[lang] == nil {
						heard[lang] = make(map[string]bool)
					}
					heard[lang][text] = true
				}
				said += len(texts)
			}
			for lang, texts := range heard {
				areIn(t, w, lang, slices.Collect(maps.Keys(texts)), keys, english[lang])
			}
			areIn(t, w, "", w.Telegram.Done(), keys, nil)
			assert.Greater(t, said, 100)
		})
	}
}

// areIn checks that texts are sentences of a language; "": of any.
func areIn(t *testing.T, w *chattest.World, lang string, texts, keys, english []string) {
	t.Helper()
	for _, text := range texts {
		assert.NotContains(t, text, "(?)", "a value is missing")
		assert.NotRegexp(t, foreignSigns, text, "Chinese has signs of its own")
	}
	for key, text := range findAny(keys, texts) {
		assert.Fail(t, key+" says itself", text)
	}
	if lang == "" {
		return
	}
	var names []string // the languages' own names appear in every chat
	for _, other := range i18n.Languages() {
		names = append(names, w.Speech.For(other).Say(i18n.LanguageName), "")
	}
	unnamed := strings.NewReplacer(names...)
	for i, text := range texts {
		texts[i] = unnamed.Replace(text)
	}
	own := scriptOf(w.Speech.For(lang).Say(i18n.LanguageName))
	for _, other := range i18n.Languages() {
		if script := scriptOf(w.Speech.For(other).Say(i18n.LanguageName)); script != unicode.Latin && script != own {
			for _, text := range texts {
				assert.False(t, strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(script, r) }), "%s in %s", text, lang)
			}
		}
	}
	for piece, text := range findAny(english, texts) {
		assert.Fail(t, piece+" is not in "+lang, text)
	}
}

// findAny returns the words that are in a text, each with the first such text. Each word is searched
// once in all texts together, because there are a thousand of each.
func findAny(words, texts []string) map[string]string {
	const between = "\x00"
	all, found := strings.Join(texts, between), make(map[string]string)
	for _, word := range words {
		if at := strings.Index(all, word); at >= 0 {
			begin, rest := strings.LastIndex(all[:at], between)+1, all[at:]
			text, _, _ := strings.Cut(rest, between)
			found[word] = all[begin:at] + text
		}
	}
	return found
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
