package claudeui

import (
	"slices"
	"strings"

	"ccbot/agent"
	"ccbot/internal/lazyregexp"
)

// modeRow matches the row of the footer that names the permission mode, and before it the mode of
// vim. Version 2.1.197 names every permission mode but the manual one.
var modeRow = lazyregexp.New(`^\s*(?:-- ([A-Z -]+) -- )?(?:⏸|⏵⏵) (manual mode|accept edits|plan mode|auto mode|bypass permissions|don't ask) on(?:\s|$)`)

// modes are the permission modes by what the footer calls them.
var modes = map[string]string{
	"manual mode": "default", "accept edits": "acceptEdits", "plan mode": "plan", "auto mode": "auto",
	"bypass permissions": "bypassPermissions", "don't ask": "dontAsk",
}

// modeOf returns the permission mode and the vim mode that a footer names. If two rows name a mode,
// it returns neither: an agent may have drawn one of them.
func modeOf(footer []line) (mode, editor string) {
	for _, l := range footer {
		named := modeRow.FindStringSubmatch(l.String())
		if named == nil {
			continue
		}
		if mode != "" {
			return "", ""
		}
		mode, editor = modes[named[2]], named[1]
	}
	return mode, editor
}

// modelsOf reads a dialog as the list of models; nil for every other dialog, and for a list that
// does not offer a choice for the session only.
func modelsOf(d *agent.Dialog) *agent.Models {
	if d.Title != "Select model" || len(d.Options) == 0 ||
		!slices.ContainsFunc(d.Lines, func(row string) bool { return strings.Contains(row, "s to use this session only") }) {
		return nil
	}
	m := &agent.Models{Current: -1}
	for i, label := range d.Options {
		name, _, _ := strings.Cut(label, "  ") // the description is in the next column
		name, current := strings.CutSuffix(strings.TrimSpace(name), "✔")
		if current {
			m.Current = i
		}
		m.Names = append(m.Names, strings.TrimSpace(name))
	}
	return m
}
