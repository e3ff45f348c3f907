package claudesettings

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"ccbot/internal/hookwire"
)

// hookName is the base name of ccbot's hook binary, in whatever folder it is.
const hookName = "ccbot-hook"

// installedEvents are the events that make a session known that was started by hand.
func installedEvents() []string { return []string{hookwire.SessionStart, hookwire.UserPromptSubmit} }

// InstallState is the state of one event in a settings file.
type InstallState string

// The states of an event. Install does not change a file in which every event is InstallCurrent.
const (
	InstallMissing   InstallState = "missing"
	InstallCurrent   InstallState = "installed"
	InstallOther     InstallState = "other path" // ours, with another binary or folder
	InstallDuplicate InstallState = "duplicate"  // ours more than once
	InstallLimited   InstallState = "limited"    // ours, under a matcher that excludes some starts
)

// EventState is the state of one event in a settings file, with ccbot's commands for it.
type EventState struct {
	Event    string       `json:"event"`
	State    InstallState `json:"state"`
	Commands []string     `json:"commands,omitempty"`
}

// Installed is the state of ccbot's hooks in a settings file.
type Installed struct {
	Events []EventState `json:"events"`
	// HooksOff means that the file switches off all hooks (disableAllHooks).
	HooksOff bool `json:"hooks_disabled"`
}

// Complete reports whether Install has nothing to do.
func (i Installed) Complete() bool {
	return !slices.ContainsFunc(i.Events, func(e EventState) bool { return e.State != InstallCurrent })
}

// Change describes the change to one event: "added", "updated", "duplicates removed" or "removed".
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

// Install returns the settings file with one hook of ccbot for each of the two events. Everything
// else keeps its bytes; without a change the same bytes are returned. An empty file counts as {}.
// The error is a *SettingsError if the file cannot be edited; the caller must then leave the file
// alone.
func Install(data []byte, command string) ([]byte, []Change, error) {
	d, err := openDocument(data)
	if err != nil {
		return nil, nil, err
	}
	var changes []Change
	for _, event := range installedEvents() {
		ours := entriesOf(d.entries(), event)
		done := map[InstallState]string{InstallMissing: "added", InstallDuplicate: "duplicates removed",
			InstallOther: "updated", InstallLimited: "updated"}[eventState(ours, command).State]
		if done == "" {
			continue
		}
		if err := d.remove(ours); err != nil {
			return nil, nil, err
		}
		if err := d.add(event, command); err != nil {
			return nil, nil, err
		}
		changes = append(changes, Change{event, done})
	}
	if len(changes) == 0 {
		return data, nil, nil
	}
	return d.bytes(), changes, nil
}

// Uninstall returns the settings file without ccbot's hooks. before is the file as it was before
// the install, nil if that is unknown. If data is before with ccbot's hooks installed, and nothing
// else, the result is before. Otherwise it removes the hooks, and the groups, the events and the
// hooks object that hold nothing else and that before does not have. It fails in the same cases as
// Install.
func Uninstall(data, before []byte) ([]byte, []Change, error) {
	d, err := openDocument(data)
	if err != nil {
		return nil, nil, err
	}
	ours := d.entries()
	var changes []Change
	for _, e := range ours {
		if c := (Change{e.event, "removed"}); !slices.Contains(changes, c) {
			changes = append(changes, c)
		}
	}
	switch {
	case len(ours) == 0:
		return data, nil, nil
	case before != nil && d.isInstallOf(before):
		return before, changes, nil
	}
	if err := d.remove(ours); err != nil {
		return nil, nil, err
	}
	if err := d.tidy(ours, before); err != nil {
		return nil, nil, err
	}
	return d.bytes(), changes, nil
}

// isInstalled reports whether data is the result of Install for before, which has no hook of ccbot.
func isInstalled(before, data []byte) bool {
	d, err := openDocument(data)
	return err == nil && d.isInstallOf(before)
}

func (d *document) isInstallOf(before []byte) bool {
	ours := d.entries()
	if len(ours) == 0 || hasOurs(before) {
		return false
	}
	installed, _, err := Install(before, ours[0].command)
	return err == nil && bytes.Equal(installed, d.bytes())
}

// hasOurs reports whether a settings file has a hook of ccbot, or cannot be read.
func hasOurs(data []byte) bool {
	d, err := openDocument(data)
	return err != nil || len(d.entries()) > 0
}

// Inspect reports what Install with the same command would find. It fails in the same cases as
// Install.
func Inspect(data []byte, command string) (Installed, error) {
	d, err := openDocument(data)
	if err != nil {
		return Installed{}, err
	}
	all := d.entries()
	out := Installed{HooksOff: gjson.Get(d.text, "disableAllHooks").Bool()}
	for _, event := range installedEvents() {
		state := eventState(entriesOf(all, event), command)
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
	case ours[0].command != command:
		s.State = InstallOther
	default:
		s.State = InstallCurrent
	}
	return s
}

func entriesOf(all []entry, event string) []entry {
	return slices.DeleteFunc(slices.Clone(all), func(e entry) bool { return e.event != event })
}
