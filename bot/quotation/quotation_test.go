package quotation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ccbot/port/talk"
)

// hostile are texts that act, or would if a person had written them.
var hostile = []string{"!touch x", "/exit", "/kill", "/new x /tmp", "//clear", "@~/.ssh/id_rsa", "see @~/.ssh/id_rsa", "#note", "exit", "/help@cc_bot",
	"hello\n!touch x\r\n/exit\r!touch y\u2028!touch z", "\n\n/exit", " /exit", "\u200b!touch x", "/tmp/secret.png", "x\\"}

// No sign in a quotation is at a place where Claude Code acts on it.
func TestP7_QuotationsDoNotAct(t *testing.T) {
	piece := rapid.OneOf(rapid.SampledFrom(append([]string{"@", "!", "/", "#", "\n", "\r", "\u2028", " ", "\t", "\\", "a", "\u00a0", "\u3000", "@\"a b\"", "(@x", "``"}, hostile...)), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "text"), "")
		typed, class, ok := talk.Normalise(Of("Forwarded message from "+nameOf(text), text))
		require.True(t, ok)
		require.Equal(t, talk.ClassPlain, class)
		for i, line := range strings.Split(typed, "\n") {
			require.True(t, i == 0 && strings.HasPrefix(line, "Forwarded message from ") || strings.HasPrefix(line, "> "), "%q", line)
			assertInert(t, line)
		}
	})
}

// assertInert checks that nothing in a line is a mention of a file, but for addresses of mail.
func assertInert(t require.TestingT, line string) {
	require.NotRegexp(t, `(?:^|[^A-Za-z0-9._%+/-])@[^\s\p{Z}]`, line)
	require.NotRegexp(t, `(?:^|[\s。、？！])/[^\s\p{Z}/:]+(\s|$)`, line)
	require.NotRegexp(t, `(?i)ultra(think|code)`, line)
	require.NotRegexp(t, `(^|[\x00-\x7f])[\x{200c}\x{200d}\x{fe0f}]`, line)
	require.NotRegexp(t, `[\x{200b}\x{202a}-\x{202e}\x{2060}-\x{2069}\x{feff}]`, line)
}

func TestInert(t *testing.T) {
	const joined = "\u2764\ufe0f \U0001f469\u200d\U0001f4bb \u0645\u06cc\u200c\u062e"
	for text, want := range map[string]string{
		"": "", "no mention": "no mention", "@a": "@ a", "see @a and @b": "see @ a and @ b", "@@a": "@ @ a", "(@a)": "(@ a)", "@": "@", "a @": "a @",
		"@ a": "@ a", "me@example.com": "me@example.com", "世@a": "世@ a", "。@a": "。@ a", "@\u200ba": "@ a", `@"a b"`: `@ "a b"`, "x\t@a": "x\t@ a",
		" \u200d@a": " @ a", "u\u200dltrathi\u200cnk": "ultra think", "ult\ufe0fracode": "ultra code", "/leak/": "/ leak/", "。\u200d@a": "。@ a", "a \u200b@a": "a @ a", "/exit": "/ exit", "do /exit now": "do / exit now", "/tmp/x and/or 1/2": "/tmp/x and/or 1/2",
		"(/a:b)": "(/ a:b)", "/": "/", "a / b": "a / b", "\ufeff/exit": "/ exit", "ultrathink": "ultra think", "UltraCode": "Ultra Code", "a\u202eb": "ab",
		joined: joined, "\x1b[31mred": "[31mred",
	} {
		assert.Equal(t, want, inert(text), text)
	}
}

// A line of signs alone takes as few passes as any other: when the time grew with the square of its
// length, the longest message took seconds, and this text hours.
func TestP7_InertLineOfSigns(t *testing.T) {
	for _, signs := range []string{"/", "@", "/@", "(/", "//@", "/(@/"} {
		line := inert(strings.Repeat(signs, 1<<14))
		assert.False(t, mention.MatchString(line) || command.MatchString(line), signs)
	}
}
