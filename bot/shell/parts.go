package shell

import (
	"context"
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"ccbot/bot/chat"
	"ccbot/bot/port/talk"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/logkey"
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
func (o *Outputs) Parts(ctx context.Context, r views.Session, item talk.Item) []render.Part {
	text, note := item.Text, ""
	if m := persisted.FindStringSubmatch(text); m != nil {
		whole, err := o.files.Read(ctx, item.At.Path, m[2], outputFile)
		if text = whole; err != nil {
			o.chat.Log.Warn("output_unreadable", logkey.SessionID, r.ID.String(), logkey.Error, err.Error())
			text, note = m[3]+"\n"+outputGap, o.chat.In(r.Conversation).Say(i18n.OutputTooLong, i18n.Args{"Size": m[1]})
		}
	}
	text = printedText(text)
	switch shown := render.Pre(text, ""); {
	case shown.Blank() && item.Bash == "":
		return nil
	case shown.Blank():
		return []render.Part{{Text: render.Plain(o.chat.In(r.Conversation).Say(i18n.OutputNone))}}
	case note != "":
		return []render.Part{{Text: render.Join(shown.Split(outputUnits)[0], render.Plain("\n"+note))}}
	case shown.Length() <= outputUnits && strings.Count(text, "\n") < outputHead+outputLines:
		return []render.Part{{Text: shown}}
	}
	return longParts(o.chat.In(r.Conversation), text)
}

// longParts is how an output begins and ends, as far as a message has room for it, and all of it as
// a file.
func longParts(p chat.Phrases, text string) []render.Part {
	lines := strings.Split(text, "\n")
	block := func(lines []string) render.Text { return render.Pre(strings.Join(lines, "\n"), "") }
	head := lines[:min(len(lines), outputHead)]
	for block(head).Length() > outputUnits/4 {
		head = head[:len(head)-1]
	}
	rest := lines[len(head):]
	tail := rest[max(0, len(rest)-outputLines):]
	for block(tail).Length() > outputUnits {
		tail = tail[1:]
	}
	gap := render.Text{}
	if more := len(rest) - len(tail); more > 0 {
		gap = render.Plain(p.Say(i18n.OutputMore, i18n.Args{"Count": more}))
	}
	return []render.Part{
		{Text: chat.Paragraphs(block(head), gap, block(tail))},
		{Text: render.Plain(p.Say(i18n.OutputFull, i18n.Args{"Count": len(lines)})),
			File: &render.File{Name: "output.txt", Data: []byte(text + "\n")}},
	}
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
