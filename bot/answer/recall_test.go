package answer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/bot/render"
)

func TestMerged(t *testing.T) {
	text := func(s string) render.Part { return render.Part{Text: render.Plain(s)} }
	file := render.Part{File: &render.File{Name: "x"}}
	big := strings.Repeat("x", mergedLimit)
	for _, tt := range []struct {
		name string
		all  []render.Part
		want []render.Part
	}{
		{"one", []render.Part{text("a")}, []render.Part{text("a")}},
		{"short texts", []render.Part{text("a"), text("b"), text("c")}, []render.Part{text("a\n\nb\n\nc")}},
		{"a file between", []render.Part{text("a"), file, text("b")}, []render.Part{text("a"), file, text("b")}},
		{"too long together", []render.Part{text(big), text("b"), text("c")}, []render.Part{text(big), text("b\n\nc")}},
		{"rich", []render.Part{{Rich: "a"}, {Rich: "b"}}, []render.Part{{Rich: "a\n\nb"}}},
		{"rich and not", []render.Part{{Rich: "a"}, text("b")}, []render.Part{{Rich: "a"}, text("b")}},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, merged(tt.all)) })
	}
}
