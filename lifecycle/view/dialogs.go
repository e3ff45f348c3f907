package view

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"ccbot/agent"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/talk"
)

// DialogOf makes the Dialog from a view. It is pure.
func DialogOf(r session.Record, v View) port.Dialog {
	d := port.Dialog{Selected: -1, Relayed: v.Relayed}
	if !v.Captured || !v.DialogOpen() && !unready(r, v) {
		return d
	}
	d.Open = true
	if s := v.Screen.Dialog; s != nil {
		d.Lines, d.Options, d.Selected = s.Lines, s.Options, s.Selected
		// A row that has left the screen could be the real beginning of a dialog without styles and rules, and
		// of one that begins in the first row.
		d.Whole = s.Whole && (!v.Screen.Flat && !s.FromTop || v.Pane.Scrolled == 0)
		d.Stops = s.Stops && d.Whole && !d.Relayed
		d.Suspends = s.Suspends
		d.Enters = !d.Whole && !d.Relayed && !v.Screen.Flat && s.Opened && !s.Question && mayBeOpened(v)
	} else {
		d.Lines = strings.Split(strings.Trim(v.Screen.Text, "\n"), "\n")
		// The edges of an unrecognised dialog are unknown, and without styles all rows could be the
		// agent's words.
		d.Whole = v.Pane.Scrolled == 0 && !v.Screen.Flat && !slices.ContainsFunc(strings.Split(v.Screen.Text, "\n"), v.Reader.Hides)
	}
	d.Unasked = HasRelay(r, v) && !v.ByServer && !v.Relayed && asksPermission(v)
	d.ByPolicy = d.Unasked && v.HooksShut
	d.Fingerprint = dialogFingerprint(r, v, d.Whole)
	return d
}

// mayBeOpened reports whether the agent says that it shows a dialog that belongs to no turn: a page or a list that a person has opened,
// or a question of the agent's program. Without a presence file, or with one that cannot be read, nothing says so.
func mayBeOpened(v View) bool {
	return v.State.Decides() && v.State.Phase.Waiting() && v.State.Asks == AsksPage
}

// HasRelay reports whether ccbot started the agent in a way that brings its permission requests to
// the chat.
func HasRelay(r session.Record, v View) bool {
	return v.ByHook && r.Launch != nil && r.Launch.PermissionMode == agent.ModeAsk && !v.Adopted
}

// asksPermission reports whether the terminal asks for a permission. It is pure.
func asksPermission(v View) bool {
	d := v.Screen.Dialog
	switch {
	case d != nil && d.Whole && d.Question:
		return false
	case v.State.Phase.Waiting():
		return v.State.Asks == AsksPermission
	}
	return d != nil && d.Permits
}

// unready reports whether an agent that was never ready shows something other than a prompt box:
// not all questions before the first presence file are recognised.
func unready(r session.Record, v View) bool {
	return r.State.Launching() && v.IsSeen() && v.State.Known == StateUnwritten && !v.Screen.Box.Present && v.Screen.Text != ""
}

// dialogFingerprint returns a hash of what the keys would act on: the dialog with its cursor and
// ticks, whether that is all of the dialog, and the process that shows it. For a dialog that is not
// recognised it is the whole screen, without the parts that change by themselves.
func dialogFingerprint(r session.Record, v View, whole bool) string {
	of := ""
	if r.Binding != nil {
		of = r.Binding.Agent.String() // the next launch may ask the same question
	}
	shown := fmt.Sprintf("%q", v.steady())
	d := v.Screen.Dialog
	if d != nil {
		shown = fmt.Sprintf("%q %q %d", d.Lines, d.Options, d.Selected)
	}
	calm := strings.Map(func(r rune) rune {
		if Counts(r) {
			return -1
		}
		return r
	}, shown)
	if d != nil && d.Stops {
		calm = DialogName(d) // a server writes all the time, and two differ in their port
	}
	return Fingerprint(fmt.Sprintf("%s %t ", of, whole), shown, calm)
}

// Counts reports whether a character may change by itself in a dialog that stays the same: a digit of a clock or a counter, or a blank
// beside it.
func Counts(r rune) bool { return unicode.IsDigit(r) || unicode.IsSpace(r) }

// Fingerprint names what keys would act on, of an agent: what is shown exactly and, behind a dot, without what counts.
func Fingerprint(of, exactly, calm string) string {
	hash := func(shown string, length int) string {
		sum := sha256.Sum256([]byte(of + shown))
		return base64.RawURLEncoding.EncodeToString(sum[:length])
	}
	return hash(exactly, 9) + "." + hash(calm, 6)
}

// IsUnchanged reports whether a key may act on what has the fingerprint now, if a person has seen the other one. A key that only looks
// around or leaves may, while a clock goes on.
func IsUnchanged(seen, now string, looks bool) bool {
	_, calm, has := strings.Cut(seen, ".")
	return seen == now || looks && has && strings.HasSuffix(now, "."+calm)
}

// DialogName distinguishes one dialog from the next: by its letters, and exactly by the rows above
// its options. Ticks, counters and the cursor open no new dialog, but two commands may differ in
// one digit. What a command in the background writes opens none either.
func DialogName(d *agent.Dialog) string {
	if d == nil {
		return "not recognised"
	}
	if d.Stops {
		return strings.Join(d.Head, "\n")
	}
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, d.Title+strings.Join(d.Lines, "")+strings.Join(d.Options, ""))
	if len(d.Options) == 0 {
		return letters
	}
	return letters + "\n" + strings.Join(headOf(d), "\n")
}

// headOf returns the rows above the options exactly, because they hold the command: only the topics
// of a question, its first row, are without their ticks.
func headOf(d *agent.Dialog) []string {
	head := slices.Clone(d.Head)
	if len(head) > 0 && d.Question {
		head[0] = strings.Map(withoutTicks, head[0])
	}
	return head
}

// Question returns what a key in the dialog would approve: the rows above the options, and the
// options without the cursor and the ticks.
func Question(v View) string {
	d := v.Screen.Dialog
	if d == nil {
		return v.steady()
	}
	rows := append(headOf(d), "")
	for _, option := range d.Options {
		rows = append(rows, strings.TrimRight(strings.TrimLeft(option, " []"+ticks), " "+ticks))
	}
	return fmt.Sprintf("%q", rows)
}

// ticks are the cursor and the marks at the start and the end of a topic or an option.
const ticks = "❯✔✓☐☒◯◉○●"

func withoutTicks(r rune) rune {
	if strings.ContainsRune(ticks, r) {
		return ' '
	}
	return r
}

// Once these times have passed, an agent that says that it does not wait has really moved on. They
// are needed because the presence file is written a little before or after the hook starts.
const (
	goneAfter = time.Second     // by which the presence file is newer than the newest request
	GoneBy    = 3 * time.Second // the age of the newest request; one from the future is older: the clock was set back
)

// IsDialogGone reports whether the dialogs of all waiting requests are proven gone. It is needed
// because a Yes or an answer in the terminal may not end the hook of its request.
// It is pure.
func IsDialogGone(v View) bool {
	return MayDialogBeGone(v) && (v.State.Since.After(v.RequestedAt.Add(goneAfter)) || v.Now.Sub(v.RequestedAt).Abs() > GoneBy)
}

// MayDialogBeGone reports whether a request waits although the agent, by its presence file and its
// screen, waits for no person.
func MayDialogBeGone(v View) bool {
	moved := v.State.Phase == talk.PhaseIdle || v.State.Phase == talk.PhaseWorking
	return v.Relayed && v.Agent == process.Alive && moved && !v.DialogOpen()
}

// IsDialogClosed reports whether it is certain that no dialog is open. It is pure.
func IsDialogClosed(v View) bool {
	known := v.Captured && v.Phase() != talk.PhaseUnknown
	return v.gone() || known && !v.DialogOpen()
}
