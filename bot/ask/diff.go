package ask

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"ccbot/internal/exactjson"
)

// maxDiff is the most text a diff is looked for in, in bytes; more does not fit a message anyway.
const maxDiff = 64 << 10

const contextLines = 3

// diffOf shows old_string and new_string of an edit as one diff. rest are the fields that the diff
// does not show. It is false where they are not of the types that Edit has, or say the same.
func diffOf(list []exactjson.Member) (diff string, rest []exactjson.Member, ok bool) {
	var before, after string
	rest = take(take(list, "old_string", textTo(&before)), "new_string", textTo(&after))
	if len(list)-len(rest) != 2 || before == after {
		return "", list, false
	}
	return unified(ended(before), ended(after)), take(rest, "replace_all", isFalse), true
}

// ended is a text with a line end more, so that nothing is remarked on its end.
func ended(s string) string {
	if s == "" {
		return ""
	}
	return s + "\n"
}

// unified is the diff of two texts without names and line numbers: those are of the piece that is
// replaced, not of the file. Each line of text has a sign before it: none is taken for a heading.
func unified(before, after string) string {
	if len(before)+len(after) > maxDiff {
		return signed("-", before) + signed("+", after)
	}
	diff, err := udiff.ToUnified("a", "b", before, udiff.Lines(before, after), contextLines)
	if err != nil {
		return signed("-", before) + signed("+", after)
	}
	lines := strings.Split(strings.TrimSuffix(diff, "\n"), "\n")[3:] // "--- a", "+++ b", "@@ … @@"
	for i, line := range lines {
		if strings.HasPrefix(line, "@@") {
			lines[i] = "⋯"
		}
	}
	return strings.Join(lines, "\n")
}

func signed(sign, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(sign + line)
	}
	return b.String()
}
