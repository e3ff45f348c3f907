package demoagent

import (
	"fmt"
	"path/filepath"
	"strings"

	"ccbot/try/demoagent/script"
	"ccbot/try/demoagent/terminal"
)

// dialog is something that takes the keys instead of the prompt box.
type dialog interface {
	// press handles one input and returns the dialog's outcome; nil while it stays open.
	press(in terminal.Input) *outcome
	// lines draws it; each line carries its own colours.
	lines(width int) []string
	// waitingFor is the text for the presence file while it is open.
	waitingFor() string
}

// outcome is the result of a dialog.
type outcome struct {
	escaped bool              // Esc, or an option that means the same
	option  int               // the chosen one, from 1
	answers map[string]string // of questions, by question text
}

// menu is a list of options under a text: permissions, plans, the dialogs before a session starts.
type menu struct {
	head     func(width int) []string
	options  []string
	selected int // index
	numbered bool
	foot     string
	indent   string
	waits    string
}

func (m *menu) waitingFor() string { return m.waits }

// press: digits choose at once, Enter takes the selected one, pasted text and letters are ignored.
func (m *menu) press(in terminal.Input) *outcome {
	switch in.Key {
	case terminal.Enter:
		return &outcome{option: m.selected + 1}
	case terminal.Escape, terminal.Interrupt:
		return &outcome{escaped: true}
	case terminal.Up:
		m.selected = max(m.selected-1, 0)
	case terminal.Down:
		m.selected = min(m.selected+1, len(m.options)-1)
	case terminal.Text:
		if n := digit(in.Text); m.numbered && n >= 1 && n <= len(m.options) {
			return &outcome{option: n}
		}
	}
	return nil
}

func (m *menu) lines(width int) []string {
	lines := m.head(width)
	for i, option := range m.options {
		number := ""
		if m.numbered {
			number = grey + fmt.Sprintf("%d. ", i+1) + plain
		}
		if i == m.selected {
			lines = append(lines, m.indent+blue+"❯ "+number+blue+option+plain)
			continue
		}
		lines = append(lines, m.indent+"  "+number+option)
	}
	return append(lines, "", m.indent+grey+m.foot+plain)
}

// digit returns the value of a text whose first character is a digit; of a run of keys that arrives
// at once only the first counts, as the dialog is gone afterwards.
func digit(text string) int {
	if text == "" || text[0] < '0' || text[0] > '9' {
		return -1
	}
	return int(text[0] - '0')
}

// permissionMenu asks for a Bash call.
func permissionMenu(c script.Call, cwd string) *menu {
	title := "Bash command"
	if c.Background {
		title += " · from the general-purpose agent"
	}
	return &menu{
		head: func(width int) []string {
			return []string{
				blue + ruler(width), " " + bold + blue + title + plain,
				" " + bold + `Tip: auto mode handles these prompts for you — choose "switch to auto mode" below` + plain,
				" " + grey + purpose(c) + plain,
				dark + strings.Repeat("╌", width) + plain, " " + strings.ReplaceAll(c.Command, "\n", "\n "), dark + strings.Repeat("╌", width) + plain,
				" Do you want to proceed?",
			}
		},
		options: []string{"Yes", "Yes, and always allow access to " + cwd + " from this project",
			"Yes, and switch to auto mode · auto mode handles these prompts for you", "No"},
		numbered: true, indent: " ", foot: "Esc to cancel · Tab to amend", waits: "permission prompt",
	}
}

// fileMenu asks for an Edit or a Write.
func fileMenu(c script.Call) *menu {
	name := filepath.Base(c.Path)
	title, question, body := "Edit file", "Do you want to make this edit to "+name+"?", "- "+strings.ReplaceAll(strings.TrimSpace(script.EditOld), "\n", "\n - ")+
		"\n + "+strings.ReplaceAll(strings.TrimSpace(script.EditNew), "\n", "\n + ")
	if c.Name == "Write" {
		text, _ := toolInput(c)["content"].(string)
		title, question, body = "Create file", "Do you want to create "+name+"?", strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n ")
	}
	return &menu{
		head: func(width int) []string {
			lines := []string{blue + ruler(width) + plain, " " + bold + blue + title + plain, " " + c.Path, dark + strings.Repeat("╌", width) + plain}
			lines = append(lines, strings.Split(" "+body, "\n")...)
			return append(lines, dark+strings.Repeat("╌", width)+plain, " "+question)
		},
		options:  []string{"Yes", "Yes, and switch to accept edits (auto-approve file edits and common file commands) for this session (shift+tab)", "No"},
		numbered: true, indent: " ", foot: "Esc to cancel · Tab to amend", waits: "permission prompt",
	}
}

func planMenu(c script.Call) *menu {
	return &menu{
		head: func(width int) []string {
			lines := []string{blue + strings.Repeat("▔", width) + plain, "", "  " + blue + ruler(width-4) + plain, "   " + bold + "Ready to code?" + plain, "", "   Here is Claude's plan:",
				"  " + dark + strings.Repeat("╌", max(width-4, 0)) + plain}
			for l := range strings.SplitSeq(strings.TrimSpace(c.Plan), "\n") {
				lines = append(lines, "   "+strings.TrimPrefix(l, "# "))
			}
			return append(lines, "  "+dark+strings.Repeat("╌", max(width-4, 0))+plain, "",
				"   Claude has written up a plan and is ready to execute. Would you like to proceed?", "")
		},
		options:  []string{"Yes, and use auto mode", "Yes, manually approve edits", "Tell Claude what to change"},
		numbered: true, indent: "   ", foot: "ctrl+g to edit in Vim", waits: "permission prompt",
	}
}

// trustMenu starts on "No": a blind Enter ends the program.
func trustMenu(cwd string) *menu {
	return &menu{
		head: func(width int) []string {
			return []string{"", grey + ruler(width) + plain, " " + bold + "Accessing workspace:" + plain, "", " " + cwd, "",
				" Quick safety check: Is this a project you created or one you trust?", "",
				" Claude Code'll be able to read, edit, and execute files here.", "", " Security guide", ""}
		},
		options: []string{"No, exit", "Yes, I trust this folder"}, indent: " ", foot: "Enter to confirm · Esc to cancel",
	}
}

// warningMenu complains about hook events that this version does not know.
func warningMenu(unknown []string) *menu {
	return &menu{
		head: func(width int) []string {
			lines := []string{"", grey + ruler(width) + plain, "  " + bold + "Settings Warning" + plain, ""}
			for _, event := range unknown {
				lines = append(lines, fmt.Sprintf("  └ hooks.%s: Unknown hook event %q was ignored.", event, event))
			}
			return append(lines, "", "  The values listed above were skipped; the rest of the file is in effect.", "")
		},
		options: []string{"Continue", "Fix with Claude", "Exit and fix manually"}, numbered: true, indent: "  ",
		foot: "Enter to confirm · Esc to cancel",
	}
}

// page is a full screen that only Esc closes: /status, or Esc twice on an empty box.
type page struct {
	text []string
	foot string
}

func (p *page) waitingFor() string { return "dialog open" }

func (p *page) press(in terminal.Input) *outcome {
	if in.Key == terminal.Escape || in.Key == terminal.Interrupt {
		return &outcome{escaped: true}
	}
	return nil
}

func (p *page) lines(width int) []string {
	lines := []string{blue + strings.Repeat("▔", width) + plain}
	for _, l := range p.text {
		lines = append(lines, "  "+l)
	}
	return append(lines, "", "  "+grey+p.foot+plain)
}
