package writers

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/process"
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

func TestIdentitiesTellWritersApart(t *testing.T) {
	of := func(all ...process.Identity) []process.Identity {
		var c conflict
		for _, one := range all {
			c.writers = append(c.writers, lifecycle.Writer{Process: process.Process{Identity: one}})
		}
		return c.identities()
	}
	a, b := process.Identity{PID: 1, Start: 2, Boot: "x"}, process.Identity{PID: 3, Start: 4, Boot: "x"}
	assert.Equal(t, of(a, b), of(b, a), "in any order")
	for _, other := range [][]process.Identity{nil, {a}, {b}, {a, a}, {a, b, b},
		{{PID: 1, Start: 3, Boot: "x"}, b}, {{PID: 1, Start: 2, Boot: "y"}, b}, {{PID: 2, Start: 2, Boot: "x"}, b}} {
		assert.NotEqual(t, of(a, b), of(other...))
	}
}
