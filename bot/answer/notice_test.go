package answer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFirstLine(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a sentence", "All done.", "All done."},
		{"a heading", "# Result\n\nmore", "Result"},
		{"one that ends with a colon", "You **wrote**:\n\n- hello\n- more", "You wrote: • hello"},
		{"a Chinese one", "你写道：\n你好", "你写道： 你好"},
		{"only that", "Result:", "Result:"},
		{"formatting", "**Bold** and `code`", "Bold and code"},
		{"a list", "- first\n- second", "• first"},
		{"blank lines", "\n\n  \n x", "x"},
		{"a long line", strings.Repeat("word ", 100), strings.Repeat("word ", 100)[:119] + "…"},
		{"a mark that turns the line around", "abc\u202edef", "abcdef"},
		{"cut in a letter", strings.Repeat("é", 5000), strings.Repeat("é", 119) + "…"},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, firstLine(tt.text)) })
	}
}
