package prompt

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/port"
	"ccbot/port/folders"
)

// anywhere has no bounds.
type anywhere struct{ folders.Places }

func (anywhere) Bounds(string) (folders.Bounds, error) { return folders.Bounds{}, nil }

// inEnglish are the sentences of a machine.
func inEnglish() chat.Phrases {
	return chat.Phrases{Words: i18n.Load(glyph.Name).For("en"),
		Facts: chat.Facts{Places: anywhere{}, Now: time.Now}}
}

// Every question has a sentence with room for the outcome of the prompt, and answers with a result.
func TestQuestions(t *testing.T) {
	words := inEnglish()
	for why, q := range questions {
		t.Run(string(why), func(t *testing.T) {
			assert.Contains(t, []inbox.State{inbox.Accepted, inbox.Held, inbox.Unproven, inbox.Asked}, q.state)
			e := inbox.Entry{Text: strings.Repeat("long 😀 ", 2000), Received: time.Now()}
			var content card.Content
			facts{Reason: why}.write(&content, words, e, port.Session{Name: "api"})
			text := chat.Lines(content.Text, content.Hint)
			asksWhich := q.says == i18n.WhichReply || q.says == i18n.WhichGets || why == first || why == asFolder || why == noFolder || why == nobody || why == homeless || why == adrift
			assert.NotEqual(t, asksWhich, strings.Contains(text.Text, "api"), "the sentence names the session")
			assert.Less(t, text.Length(), render.Limit-500)
			options := slices.Concat(q.options(words, choices{open: []port.Session{{Name: "api"}}, down: []port.Session{{Name: "api"}}, folders: []folder{{"/", "/"}}})...)
			require.Len(t, options, len(q.answers))
			for i, a := range q.answers {
				word, _, _ := strings.Cut(options[i].Value, ":")
				assert.Equal(t, string(a.word), word)
				assert.NotEmpty(t, words.Words.Say(a.became, i18n.Args{"Name": "api"}))
			}
		})
	}
}

func TestFilesAreNamedByTheirPaths(t *testing.T) {
	assert.Equal(t, "look\nAttached file: /w/.ccbot-inbox/a.png\nAttached file: /w/.ccbot-inbox/b.png", withFiles("look", []string{"/w/.ccbot-inbox/a.png", "/w/.ccbot-inbox/b.png"}))
	assert.Equal(t, "Attached file: .ccbot-inbox/a.png", withFiles("", []string{"a.png"}), "of a prompt that came before")
}
