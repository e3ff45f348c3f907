package dialog

import (
	"cmp"
	"strconv"
	"strings"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
)

// keyRows are the keys under a dialog: what a button says and what it presses.
var keyRows = [][]card.Option{
	{key("↑", "up"), key("↓", "down"), key("←", "left"), key("→", "right")},
	{key("Space", "space"), key("Tab", "tab"), escape, key("Enter", "enter")},
}

var escape = key("Esc", "esc")

func key(word, value string) card.Option { return card.Option{Text: word, Value: value} }

const (
	shownOptions = 12  // bounds the options that have a button; the keys reach any other
	spareRoom    = 600 // is kept free below a screen, for a warning and the sentence of the end
)

// look is what the chat shows of a dialog: the terminal's own words, a button per option that the
// terminal shows, and keys. Where something of what an answer would allow may be out of sight, or
// the session floods the chat, nothing can be chosen: one can look around, and leave the dialog.
func (d *Dialogs) look(r views.Session, now desk.Dialog, head render.Text, attach string) card.Look {
	p := d.chat.In(r.Conversation)
	foot := chat.Marked("\n"+p.Say(i18n.AttachHint, i18n.Args{"Command": attach}), attach)
	screen := chat.TightScreen(strings.Join(now.Lines, "\n"))
	signs := glyph.Signs(screen) // for what cannot be seen
	text := []render.Text{head}
	parts := render.Pre(signs, "").Split(render.Limit - spareRoom - text[0].Length() - foot.Length())
	if len(parts) > 0 {
		text = append(text, render.Plain("\n"), parts[len(parts)-1]) // the options stand at the end
	}
	var warning render.Text
	switch {
	case d.floods(r.ID):
		warning = p.Text(i18n.AskFlood, i18n.Args{"Name": r.Name})
	case !now.Whole || signs != screen || len(parts) > 1:
		warning = p.Text(i18n.DialogNotWhole)
	}
	look := card.Look{To: r.Conversation, Session: r.ID, Options: append(choices(now), keyRows...), Sounds: true}
	if !warning.Blank() {
		text = append(text, render.Plain("\n"), warning)
		look.Options = [][]card.Option{keyRows[0], {escape}}
	}
	look.Text = render.Join(append(text, foot)...)
	return look
}

// choices are a button per option.
func choices(d desk.Dialog) (all [][]card.Option) {
	for i, label := range d.Options[:min(len(d.Options), shownOptions)] {
		words := chat.OneLine(label) // the terminal draws columns
		text := cmp.Or(chat.Head(words, 60), strconv.Itoa(i+1))
		all = append(all, []card.Option{{Text: text, Value: strconv.Itoa(i)}})
	}
	return all
}
