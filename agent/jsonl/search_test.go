package jsonl

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWord(t *testing.T) {
	for _, tt := range []struct{ word, text, want string }{
		{"straße", "die STRAßE dort", "STRAßE"},
		{"ΣΊΣΥΦΟΣ", "ο Σίσυφος", "Σίσυφος"},
		{"k", "5 \u212a", "\u212a"}, // the sign for Kelvin
		{"测试", "运行测试。", "测试"},
		{"👩‍💻", "for 👩‍💻 too", "👩‍💻"},
		{"a b", "a\n\t b", "a\n\t b"},
		{"ab", "a b", ""},
		{"x", "\xff", ""},
	} {
		assert.Equal(t, tt.want, newWord(tt.word).whole.FindString(tt.text), tt.word)
	}
}
