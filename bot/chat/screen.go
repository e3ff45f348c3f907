package chat

import (
	"regexp"
	"strings"

	"ccbot/bot/render"
)

// Screen is the end of a terminal's screen as a phone shows it, in monospace.
func Screen(screen string) render.Text {
	return render.Pre(strings.Trim(LastLines(TightScreen(screen), 30), "\n"), "")
}

// TightScreen is a terminal's screen without gaps, with horizontal rules that fit.
func TightScreen(screen string) string {
	var lines []string
	for line := range strings.Lines(screen) {
		line = rule.ReplaceAllString(strings.TrimRight(line, " \n"), strings.Repeat("$1", 12))
		gap := line == "" && (len(lines) == 0 || lines[len(lines)-1] == "")
		if !gap && !strings.HasPrefix(line, "Pane is dead (") {
			lines = append(lines, line)
		}
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// rule is a line across the terminal.
var rule = regexp.MustCompile(`([─╌▔])[─╌▔]{11,}`)
