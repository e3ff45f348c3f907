package clip

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBytes(t *testing.T) {
	for _, tt := range []struct {
		name, s string
		most    int
		want    string
	}{
		{"fits", "abc", 3, "abc"}, {"cut", "abcd", 3, "abc…"}, {"no half of a character", "abж", 3, "ab…"},
		{"a character of four bytes", "🙂🙂", 7, "🙂…"}, {"nothing fits", "ж", 1, "…"}, {"none", "a", 0, "…"}, {"empty", "", 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, Bytes(tt.s, tt.most, "…")) })
	}
}

func TestRunes(t *testing.T) {
	for _, tt := range []struct {
		name, s string
		most    int
		want    string
	}{
		{"fits", "жжж", 3, "жжж"}, {"cut", "жжжж", 3, "жжж"}, {"none", "a", 0, ""}, {"empty", "", 0, ""}, {"less than none", "a", -1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, Runes(tt.s, tt.most)) })
	}
}
