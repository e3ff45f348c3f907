package answer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
)

func TestHeaded(t *testing.T) {
	r := views.Session{Name: "a*b"}
	for _, tt := range []struct {
		name string
		part render.Part
		text string
		rich string
		more int
	}{
		{"text", render.Part{Text: render.Plain("x")}, "a*b\nx", "", 0},
		{"rich", render.Part{Text: render.Plain("x"), Rich: "x"}, "a*b\nx", "**" + render.Literal("a*b") + "**\n\nx", 0},
		{"a file", render.Part{Text: render.Plain("x"), File: &render.File{}}, "a*b\nx", "", 0},
		{"a file with a long caption", render.Part{Text: render.Plain(strings.Repeat("x", outbox.MaxCaption)), File: &render.File{}}, "a*b\n", "", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			parts := headed(r, []render.Part{tt.part})
			require.Len(t, parts, 1+tt.more)
			assert.Equal(t, tt.text, parts[0].Text.Text)
			assert.Equal(t, tt.rich, parts[0].Rich)
		})
	}
	blank := []render.Part{{Text: render.Plain("x")}}
	assert.Equal(t, blank, headed(views.Session{Name: " "}, blank), "a blank is no heading")
	assert.Equal(t, "·\nx", headed(views.Session{Name: "\u200b"}, blank)[0].Text.Text, "a name that cannot be seen is one")
}
