package writers

import (
	"strings"

	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/i18n"
)

// adoptedText says that a session goes on in a window that a person opened, and what is different
// there.
func adoptedText(words i18n.Words, head i18n.Key, r views.Session, window string) string {
	text := []string{words.Say(head, i18n.Args{"Name": r.Name, "Window": window})}
	if !r.Shared { // no shell keeps the window
		text = append(text, words.Say(i18n.AdoptedBare, i18n.Args{"Name": r.Name}))
	}
	return strings.Join(append(text, words.Say(i18n.AdoptedAsks)), " ")
}

// saysChanged reports whether an error of an adoption says that the agent is not any more what the
// person saw.
func saysChanged(err error) bool {
	return refusal.Is(err, refusal.Changed, refusal.NotFound, refusal.Writers, refusal.WrongState, refusal.Moved)
}
