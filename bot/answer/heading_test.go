package answer

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/bot/render"
	"ccbot/port"
)

func TestHeaded(t *testing.T) {
	r := port.Session{Name: "a*b"}
	for _, tt := range []struct {
		name string
		part render.Part
		text string
		rich string
	}{
		{"text", render.Part{Text: render.Plain("x")}, "a*b\nx", ""},
		{"rich", render.Part{Text: render.Plain("x"), Rich: "x"}, "a*b\nx", "**" + render.Literal("a*b") + "**\n\nx"},
		{"a file", render.Part{Text: render.Plain("x"), File: &render.File{}}, "a*b\nx", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := headed(title(r), tt.part)
			assert.Equal(t, tt.text, p.Text.Text)
			assert.Equal(t, tt.rich, p.Rich)
		})
	}
	plain := render.Part{Text: render.Plain("x")}
	assert.Equal(t, plain, headed(title(port.Session{Name: " "}), plain), "a blank is no heading")
	assert.Equal(t, "·\nx", headed(title(port.Session{Name: "\u200b"}), plain).Text.Text, "a name that cannot be seen is one")
}
