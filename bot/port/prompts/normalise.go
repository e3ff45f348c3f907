package prompts

import (
	"strings"
	"unicode"

	"ccbot/internal/glyph"
)

// Normalise makes text safe to type and changes nothing else: CRLF and CR become LF; C0, C1 and ESC
// go, except LF and TAB; a trailing backslash gets a space (backslash and Enter is a new line to
// Claude Code, not a submit); `//x` is the agent's own `/x`; a leading `!` gets a space, unless the
// text is a single line `!cmd`, Claude's bash mode. ok is false for a blank text, which is not
// typed.
func Normalise(text string) (typed string, class Class, ok bool) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Map(dropControl, text)
	if strings.TrimSpace(text) == "" {
		return "", "", false
	}
	class = Plain
	switch {
	case strings.HasPrefix(text, "//"):
		text, class = text[1:], Command
	case strings.HasPrefix(strings.TrimLeftFunc(text, unnoticed), "/"),
		leaves[strings.TrimFunc(text, unnoticed)]:
		class = Command
	case isBash(text):
		class = Bash
	case strings.HasPrefix(text, "!"):
		text = " " + text
	}
	if strings.HasSuffix(text, `\`) {
		text += " "
	}
	return text, class, true
}

// unnoticed says that Claude Code does not look at a character at the start of a text when it looks
// for a command.
func unnoticed(r rune) bool { return unicode.IsSpace(r) || glyph.Unseen(r) }

// leaves are words that end Claude Code where nothing else stands in the text.
var leaves = map[string]bool{
	"exit": true, "quit": true, ":q": true, ":q!": true, ":wq": true, ":wq!": true}

func dropControl(r rune) rune {
	if r != '\n' && r != '\t' && unicode.IsControl(r) {
		return -1
	}
	return r
}

// isBash says whether text is one line of Claude's bash mode. `!` alone is not: it would leave the
// box in that mode.
func isBash(text string) bool {
	line, rest, _ := strings.Cut(text, "\n")
	cmd, ok := strings.CutPrefix(line, "!")
	return ok && strings.TrimSpace(rest) == "" && strings.TrimSpace(cmd) != ""
}
