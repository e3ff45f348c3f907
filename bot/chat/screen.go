package chat

import (
	"context"
	"regexp"
	"strings"

	"ccbot/bot/outbox"
	"ccbot/bot/port/news"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// PostScreen tells news of a session with the terminal's screen between the two texts.
func (c *Chat) PostScreen(ctx context.Context, n news.Note, head, foot string,
	buttons [][]outbox.Button) error {
	text := render.Plain(head)
	if screen := Screen(n.Screen); !screen.Blank() {
		if n.Session.Exit != nil { // the agent is over
			text = render.Plain(head + " " + c.Words.Say(i18n.LastScreen))
		}
		text = render.Join(text, render.Plain("\n"), screen)
	}
	if foot != "" {
		text = render.Join(text, Marked("\n"+strings.TrimPrefix(foot, "\n"), n.Attach))
	}
	return c.For(n.Session.ID).Post(ctx, n.Session.Conversation, text, buttons)
}

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
