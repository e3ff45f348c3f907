package shell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"ccbot/bot/chat"
	"ccbot/bot/port/talk"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
)

const (
	// outputHead and outputLines are how many lines of the beginning and of the end of an output
	// are read in a chat, outputUnits is what fits; all of it is a file.
	outputHead  = 10
	outputLines = 30
	outputUnits = 2400
	// outputFile is the longest output that is sent as a file.
	outputFile = 8 << 20
)

// persisted is what a transcript has of an output that is too long for it: where all of it is, and
// how it begins (2.1.328, above 30,000 characters).
var persisted = regexp.MustCompile(`(?s)^\s*<persisted-output>\nOutput too large \(([^)\n]*)\)\. ` +
	`Full output saved to: ([^\n]+)\n\n` +
	`Preview \([^)\n]*\):\n(.*?)(?:\n\.\.\.)?\n?</persisted-output>\s*$`)

// Parts are what the chat shows of what a command has printed: its beginning and its end, and all
// of it as a file where it is long. They leave room for the command.
func (o *Outputs) Parts(r views.Session, item talk.Item) []render.Part {
	text, note := item.Text, ""
	if m := persisted.FindStringSubmatch(text); m != nil {
		whole, err := o.files.Read(item.At.Path, m[2], outputFile)
		if text = whole; err != nil {
			o.chat.Log.Warn("output_unreadable", "session_id", r.ID.String(), "error", err.Error())
			text, note = m[3]+"\n"+outputGap, o.chat.Words.Say(i18n.OutputTooLong, i18n.Args{"Size": m[1]})
		}
	}
	text = printedText(text)
	switch shown := render.Pre(text, ""); {
	case shown.Blank():
		if _, ok := o.match(r, item); !ok {
			return nil
		}
		return []render.Part{{Text: render.Plain(o.chat.Words.Say(i18n.OutputNone))}}
	case note != "":
		return []render.Part{{Text: render.Join(shown.Split(outputUnits)[0], render.Plain("\n"+note))}}
	case shown.Length() <= outputUnits && strings.Count(text, "\n") < outputHead+outputLines:
		return []render.Part{{Text: shown}}
	}
	return o.longParts(text)
}

// longParts is how an output begins and ends, and all of it as a file.
func (o *Outputs) longParts(text string) []render.Part {
	lines := strings.Split(text, "\n")
	head := atMost(lines[:min(len(lines), outputHead)], outputUnits/4, false)
	rest := lines[len(head):]
	tail := atMost(rest[max(0, len(rest)-outputLines):], outputUnits, true)
	parts := []render.Text{render.Pre(strings.Join(head, "\n"), "")}
	left := func(n int) string { return o.chat.Words.Say(i18n.OutputMore, i18n.Args{"Count": n}) }
	if more := len(rest) - len(tail); more > 0 {
		parts = append(parts, render.Plain("\n"+left(more)+"\n"))
	}
	parts = append(parts, render.Pre(strings.Join(tail, "\n"), ""))
	if len(head)+len(tail) == 0 { // lines that are longer than a message
		parts = []render.Text{render.Plain(left(len(lines)))}
	}
	return []render.Part{
		{Text: render.Join(parts...)},
		{Text: render.Plain(o.chat.Words.Say(i18n.OutputFull, i18n.Args{"Count": len(lines)})),
			File: &render.File{Name: "output.txt", Data: []byte(text + "\n")}},
	}
}

// atMost is how many of the first lines, or of the last, a message has room for.
func atMost(lines []string, units int, last bool) []string {
	for len(lines) > 0 && render.Plain(strings.Join(lines, "\n")).Length() > units {
		if last {
			lines = lines[1:]
			continue
		}
		lines = lines[:len(lines)-1]
	}
	return lines
}

// printedText is what a command has printed without what moves a cursor. What a carriage return has
// had overwritten is left out.
func printedText(text string) string {
	text = strings.ReplaceAll(ansi.Strip(strings.ToValidUTF8(text, "\uFFFD")), "\r\n", "\n")
	lines := strings.Split(strings.TrimRight(text, "\n\r "), "\n")
	for i, l := range lines {
		l = strings.TrimRight(l, "\r")
		lines[i] = l[strings.LastIndexByte(l, '\r')+1:]
	}
	return strings.Join(lines, "\n")
}

// title is a command as the first line of a message.
func title(c command) render.Text {
	text := chat.Head(chat.Visible(strings.TrimPrefix(c.Text, "!")), shownCommand)
	return render.Join(render.Code("$ "+text), render.Plain("\n"))
}

// shownCommand is how much of a command stands above what it has printed, in letters.
const shownCommand = 120

// growing is a command with what the terminal has shown of it, and how it is.
func growing(c command, state string) render.Text {
	text := title(c)
	if out := render.Pre(strings.Join(c.Rows, "\n"), ""); !out.Blank() {
		text = render.Join(text, out, render.Plain("\n"))
	}
	return render.Join(text, render.Plain(state))
}

// growRows bounds what is shown of a command that runs.
const growRows = 30

// outputGap stands where rows were not seen.
const outputGap = "…"

// joinRows puts the rows that a terminal shows now behind those that it has shown before. above is
// how many it does not show; 0: these are all.
func joinRows(seen, now []string, above int) []string {
	if above == 0 {
		return slices.Clone(now)
	}
	both := min(len(seen), len(now))
	for both > 0 && !slices.Equal(seen[len(seen)-both:], now[:both]) {
		both--
	}
	rows := slices.Clone(seen)
	if both == 0 && (len(rows) == 0 || rows[len(rows)-1] != outputGap) {
		rows = append(rows, outputGap)
	}
	rows = append(rows, now[both:]...)
	if over := len(rows) - growRows; over > 0 {
		rows = append([]string{outputGap}, rows[over+1:]...)
	}
	return rows
}
