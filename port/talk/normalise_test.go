package talk

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestNormalise(t *testing.T) {
	tests := []struct {
		name  string
		in    string
		want  string
		class PromptClass
	}{
		{"plain", "hello", "hello", ClassPlain},
		{"unicode stays", "привет 世界 👋\u200d👩 é", "привет 世界 👋\u200d👩 é", ClassPlain},
		{"leading and trailing space stay", "  a b  ", "  a b  ", ClassPlain},
		{"tab and line feed stay", "a\tb\nc", "a\tb\nc", ClassPlain},
		{"CRLF", "a\r\nb\r\n", "a\nb\n", ClassPlain},
		{"CR alone is a line too, not Enter", "a\rb", "a\nb", ClassPlain},
		{"LF CR", "a\n\rb", "a\n\nb", ClassPlain},
		{"escape sequence loses its ESC", "a\x1b[201~b", "a[201~b", ClassPlain},
		{"C0", "a\x00\x03\x04\x08\x0b\x0c\x15\x1ab", "ab", ClassPlain},
		{"DEL", "a\x7fb", "ab", ClassPlain},
		{"C1", "a\u0085\u009b31mb", "a31mb", ClassPlain},
		{"not UTF-8", "a\xffb\x9b", "a\uFFFDb\uFFFD", ClassPlain},
		{"trailing backslash", `a\`, `a\ `, ClassPlain},
		{"two trailing backslashes", `a\\`, `a\\ `, ClassPlain},
		{"backslash before the end", `a\b`, `a\b`, ClassPlain},
		{"backslash at the end of an inner line", "a\\\nb", "a\\\nb", ClassPlain},
		{"backslash that ends with a dropped character", "a\\\x1b", `a\ `, ClassPlain},
		{"command", "/compact now", "/compact now", ClassCommand},
		{"command of many lines", "/review\nthis", "/review\nthis", ClassCommand},
		{"command behind blanks", " \n\u00a0/exit", " \n\u00a0/exit", ClassCommand},
		{"command behind what is not seen", "\u200b\ufeff/exit", "\u200b\ufeff/exit", ClassCommand},
		{"command in the second line", "see\n/exit", "see\n/exit", ClassPlain},
		{"a word that ends", "exit", "exit", ClassCommand},
		{"a word that ends, among blanks", "\n :q! ", "\n :q! ", ClassCommand},
		{"a word that ends nothing", "exit.", "exit.", ClassPlain},
		{"the agent's own", "//clear", "/clear", ClassCommand},
		{"three slashes lose one", "///x", "//x", ClassCommand},
		{"slash inside", "see a/b", "see a/b", ClassPlain},
		{"command with a trailing backslash", `/add-dir C:\`, `/add-dir C:\ `, ClassCommand},
		{"bash", "!ls -l", "!ls -l", ClassBash},
		{"bash, trailing line feed", "!ls\n", "!ls\n", ClassBash},
		{"bash with a trailing backslash", `!ls \`, `!ls \ `, ClassBash},
		{"bang with more lines", "!ls\nrm x", " !ls\nrm x", ClassPlain},
		{"bang alone", "!", " !", ClassPlain},
		{"bang and space", "! ", " ! ", ClassPlain},
		{"two bangs", "!!", "!!", ClassBash},
		{"bang behind a dropped character", "\x1b!ls", "!ls", ClassBash},
		{"bang behind a space", " !ls", " !ls", ClassPlain},
		{"hash", "# note", "# note", ClassPlain},
		{"dash", "-x", "-x", ClassPlain},
		{"tmux format", "#(touch x)", "#(touch x)", ClassPlain},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, class, ok := Normalise(tc.in)
			require.True(t, ok)
			assert.Equal(t, tc.want, got)
			assert.Equal(t, tc.class, class)
		})
	}
}

func TestNormaliseRefusesOnlyBlankText(t *testing.T) {
	for _, text := range []string{"", " ", "\n\t ", "\r\n", "\x1b\x00", "\u0085", "\u00a0\u2003"} {
		got, class, ok := Normalise(text)
		assert.False(t, ok, "%q", text)
		assert.Empty(t, got)
		assert.Empty(t, class)
	}
}

// checkNormalised checks the rules for any text.
func checkNormalised(t require.TestingT, in string) {
	out, class, ok := Normalise(in)
	visible := strings.Map(dropControl, strings.ToValidUTF8(in, "\uFFFD"))
	require.Equal(t, strings.TrimSpace(visible) != "", ok, "%q", in)
	if !ok {
		return
	}
	require.True(t, utf8.ValidString(out))
	for _, r := range out {
		require.False(t, unicode.IsControl(r) && r != '\n' && r != '\t', "%q has %q", out, r)
	}
	require.NotEmpty(t, strings.TrimSpace(out))
	require.False(t, strings.HasSuffix(out, `\`), "%q would not be submitted", out)
	require.Equal(t, class == ClassBash, strings.HasPrefix(out, "!"), "%q is %s", out, class)
	commands := strings.HasPrefix(strings.TrimLeftFunc(out, unnoticed), "/") || slices.Contains(Leaves(), strings.TrimFunc(out, unnoticed))
	require.Equal(t, class == ClassCommand, commands, "%q is %s", out, class)
	if !strings.HasPrefix(out, "//") { // there each pass takes one, as documented
		again, classAgain, _ := Normalise(out)
		require.Equal(t, out, again, "typing %q again", in)
		require.Equal(t, class, classAgain)
	}
	// No visible character is lost but one slash, and only spaces are added.
	squeeze := func(s string) string {
		return strings.Join(strings.Fields(strings.NewReplacer("\r", "\n").Replace(s)), "")
	}
	kept := strings.Map(dropControl, strings.ToValidUTF8(strings.NewReplacer("\r", "\n").Replace(in), "\uFFFD"))
	if strings.HasPrefix(kept, "//") {
		kept = kept[1:]
	}
	require.Equal(t, squeeze(kept), squeeze(out))
}

func TestP7_NormaliseRemovesControlCharacters(t *testing.T) {
	piece := rapid.SampledFrom([]string{"!", "/", "//", `\`, "\r", "\n", "\r\n", "\t", " ", "\x1b", "\x1b[201~", "\x00", "\x7f",
		"\u0085", "\u009b", "\xff", "a", "é", "\u2028", "👋", "#"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), "")
		if rapid.Bool().Draw(t, "any") {
			text += rapid.String().Draw(t, "text")
		}
		checkNormalised(t, text)
	})
}

func FuzzNormalise(f *testing.F) {
	for _, seed := range []string{"", "a", "!ls", "! ", "//x", `a\`, "\x1b[200~x\x1b[201~", "a\r\nb", "\xff\xfe", "\u0085"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) { checkNormalised(t, in) })
}
