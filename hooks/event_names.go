package hooks

import (
	"slices"
	"strconv"
	"strings"

	"ccbot/internal/hookwire"
)

// launchEvent is a hook event that a launch asks for.
type launchEvent struct {
	Name  string
	Since [3]int // the first version of Claude Code that knows it (its CHANGELOG.md)
}

// launchEvents is the one place that lists the events of a launch and the first version that knows
// each. All of them were seen to work on 2.1.197 and 2.1.328.
var launchEvents = []launchEvent{
	{hookwire.SessionStart, [3]int{1, 0, 62}},
	{hookwire.UserPromptSubmit, [3]int{1, 0, 54}},
	{hookwire.Stop, [3]int{1, 0, 38}},
	{hookwire.StopFailure, [3]int{2, 1, 78}},
	{hookwire.SessionEnd, [3]int{1, 0, 85}},
	{hookwire.PermissionRequest, [3]int{2, 0, 45}},
}

// oldest is the version assumed where the installed one is unknown: the oldest version that ccbot
// was tried with.
const oldest = "2.1.197"

// eventNames lists the hook events that the given version of Claude Code ("2.1.328", also "2.1.328
// (Claude Code)") knows and ccbot asks for. An unreadable or empty version counts as 2.1.197.
func eventNames(version string) []string {
	installed, ok := parseVersion(version)
	if !ok {
		installed, _ = parseVersion(oldest)
	}
	var names []string
	for _, event := range launchEvents {
		if slices.Compare(installed[:], event.Since[:]) >= 0 {
			names = append(names, event.Name)
		}
	}
	return names
}

func parseVersion(s string) (v [3]int, ok bool) {
	word, _, _ := strings.Cut(strings.TrimSpace(s), " ")
	word, _, _ = strings.Cut(word, "-") // a pre-release counts as its release
	parts := strings.Split(strings.TrimPrefix(word, "v"), ".")
	if len(parts) != len(v) {
		return v, false
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return v, false
		}
		v[i] = n
	}
	return v, true
}
