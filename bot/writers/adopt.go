package writers

import (
	"errors"
	"fmt"
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

// notAdopted is what to do about an error of an adoption.
type notAdopted struct {
	noTerminal func() error // the agent runs in no terminal of ours
	unknown    func() error // what runs cannot be seen
	changed    func() error // the agent is not any more what the person saw
}

// explain does what belongs to the error. An error of another kind comes back.
func (n notAdopted) explain(err error) error {
	var state *lifecycle.StateError
	var others *lifecycle.WriterError
	var moved *lifecycle.MovedError
	switch {
	case errors.Is(err, lifecycle.ErrNoTerminal):
		return n.noTerminal()
	case errors.Is(err, lifecycle.ErrEvidence):
		return n.unknown()
	case errors.Is(err, lifecycle.ErrChanged), errors.Is(err, session.ErrNotFound),
		errors.As(err, &others), errors.As(err, &state), errors.As(err, &moved):
		return n.changed()
	}
	return fmt.Errorf("adopt: %w", err)
}
