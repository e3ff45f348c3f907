package terminal

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// Terminal paints lines on a tty in raw mode. Without a tty it only counts on 120×40.
type Terminal struct {
	in, out *os.File
	saved   *term.State
	painted []string // lines on the screen; nil: unknown
}

// Open switches to raw mode, the alternate screen and bracketed paste.
func Open(in, out *os.File, title string) (*Terminal, error) {
	t := &Terminal{in: in, out: out}
	if term.IsTerminal(int(in.Fd())) {
		var err error
		if t.saved, err = term.MakeRaw(int(in.Fd())); err != nil {
			return nil, fmt.Errorf("raw mode: %w", err)
		}
	}
	t.Write("\x1b[?1049h\x1b[?2004h\x1b[?25l\x1b]0;" + title + "\x07")
	return t, nil
}

// Close restores the screen; text printed afterwards stays visible.
func (t *Terminal) Close() {
	t.Write("\x1b[?2004l\x1b[?25h\x1b[?1049l")
	if t.saved != nil {
		_ = term.Restore(int(t.in.Fd()), t.saved)
	}
}

// Size returns the columns and rows, 120×40 without a tty.
func (t *Terminal) Size() (width, height int) {
	width, height, err := term.GetSize(int(t.out.Fd()))
	if err != nil || width < 1 || height < 1 {
		return 120, 40
	}
	return width, height
}

// Forget makes the next paint draw everything: after a resize the screen's content is not known.
func (t *Terminal) Forget() { t.painted = nil }

// Paint draws the lines that changed, in one write.
func (t *Terminal) Paint(lines []string) {
	var b strings.Builder
	if len(t.painted) != len(lines) {
		t.painted = make([]string, len(lines))
		b.WriteString("\x1b[0m\x1b[2J")
	}
	for i, line := range lines {
		if t.painted[i] != line {
			fmt.Fprintf(&b, "\x1b[%d;1H\x1b[0m\x1b[2K%s\x1b[0m", i+1, line)
			t.painted[i] = line
		}
	}
	if b.Len() > 0 {
		t.Write(b.String())
	}
}

// Write ignores errors: a lost terminal is noticed by its signal and by the reader.
func (t *Terminal) Write(s string) { _, _ = t.out.WriteString(s) }
