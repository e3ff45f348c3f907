package demoagent

import (
	"fmt"
	"slices"

	"ccbot/try/demoagent/terminal"
)

// modeOrder is the order of Shift+Tab. Bypass follows plan mode where the session was started with
// it.
var modeOrder = []string{"default", "acceptEdits", "plan", "auto"}

// nextMode is Shift+Tab at the prompt box, at rest and in a turn.
func (a *agent) nextMode() {
	order := modeOrder
	if a.options.mode == "bypassPermissions" {
		order = []string{"default", "acceptEdits", "plan", "bypassPermissions", "auto"}
	}
	a.mode = order[(slices.Index(order, a.mode)+1)%len(order)]
	a.transcript.mode = a.mode
	a.runStatusLine()
}

// modelNames are the list of models; each answers with the same scripted words.
var modelNames = []string{"Default (recommended)", "Opus", "Sonnet", "Haiku"}

// modelList is the list of models: Enter keeps the choice as the default, s for the session only.
type modelList struct{ *menu }

func (m modelList) press(in terminal.Input) *outcome {
	if in.Key == terminal.Text && in.Text == "s" {
		return &outcome{option: m.selected + 1}
	}
	return m.menu.press(in)
}

// openModels is Alt+P at the prompt box. The presence file does not change.
func (a *agent) openModels() {
	current := max(slices.Index(modelNames, a.model), 0)
	m := &menu{selected: current, numbered: true, indent: "  ", foot: "s to use this session only · Enter to save · Esc to cancel",
		head: func(width int) []string {
			return []string{grey + ruler(width) + plain, "  " + bold + "Select model" + plain, "  " + grey + "All of them say the same scripted words." + plain, ""}
		}}
	for i, name := range modelNames {
		if i == current {
			name += " ✔"
		}
		m.options = append(m.options, fmt.Sprintf("%-24s  Scripted", name))
	}
	a.openDialog(modelList{m}, func(out *outcome) {
		if !out.escaped {
			a.model = modelNames[out.option-1]
			a.runStatusLine()
		}
	})
}
