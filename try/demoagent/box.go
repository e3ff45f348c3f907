package demoagent

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

const (
	// A paste beyond these shows as "[Pasted text #1 +3 lines]" and arrives wrapped in
	// <pasted_content>.
	foldChars = 800
	foldLines = 3

	// foldedPaste stands for folded paste number 0; a private-use character that is never typed.
	foldedPaste = '\U000F0000'
)

// box is the prompt box. The cursor is always at the end.
type box struct {
	text   []rune // a folded paste is one rune: foldedPaste + its number
	bash   bool   // a leading "!" was typed: the rest is a shell command
	pastes map[rune]string
	folds  int // folded pastes so far; the number is never used again
}

func (b *box) empty() bool { return len(b.text) == 0 && !b.bash }

func (b *box) clear() { b.text, b.bash = nil, false }

// insert types text. A "!" at the very beginning switches to the shell.
func (b *box) insert(text string) {
	if b.empty() && strings.HasPrefix(text, "!") {
		b.bash = true
		text = text[1:]
	}
	b.text = append(b.text, []rune(text)...)
}

// paste takes pasted text: short text as if typed, long text folded. The same long text pasted
// twice in a row unfolds the first instead of adding a second.
func (b *box) paste(text string) {
	if len([]rune(text)) <= foldChars && strings.Count(text, "\n") < foldLines {
		b.insert(text)
		return
	}
	if n := len(b.text); n > 0 && b.pastes[b.text[n-1]] == text {
		b.text = append(b.text[:n-1], []rune(text)...)
		return
	}
	b.folds++
	mark := foldedPaste + rune(b.folds)
	if b.pastes == nil {
		b.pastes = make(map[rune]string)
	}
	b.pastes[mark] = text
	b.text = append(b.text, mark)
}

func (b *box) backspace() {
	if len(b.text) == 0 {
		b.bash = false
		return
	}
	b.text = b.text[:len(b.text)-1]
}

// killLine is C-u: it takes what stands left of the cursor in the row as shown, or the line break
// when there is nothing. Clearing three lines takes five presses.
func (b *box) killLine(width int) {
	if len(b.text) == 0 {
		b.bash = false
		return
	}
	if b.text[len(b.text)-1] == '\n' {
		b.text = b.text[:len(b.text)-1]
		return
	}
	rows := b.rows(width)
	row := len([]rune(rows[len(rows)-1]))
	for row > 0 && len(b.text) > 0 && b.text[len(b.text)-1] != '\n' {
		row -= len([]rune(b.shown(b.text[len(b.text)-1])))
		b.text = b.text[:len(b.text)-1]
	}
}

// continueLine turns a trailing backslash into a line break and tells that Enter meant only that.
func (b *box) continueLine() bool {
	n := len(b.text)
	if n == 0 || b.text[n-1] != '\\' {
		return false
	}
	b.text[n-1] = '\n'
	return true
}

// plain is the text as it was typed and pasted.
func (b *box) plain() string { return b.expand(func(_ rune, paste string) string { return paste }) }

// prompt is the text as Claude Code hands it on: folded pastes are wrapped, each with an id.
func (b *box) prompt(newID func() string) string {
	return b.expand(func(_ rune, paste string) string {
		id := newID()
		return fmt.Sprintf("\n\n<pasted_content id=%q>\n%s\n</pasted_content id=%q>\n", id, paste, id)
	})
}

func (b *box) expand(fold func(mark rune, paste string) string) string {
	var s strings.Builder
	for _, r := range b.text {
		if paste, ok := b.pastes[r]; ok {
			s.WriteString(fold(r, paste))
			continue
		}
		s.WriteRune(r)
	}
	return s.String()
}

func (b *box) shown(r rune) string {
	paste, ok := b.pastes[r]
	if !ok {
		return string(r)
	}
	label := fmt.Sprintf("[Pasted text #%d", r-foldedPaste)
	if lines := strings.Count(paste, "\n"); lines > 0 {
		label += fmt.Sprintf(" +%d lines", lines)
	}
	return label + "]"
}

// rows is the text as shown, wrapped to width columns; never none.
func (b *box) rows(width int) []string {
	text := b.expand(func(mark rune, _ string) string { return b.shown(mark) })
	return strings.Split(ansi.Hardwrap(text, max(width, 1), true), "\n")
}
