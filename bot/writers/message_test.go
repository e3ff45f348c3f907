package writers

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/lifecycle"
)

func TestEvidenceWithoutACodeIsUnclear(t *testing.T) {
	catalog, err := i18n.Load(glyph.Name)
	require.NoError(t, err)
	words := catalog.For("en")
	w := &Writers{words: words, chat: &chat.Chat{Phrases: chat.Phrases{Words: words}}}
	lines, _ := w.details(lifecycle.Writer{Proven: true})
	assert.Contains(t, lines[0], words.Say(i18n.SourceUnclear))
}
