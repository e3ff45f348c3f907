package chat

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ccbot/bot/port/places"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// Phrases are the sentences and buttons that several features share. They post nothing.
type Phrases struct {
	Words  i18n.Words
	Places places.Places
	Now    func() time.Time
	Attach func(r session.Record) string // the command that shows the window of a session at the desk
}

// OutsideText says that no session may be opened in a directory. It is empty where one may.
func (p Phrases) OutsideText(dir string) string {
	found, err := p.Places.Resolve("/", dir)
	if found != "" && places.CodeOf(err) != places.Outside {
		return ""
	}
	roots := strings.Join(p.Places.Bounds().Roots, ", ")
	return p.Words.Say(i18n.PathNotAllowed, i18n.Args{"Path": dir, "Roots": roots})
}

// MaxName is how long the name of a session may be, in letters: the name stands on buttons.
const MaxName = 48

// ShownName is the name of a session in a sentence that is not about that session alone.
func ShownName(name string) string { return Head(glyph.Name(name), MaxName) }

// StateArgs are the name and the state of a session for a sentence.
func (p Phrases) StateArgs(r session.Record) i18n.Args {
	return i18n.Args{"Name": r.Name, "State": p.Words.Say(i18n.StateKey(string(r.State)))}
}

// ProcessText names a process: its program, pid, age and terminal. Age 0 is not said.
func (p Phrases) ProcessText(one process.Process, age time.Duration) string {
	parts := []string{fmt.Sprintf("pid %d", one.PID)}
	if name := programOf(one); name != "" {
		parts = append([]string{name}, parts...)
	}
	if age > 0 {
		parts = append(parts, p.Age(age))
	}
	if tty := one.Terminal(); tty != "" {
		parts = append(parts, tty)
	}
	return strings.Join(parts, ", ")
}

// programOf is the name by which a person knows a process.
func programOf(p process.Process) string {
	for _, name := range append(slices.Clone(p.Args[:min(len(p.Args), 1)]), p.Exe, p.Comm) {
		if name != "" {
			return Tail(glyph.Name(filepath.Base(name)), 24)
		}
	}
	return ""
}

// WriterText is one writer of a conversation in one line.
func (p Phrases) WriterText(w lifecycle.Writer) string {
	text := p.ProcessText(w.Process, w.Age)
	if w.Session != "" {
		text += ", " + p.Words.Say(i18n.WriterSession, i18n.Args{"Name": w.Session})
	}
	if dir := p.ShortTail(w.Cwd); dir != "" {
		text += ", " + dir
	}
	if !w.Proven {
		return p.Words.Say(i18n.WriterUnsure, i18n.Args{"Process": text})
	}
	return text
}

// NotCleanText says of a session whose archive is over that its end is not proven.
func (p Phrases) NotCleanText(r session.Record) string {
	return p.NotProvenText(r, p.NotCleanDetails(r))
}

// NotProvenText says that the end of a session is not proven, and why.
func (p Phrases) NotProvenText(r session.Record, why []string) string {
	return p.Words.Say(i18n.CleanupFailed, i18n.Args{"Name": r.Name, "Details": p.Some(why, "; ")})
}

// NotCleanDetails are what the record of a session keeps of what could not be proven: the same as
// the receipt of the archive says. A file that was edited may keep nothing.
func (p Phrases) NotCleanDetails(r session.Record) []string {
	var failures []lifecycle.Failure
	if r.Cleanup != nil {
		for _, f := range r.Cleanup.Failures {
			one := lifecycle.Failure{Kind: lifecycle.FailureKind(f.Kind), PID: f.PID, Detail: f.Detail}
			failures = append(failures, one)
		}
	}
	if len(failures) == 0 {
		return []string{p.Words.Say(i18n.FailureSome)}
	}
	return p.FailureTexts(failures)
}

// FailureTexts say what could not be proven, each sentence once.
func (p Phrases) FailureTexts(failures []lifecycle.Failure) []string {
	var all []string
	for _, f := range failures {
		key := i18n.FailureKey(string(f.Kind))
		text := p.Words.Say(key, i18n.Args{"PID": f.PID})
		switch {
		case f.PID == 0 && f.Kind == lifecycle.FailureUnknown:
			text = p.Words.Say(i18n.FailureSome)
		case text == string(key): // a record may be of a later program
			text = glyph.Name(f.String())
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// unsure says that a session is not started, because somebody may write its conversation.
func (p Phrases) unsure(all []lifecycle.Writer) render.Text {
	lines := []string{p.Words.Say(i18n.StartUnsure)}
	for _, w := range all[:min(len(all), MaxListed)] {
		lines = append(lines, "• "+p.WriterText(w))
	}
	return render.Plain(strings.Join(lines, "\n"))
}

// NoSessionText says that no session is open, and what to do.
func (c *Chat) NoSessionText() string {
	for _, r := range c.Book.Records.List() {
		if r.Resumable() {
			return c.Words.Say(i18n.NoSessionArchived)
		}
	}
	return c.Words.Say(i18n.NoSession)
}
