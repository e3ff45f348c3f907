package writers

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat"
	"ccbot/bot/port/desk"
	"ccbot/i18n"
	"ccbot/internal/glyph"
)

func TestEvidenceWithoutACodeIsUnclear(t *testing.T) {
	catalog, err := i18n.Load(glyph.Name)
	require.NoError(t, err)
	words := catalog.For("en")
	w := &Writers{words: words, chat: &chat.Chat{Phrases: chat.Phrases{Words: words}}}
	lines, _ := w.details(desk.Writer{Proven: true})
	assert.Contains(t, lines[0], words.Say(i18n.SourceUnclear))
}

func TestIdentitiesTellWritersApart(t *testing.T) {
	of := func(all ...desk.ID) []desk.ID {
		var c conflict
		for _, one := range all {
			c.writers = append(c.writers, desk.Writer{Process: desk.Process{ID: one}})
		}
		return c.identities()
	}
	assert.Equal(t, of("a", "b"), of("b", "a"), "in any order")
	for _, other := range [][]desk.ID{nil, {"a"}, {"b"}, {"a", "a"}, {"a", "b", "b"}, {"c", "b"}} {
		assert.NotEqual(t, of("a", "b"), of(other...))
	}
}
