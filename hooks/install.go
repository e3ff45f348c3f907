package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"ccbot/internal/hookwire"
)

// hookName is the base name of ccbot's hook binary, in whatever folder it is.
const hookName = "ccbot-hook"

// installedEvents are the events that make a session known that was started by hand.
func installedEvents() []string { return []string{hookwire.SessionStart, hookwire.UserPromptSubmit} }

// InstallState is what a settings file says about one event.
type InstallState string

// The states of an event. Install does not change a file in which every event is InstallCurrent.
const (
	InstallMissing   InstallState = "missing"
	InstallCurrent   InstallState = "installed"
	InstallOther     InstallState = "other path" // ours, with another binary, folder or arguments
	InstallDuplicate InstallState = "duplicate"  // ours more than once
	InstallLimited   InstallState = "limited"    // ours, under a matcher that excludes some starts
	// InstallUnneeded: ours, for an event of an older ccbot that is not needed.
	InstallUnneeded InstallState = "not needed"
)

// EventState is the state of one event of a settings file, with those of its commands that are
// ours.
type EventState struct {
	Event    string       `json:"event"`
	State    InstallState `json:"state"`
	Commands []string     `json:"commands,omitempty"`
}

// Installed is what a settings file says about ccbot's hooks: the two events that ccbot wants, then
// the events with leftover hooks of ours.
type Installed struct {
	Events []EventState `json:"events"`
	// HooksOff means that the file switches off all hooks (disableAllHooks).
	HooksOff bool `json:"hooks_disabled"`
}

// Complete reports whether Install has nothing to do.
func (i Installed) Complete() bool {
	return !slices.ContainsFunc(i.Events, func(e EventState) bool { return e.State != InstallCurrent })
}

// Change is what was done to one event: "added", "updated", "duplicates removed" or "removed".
type Change struct {
	Event string
	Done  string
}

// InstalledCommand is the shell line of an installed hook. A session that ccbot started has its own
// hooks; there the installed hook ends at once.
func InstalledCommand(binary, dir string) (string, error) {
	if !filepath.IsAbs(binary) || !filepath.IsAbs(dir) {
		return "", fmt.Errorf("paths must be absolute: %q, %q", binary, dir)
	}
	if !utf8.ValidString(binary + dir) {
		return "", fmt.Errorf("not UTF-8, which JSON cannot hold: %q, %q", binary, dir)
	}
	return shellQuote(binary) + " --dir " + shellQuote(dir) + " --installed >/dev/null 2>&1 || :", nil
}

// Install returns the settings file with ccbot's hooks in it: one for each of the two events, and
// none of ours elsewhere. Everything else keeps its bytes; without a change the very same bytes are
// returned. An empty file counts as {}. The error is a *SettingsError when the file cannot be
// edited; the caller must then leave the file alone.
func Install(data []byte, command string) ([]byte, []Change, error) {
	doc, err := openDocument(data)
	if err != nil {
		return nil, nil, err
	}
	var changes []Change
	for _, event := range installedEvents() {
		done, err := doc.install(event, command)
		if err != nil {
			return nil, nil, err
		}
		if done != "" {
			changes = append(changes, Change{event, done})
		}
	}
	removed, err := doc.removeOurs(func(e entry) bool { return !slices.Contains(installedEvents(), e.event) })
	if err != nil {
		return nil, nil, err
	}
	return doc.result(data, append(changes, removed...))
}

// Uninstall returns the settings file without any hook of ours. before is the file as it was before
// the install, nil if that is unknown. If data is before with our hooks installed, and nothing else,
// the result is before. Otherwise our hooks go, with the groups, the events and the hooks object that
// hold nothing else and that before does not have; every other byte stays. It fails in the same cases
// as Install.
func Uninstall(data, before []byte) ([]byte, []Change, error) {
	doc, err := openDocument(data)
	if err != nil {
		return nil, nil, err
	}
	if had, err := openDocument(before); err == nil && before != nil {
		doc.before = had
	}
	unedited := before != nil && isInstalled(before, data)
	removed, err := doc.removeOurs(func(entry) bool { return true })
	if err != nil {
		return nil, nil, err
	}
	if unedited {
		return before, removed, nil
	}
	return doc.result(data, removed)
}

// isInstalled reports whether data is what Install makes of before, which has no hook of ours.
func isInstalled(before, data []byte) bool {
	doc, err := openDocument(data)
	if err != nil {
		return false
	}
	ours, err := doc.entries()
	if err != nil || len(ours) == 0 || hasOurs(before) {
		return false
	}
	installed, _, err := Install(before, ours[0].command)
	return err == nil && bytes.Equal(installed, data)
}

// hasOurs reports whether a settings file has a hook of ours, or may have one: it cannot be read.
func hasOurs(data []byte) bool {
	doc, err := openDocument(data)
	if err != nil {
		return true
	}
	ours, err := doc.entries()
	return err != nil || len(ours) > 0
}

// Inspect reports what Install with the same command would find. It fails in the same cases as
// Install.
func Inspect(data []byte, command string) (Installed, error) {
	doc, err := openDocument(data)
	if err != nil {
		return Installed{}, err
	}
	all, err := doc.entries()
	if err != nil {
		return Installed{}, err
	}
	events := installedEvents()
	for _, e := range all {
		if !slices.Contains(events, e.event) {
			events = append(events, e.event)
		}
	}
	out := Installed{HooksOff: lastValue(doc.root(), "disableAllHooks").Bool()}
	for i, event := range events {
		state := eventState(of(all, event), command)
		if i >= len(installedEvents()) {
			state.State = InstallUnneeded
		}
		state.Event = event
		out.Events = append(out.Events, state)
	}
	return out, nil
}

func eventState(ours []entry, command string) (s EventState) {
	for _, e := range ours {
		s.Commands = append(s.Commands, e.command)
	}
	switch {
	case len(ours) == 0:
		s.State = InstallMissing
	case len(ours) > 1:
		s.State = InstallDuplicate
	case ours[0].limited:
		s.State = InstallLimited
	case !ours[0].runs(command):
		s.State = InstallOther
	default:
		s.State = InstallCurrent
	}
	return s
}

func of(all []entry, event string) []entry {
	return slices.DeleteFunc(slices.Clone(all), func(e entry) bool { return e.event != event })
}

// install corrects one event and says what it did; "" means that nothing was done.
func (d *document) install(event, command string) (done string, err error) {
	all, err := d.entries()
	if err != nil {
		return "", err
	}
	ours := of(all, event)
	state := eventState(ours, command).State
	if state == InstallCurrent {
		return "", nil
	}
	keep := best(ours, command)
	if keep < 0 {
		// Add before the others are removed: an event that becomes empty first would lose its place
		// in the file.
		if err := d.add(event, command); err != nil {
			return "", err
		}
		keep = len(ours)
	} else if !ours[keep].runs(command) {
		d.mend(ours[keep], command)
	}
	n := -1
	if _, err := d.removeOurs(func(e entry) bool {
		if e.event == event {
			n++
		}
		return e.event == event && n != keep
	}); err != nil {
		return "", err
	}
	switch state {
	case InstallMissing:
		return "added", nil
	case InstallDuplicate:
		return "duplicates removed", nil
	}
	return "updated", nil
}

// best is the index of the entry to keep, -1 when none can be kept: the first entry that is right
// as it is, else the first that can be corrected.
func best(ours []entry, command string) int {
	if i := slices.IndexFunc(ours, func(e entry) bool { return !e.limited && e.runs(command) }); i >= 0 {
		return i
	}
	return slices.IndexFunc(ours, func(e entry) bool { return !e.limited })
}

// removeOurs removes the entries for which going holds, and returns their events. going is called
// once for each entry, in order.
func (d *document) removeOurs(going func(entry) bool) ([]Change, error) {
	all, err := d.entries()
	if err != nil {
		return nil, err
	}
	var changes []Change
	var gone []int
	for i, e := range all {
		if !going(e) {
			continue
		}
		gone = append(gone, i)
		if c := (Change{e.event, "removed"}); !slices.Contains(changes, c) {
			changes = append(changes, c)
		}
	}
	// From the end: an entry in front keeps its number, while every removal moves the bytes behind
	// it.
	for _, i := range slices.Backward(gone) {
		all, err := d.entries()
		if err != nil {
			return nil, err
		}
		d.remove(all[i])
	}
	return changes, nil
}

// errBroken means a bug in our own edit, found before the result reaches the file.
var errBroken = errors.New("the edit would have broken the file; nothing was changed")

// result returns data itself when nothing was changed, so that even the layout of an empty file is
// kept.
func (d *document) result(data []byte, changes []Change) ([]byte, []Change, error) {
	if len(changes) == 0 {
		return data, nil, nil
	}
	if !json.Valid([]byte(d.text)) {
		return nil, nil, errBroken
	}
	return []byte(d.bom + d.text), changes, nil
}
