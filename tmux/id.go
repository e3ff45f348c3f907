package tmux

import (
	"fmt"
	"strconv"
	"strings"
)

// WindowID is tmux's id of a window, "@3". It is unique for the life of one server; the next server
// uses it again. The zero value is no window; every method refuses it with ErrNoTarget, because
// tmux itself takes an empty target for "the current one".
type WindowID struct{ n uint32 } // the number plus one, so that zero is no window

// PaneID is tmux's id of a pane, "%3". Its life and its zero value are as for WindowID.
type PaneID struct{ n uint32 }

// ParseWindowID reads "@3".
func ParseWindowID(s string) (WindowID, error) {
	n, err := parseID('@', s)
	return WindowID{n}, err
}

// ParsePaneID reads "%3".
func ParsePaneID(s string) (PaneID, error) {
	n, err := parseID('%', s)
	return PaneID{n}, err
}

// Valid reports whether the id names a window.
func (w WindowID) Valid() bool { return w.n != 0 }

// Valid reports whether the id names a pane.
func (p PaneID) Valid() bool { return p.n != 0 }

// String is "@3", and empty for the zero value.
func (w WindowID) String() string { return formatID('@', w.n) }

// String is "%3", and empty for the zero value.
func (p PaneID) String() string { return formatID('%', p.n) }

func parseID(kind byte, s string) (uint32, error) {
	digits, ok := strings.CutPrefix(s, string(kind))
	if !ok || digits == "" || digits[0] < '0' || digits[0] > '9' {
		return 0, fmt.Errorf("tmux id %q: want %c and a number", s, kind)
	}
	// The number has 31 bits, so that one can be added to it on every platform.
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("tmux id %q: %w", s, err)
	}
	return uint32(n) + 1, nil
}

func formatID(kind byte, n uint32) string {
	if n == 0 {
		return ""
	}
	return string(kind) + strconv.FormatUint(uint64(n-1), 10)
}
