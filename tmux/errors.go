package tmux

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"ccbot/port/refusal"
)

// Sentinels, for errors.Is. Every other error means that the outcome is unknown: an operation may
// have happened, a pane may live.
var (
	// ErrNoTmux: there is no tmux on PATH.
	ErrNoTmux = refusal.New(refusal.NoTmux, "tmux is not installed")
	// ErrTooOld: tmux is older than MinVersion; the text has both versions.
	ErrTooOld = errors.New("tmux is too old")
	// ErrDefaultSocket: a test binary asked for the user's own server.
	ErrDefaultSocket = errors.New("the default tmux socket is refused in a test")
	// ErrFolder: others may enter the folder of the sockets, or it is another user's. Nothing was
	// sent.
	ErrFolder = errors.New("others may enter the folder of tmux's sockets, or it is another user's; make it yours alone (chmod 700), or remove it")
	// ErrNoTarget: the zero WindowID or PaneID, or a guard without a pid. Nothing was sent.
	ErrNoTarget = errors.New("no tmux target")
	// ErrSilent: the server did not answer in time. It comes with ErrNotSent or ErrLost.
	ErrSilent = refusal.New(refusal.TmuxSilent, "tmux does not answer")
	// ErrNoServer: no server listens on the socket; this is proven, not guessed.
	ErrNoServer = errors.New("no tmux server")
	// ErrNoPane: the server answered that it has no such pane.
	ErrNoPane = refusal.New(refusal.NoAgent, "no such tmux pane")
	// ErrGuard: the pane did not match the guard; nothing reached it. When the pane is missing the
	// error is ErrNoPane as well.
	ErrGuard = refusal.New(refusal.Guarded, "tmux pane is not as expected")
	// ErrTaken: a new window was changed or closed before its process began; nothing was started.
	ErrTaken = refusal.New(refusal.WindowTaken, "the new window was changed or closed")
	// ErrNotSent: there was no connection to send on in time, or the text of a paste could not be
	// written to a file for tmux, so nothing happened.
	ErrNotSent = errors.New("tmux command was not sent")
	// ErrLost: the command was sent and no answer came. The operation may have happened, and under
	// a stopped server it may still happen later; its guard is also checked then.
	ErrLost = errors.New("tmux command has an unknown outcome")
)

// GuardError is the ErrGuard of one refused operation, with the expected and the actual state.
type GuardError struct {
	Pane PaneID
	Want string // "pid dead mode input-off synchronized [command]"
	Got  string // the same of the pane; empty when there is no pane
}

// Error shows the expected and the actual state.
func (e *GuardError) Error() string {
	if e.Got == "" {
		return fmt.Sprintf("%v: %s: %v", ErrGuard, e.Pane, ErrNoPane)
	}
	return fmt.Sprintf("%v: %s: want %q, is %q (pid, dead, in mode, input off, synchronized, command)", ErrGuard, e.Pane, e.Want, e.Got)
}

// Unwrap returns ErrGuard, and before it ErrNoPane if the pane was missing.
func (e *GuardError) Unwrap() []error {
	if e.Got == "" {
		return []error{ErrNoPane, ErrGuard}
	}
	return []error{ErrGuard}
}

// commandError is tmux's own answer to a command that failed.
type commandError struct {
	Command string // its first word
	Text    string // as tmux wrote it
}

// Error is tmux's text after the command's name.
func (e *commandError) Error() string { return "tmux " + e.Command + ": " + e.Text }

// Unwrap returns the sentinel that the text proves, or the fault of the machine that it names.
func (e *commandError) Unwrap() error {
	if strings.HasPrefix(e.Text, "can't find pane") {
		return ErrNoPane
	}
	_, why, _ := strings.Cut(e.Text, "fork failed: ")
	for _, number := range []syscall.Errno{syscall.EAGAIN, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if strings.EqualFold(why, number.Error()) {
			return &os.PathError{Op: "fork/exec", Path: "tmux", Err: number}
		}
	}
	return nil
}
