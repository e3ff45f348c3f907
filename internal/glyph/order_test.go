package glyph

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestLeftToRight(t *testing.T) {
	const m = leftToRight
	for in, want := range map[string]string{
		"":                   "",
		"ls -l ü 日 ⟨U+00A0⟩": "ls -l ü 日 ⟨U+00A0⟩",
		"x א 1":              "x " + m + "א" + m + " 1",
		"שָׁלוֹם, שלום":      m + "שָׁלוֹם" + m + ", " + m + "שלום" + m,
		"a/ب/١-٢\nن":         "a/" + m + "ب" + m + "/" + m + "١" + m + "-" + m + "٢" + m + "\n" + m + "ن" + m,
	} {
		assert.Equal(t, want, LeftToRight(in), "%+q", in)
	}
}

// TestP9_WordsKeepTheirPlaces draws texts as the bidirectional algorithm does with words between
// marks: each word from right to left, in its place. Two texts then look different.
func TestP9_WordsKeepTheirPlaces(t *testing.T) {
	drawn := func(s string) string {
		var b strings.Builder
		for i, part := range strings.Split(LeftToRight(s), leftToRight) {
			if i%2 == 0 { // outside of a pair of marks
				require.False(t, strings.ContainsAny(part, "אבب١"), "%+q", s)
				b.WriteString(part)
				continue
			}
			require.Empty(t, strings.Trim(part, "אבب١"), "%+q", s)
			for _, r := range part {
				// one sign for each letter, so that the order counts
				b.WriteString("\u202e" + string(r))
			}
		}
		return b.String()
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("אבب١12a /-\n")), 0, 12, -1)
		one, other := text.Draw(rt, "one"), text.Draw(rt, "other")
		require.Equal(rt, one == other, drawn(one) == drawn(other))
		require.Equal(rt, one, strings.ReplaceAll(LeftToRight(one), leftToRight, ""))
	})
}
