package writers

import (
	"errors"
	"strings"

	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// adoptedText says that a session goes on in a window that a person opened, and what is different
// there.
func adoptedText(words i18n.Words, head i18n.Key, r session.Record, window string) string {
	text := []string{words.Say(head, i18n.Args{"Name": r.Name, "Window": window})}
	if r.Binding == nil || r.Binding.Shell == 0 { // no shell keeps the window
		text = append(text, words.Say(i18n.AdoptedBare, i18n.Args{"Name": r.Name}))
	}
	return strings.Join(append(text, words.Say(i18n.AdoptedAsks)), " ")
}

// saysChanged reports whether an error of an adoption says that the agent is not any more what the person
// saw.
func saysChanged(err error) bool {
	var state *lifecycle.StateError
	var others *lifecycle.WriterError
	var moved *lifecycle.MovedError
	return errors.Is(err, lifecycle.ErrChanged) || errors.Is(err, session.ErrNotFound) ||
		errors.As(err, &others) || errors.As(err, &state) || errors.As(err, &moved)
}
