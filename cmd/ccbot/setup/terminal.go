package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/terminal"
)

// Terminal asks a person.
type Terminal struct {
	In  *os.File // nil: questions are not possible
	Out io.Writer
}

// longestLine is the longest line that a terminal hands over.
const longestLine = 4096

func (t Terminal) printLine(format string, args ...any) { fmt.Fprintf(t.Out, format+"\n", args...) }

// Yes asks until the answer is yes or no. Enter alone means fallback.
func (t Terminal) Yes(ctx context.Context, question string, fallback bool) (bool, error) {
	choice := " [y/N] "
	if fallback {
		choice = " [Y/n] "
	}
	for {
		text, err := t.readLine(ctx, question+choice, "--yes", true)
		if err != nil {
			return false, err
		}
		switch strings.ToLower(text) {
		case "":
			return fallback, nil
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
	}
}

// Hide makes the terminal hide input until Show, except in a question that shows it: a token that
// is pasted before its question, or during a call to Telegram, must not be on the screen.
func (t Terminal) Hide() error { return t.echo(false) }

// Show makes the terminal show what is typed, and drops what no question has read, so that the
// shell does not run it.
func (t Terminal) Show() error { return t.echo(true) }

func (t Terminal) echo(shown bool) error {
	if t.In == nil {
		return nil
	}
	return show(t.In, shown)
}

// readLine returns the line that a person types. flag is what answers the question without a
// terminal. The terminal shows the line only if shown.
func (t Terminal) readLine(ctx context.Context, question, flag string, shown bool) (text string, err error) {
	if t.In == nil {
		return "", exit.Usage(fmt.Errorf("there is no terminal to ask at: answer with %s", flag))
	}
	if err := show(t.In, shown); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, show(t.In, false)) }()
	fmt.Fprint(t.Out, question)
	line := make([]byte, longestLine)
	n, err := terminal.Input(ctx, t.In).Read(line) // a terminal gives one line at a time
	if err != nil || !shown {                      // the Enter is not there, or not shown
		defer fmt.Fprintln(t.Out)
	}
	if err != nil {
		return "", fmt.Errorf("there was no answer: %w", err)
	}
	return strings.TrimSpace(string(line[:n])), nil
}

// show switches the terminal's echo. It discards earlier input, because that would answer a
// question that was not read yet. It also switches on the other modes that a question needs: a
// killed program may have left them off.
func show(f *os.File, shown bool) error {
	state, err := unix.IoctlGetTermios(int(f.Fd()), readTermios)
	if err == nil {
		state.Lflag |= unix.ECHO | unix.ICANON | unix.ISIG
		state.Iflag |= unix.ICRNL
		if !shown {
			state.Lflag &^= unix.ECHO
		}
		err = unix.IoctlSetTermios(int(f.Fd()), writeTermios, state)
	}
	if err != nil {
		return fmt.Errorf("set up the terminal: %w", err)
	}
	return nil
}

// width returns the number of characters in a line of the terminal; 0: unknown.
func (t Terminal) width() int {
	width, _, err := term.GetSize(int(t.In.Fd()))
	if err != nil {
		return 0
	}
	return width
}
