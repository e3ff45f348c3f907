package dialog

import (
	"strconv"
	"strings"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/news"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
)

// What the value of a button begins with; the key's name or the option's number follows.
const (
	keyValue    = "key:"
	optionValue = "option:"
)

// keyRows are the keys under a dialog: what a button says and what it presses.
var keyRows = [][][2]string{
	{{"↑", "up"}, {"↓", "down"}, {"←", "left"}, {"→", "right"}},
	{{"Space", "space"}, {"Tab", "tab"}, {"Esc", "esc"}, {"Enter", "enter"}},
}

// lookRows are those of them that choose nothing.
var lookRows = [][][2]string{keyRows[0], {{"Esc", "esc"}}}

// shownOptions bounds the options that have a button; the keys reach any other.
const shownOptions = 12

// closedRoom is kept free below a dialog for the sentence that the dialog is closed.
const closedRoom = 300

// asking is what stands above and below a dialog, which asks, or is only shown.
func (d *dialogs) asking(n news.Note) (head, hint string) {
	above, below := i18n.DialogOpen, i18n.DialogStopHint
	if !n.Asks {
		above, below = i18n.ScreenOpen, i18n.ScreenStopHint
	}
	return d.chat.Words.Say(above, i18n.Args{"Name": n.Session.Name}), "\n" + d.chat.Words.Say(below)
}

// foot says how to open the terminal.
func (d *dialogs) foot(n news.Note, hint string) render.Text {
	return chat.Marked("\n"+d.chat.Words.Say(i18n.AttachHint, i18n.Args{"Command": n.Attach})+hint, n.Attach)
}

// look is what the chat shows of a dialog: the terminal's own words, a button per option that the
// terminal shows, and keys.
func (d *dialogs) look(n news.Note, head, hint string) card.Look {
	foot, floods := d.foot(n, hint), d.floods(n.Session.ID)
	warning := render.Plain("\n" + d.chat.Words.Say(i18n.DialogNotWhole))
	if floods {
		warning = render.Plain("\n" + d.chat.Words.Say(i18n.AskFlood, i18n.Args{"Name": n.Session.Name}))
	}
	text := []render.Text{render.Plain(head)}
	screen, whole := visible(*n.Dialog)
	parts := screen.Split(render.Limit - closedRoom - text[0].Length() - foot.Length() - warning.Length())
	if len(parts) > 0 {
		text = append(text, render.Plain("\n"), parts[len(parts)-1]) // the options stand at the end
	}
	if whole = whole && len(parts) < 2 && !floods; !whole {
		text = append(text, warning)
	}
	return card.Look{To: n.Session.Conversation, Session: n.Session.ID, Text: render.Join(append(text, foot)...),
		Options: options(*n.Dialog, whole)}
}

// visible is all that the terminal shows of a dialog, with signs for what cannot be seen. It is not
// whole where something of what an answer would allow may be out of sight: then nothing may be
// chosen from the chat.
func visible(d desk.Dialog) (text render.Text, whole bool) {
	screen := chat.TightScreen(strings.Join(d.Lines, "\n"))
	signs := glyph.Signs(screen)
	return render.Pre(signs, ""), d.Whole && signs == screen
}

// options are a button per option, and the keys. Of a dialog that is not shown whole nothing can be
// chosen; one can look around in it, and leave it.
func options(d desk.Dialog, whole bool) [][]card.Option {
	labels, table := d.Options[:min(len(d.Options), shownOptions)], keyRows
	if !whole {
		labels, table = nil, lookRows
	}
	var all [][]card.Option
	for i, label := range labels {
		text := chat.Head(chat.Visible(label), 60)
		if text == "" {
			text = strconv.Itoa(i + 1)
		}
		all = append(all, []card.Option{{Text: text, Value: optionValue + strconv.Itoa(i)}})
	}
	for _, keys := range table {
		var row []card.Option
		for _, key := range keys {
			row = append(row, card.Option{Text: key[0], Value: keyValue + key[1]})
		}
		all = append(all, row)
	}
	return all
}
