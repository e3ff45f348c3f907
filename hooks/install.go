package hooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"ccbot/internal/hookwire"
)

// hookName is the base name of ccbot's hook binary, whatever the folder.
const hookName = "ccbot-hook"

// installedEvents are the events whose hooks make a session known that was started by hand.
func installedEvents() []string { return []string{hookwire.SessionStart, hookwire.UserPromptSubmit} }

// InstallState is what a settings file says about one event.
type InstallState string

// The states of an event. Install leaves a file alone in which every event is InstallCurrent.
const (
	InstallMissing   InstallState = "missing"
	InstallCurrent   InstallState = "installed"
	InstallOther     InstallState = "other path" // ours, with another binary, folder or arguments
	InstallDuplicate InstallState = "duplicate"  // ours more than once
	InstallLimited   InstallState = "limited"    // ours, under a matcher that leaves some starts out
	InstallUnneeded  InstallState = "not needed" // ours, for an event that nothing needs (an older ccbot's)
)

// EventState is one event of a settings file, with the commands of ours that stand there.
type EventState struct {
	Event    string       `json:"event"`
	State    InstallState `json:"state"`
	Commands []string     `json:"commands,omitempty"`
}

// Installed is what a settings file says about ccbot's hooks: the two events that ccbot wants, then those with leftovers.
type Installed struct {
	Events   []EventState `json:"events"`
	HooksOff bool         `json:"hooks_disabled"` // the file switches off all hooks (disableAllHooks)
}

// Complete tells that Install has nothing to do.
func (i Installed) Complete() bool {
	return !slices.ContainsFunc(i.Events, func(e EventState) bool { return e.State != InstallCurrent })
}

// Change is what was done to one event: "added", "updated", "duplicates removed" or "removed".
type Change struct {
	Event string
	Done  string
}

// InstalledCommand is the shell line of an installed hook. A session that ccbot started has hooks of its own; there the
// installed one ends at once.
func InstalledCommand(binary, dir string) (string, error) {
	if !filepath.IsAbs(binary) || !filepath.IsAbs(dir) {
		return "", fmt.Errorf("paths must be absolute: %q, %q", binary, dir)
	}
	if !utf8.ValidString(binary + dir) {
		return "", fmt.Errorf("not UTF-8, which JSON cannot hold: %q, %q", binary, dir)
	}
	return shellQuote(binary) + " --dir " + shellQuote(dir) + " --installed >/dev/null 2>&1 || :", nil
}

// Install gives the settings file with ccbot's hooks in it: one for each of the two events, and none of ours elsewhere.
// Everything else keeps its bytes. No change gives the very same bytes. An empty file counts as {}. The error is a
// *SettingsError when the file is not one that can be edited; then data is to be left alone.
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

// Uninstall gives the settings file without any hook of ours, and without the groups, events and the hooks object that
// become empty by that. Everything else keeps its bytes. Its error is that of Install.
func Uninstall(data []byte) ([]byte, []Change, error) {
	doc, err := openDocument(data)
	if err != nil {
		return nil, nil, err
	}
	removed, err := doc.removeOurs(func(entry) bool { return true })
	if err != nil {
		return nil, nil, err
	}
	return doc.result(data, removed)
}

// Inspect tells what Install with the same command would find. Its error is that of Install.
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

func eventState(ours []entry, command string) EventState {
	var s EventState
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
	var out []entry
	for _, e := range all {
		if e.event == event {
			out = append(out, e)
		}
	}
	return out
}

// install makes one event right, and says what it did; "" is nothing.
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
		// Before the others go: an event that is emptied first would lose its place in the file.
		if err := d.add(event, command); err != nil {
			return "", err
		}
		keep = len(ours)
	} else if !ours[keep].runs(command) {
		d.mend(ours[keep], command)
	}
	if err := d.keepOne(event, keep); err != nil {
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

// best is the entry to keep, -1 when none can be: the first that is right as it is, else the first that can be mended.
func best(ours []entry, command string) int {
	if i := slices.IndexFunc(ours, func(e entry) bool { return !e.limited && e.runs(command) }); i >= 0 {
		return i
	}
	return slices.IndexFunc(ours, func(e entry) bool { return !e.limited })
}

func (d *document) keepOne(event string, keep int) error {
	n := -1
	_, err := d.removeOurs(func(e entry) bool {
		if e.event != event {
			return false
		}
		n++
		return n != keep
	})
	return err
}

// removeOurs removes the entries that are to go, and tells their events. going is asked once for each, in order.
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
	// From the end: what stands before keeps its number, while every removal moves the bytes behind it.
	for _, i := range slices.Backward(gone) {
		all, err := d.entries()
		if err != nil {
			return nil, err
		}
		d.remove(all[i])
	}
	return changes, nil
}

// errBroken is a mistake of ours, found before it reaches the file.
var errBroken = errors.New("the edit would have broken the file; nothing was changed")

// result gives data itself when nothing was done to it, so that the layout of an empty file is kept as well.
func (d *document) result(data []byte, changes []Change) ([]byte, []Change, error) {
	if len(changes) == 0 {
		return data, nil, nil
	}
	if !json.Valid([]byte(d.text)) {
		return nil, nil, errBroken
	}
	return []byte(d.bom + d.text), changes, nil
}
