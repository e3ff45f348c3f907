package claudeui

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"ccbot/agent"
	"ccbot/internal/lazyregexp"
)

// pasted finds the placeholder that Claude Code shows in the box for something long or not textual.
var pasted = lazyregexp.New(`\[(?:Pasted text #\d+(?: \+(\d+) lines?)?|\.\.\.Truncated text #\d+(?: \+(\d+) lines?)?\.\.\.|Image #\d+)\]`)

// collapsed is the minimum length of a text of a single line that counts as shown by "[Pasted text
// #1]". Claude Code's limit is higher; this one only prevents that a short text is found in another
// paste.
const collapsed = 200

// Holds reports whether the draft is text and nothing else, as far as the screen can show: a
// person's draft that contains the text among other words does not count. Rows of the box wrap
// anywhere, so all white space is left out of the comparison; a long paste is recognised by the
// number of lines in its placeholder.
func (Reader) Holds(b agent.Box, text string) bool {
	if !b.Present || b.Empty || strings.TrimSpace(text) == "" {
		return false
	}
	want, shows := squeeze(text), squeeze(b.Text)
	if want == shows { // a draft of pictures alone leaves nothing to compare
		return true
	}
	// The placeholder itself may be wrapped.
	shown := strings.Join(strings.Fields(b.Text), " ")
	m := pasted.FindStringSubmatchIndex(shown)
	return m != nil && placeholderOf(shown, m, text)
}

// collapses reports whether a part of the draft is replaced by a placeholder.
func collapses(b agent.Box) bool {
	return pasted.MatchString(strings.Join(strings.Fields(b.Text), " "))
}

// placeholderOf reports whether the placeholder at m can stand for text.
func placeholderOf(shown string, m []int, text string) bool {
	breaks := strings.Count(strings.TrimRight(text, "\n"), "\n")
	found, before, after := shown[m[0]:m[1]], squeeze(shown[:m[0]]), squeeze(shown[m[1]:])
	switch {
	case strings.HasPrefix(found, "[Image"):
		return false
	case strings.HasPrefix(found, "[..."):
		const edge = 40
		want := squeeze(text) // shown with its middle cut out
		return len(before) >= edge && len(after) >= edge && len(before)+len(after) <= len(want) &&
			strings.HasPrefix(want, before) && strings.HasSuffix(want, after)
	case before != "" || after != "":
		return false // there is other text next to the paste
	case m[2] < 0:
		return breaks == 0 && len(text) >= collapsed
	}
	n, err := strconv.Atoi(shown[m[2]:m[3]])
	// It was not recorded whether Claude Code counts line breaks or lines, so one more or less is
	// the same text.
	return err == nil && breaks > 0 && n >= breaks-1 && n <= breaks+1
}

// squeeze keeps only characters that every terminal draws alike: letters, digits and ASCII. White
// space is removed because rows wrap anywhere; pictures, joiners and combining marks are removed
// because tmux cuts long sequences of them. Claude Code composes letters and their marks if
// possible.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || r > ' ' && r < unicode.MaxASCII {
			return r
		}
		return -1
	}, norm.NFC.String(s))
}
