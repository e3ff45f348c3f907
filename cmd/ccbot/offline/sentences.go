package offline

import (
	"cmp"
	"errors"
	"fmt"

	"ccbot/agent"
	"ccbot/bot/chat"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/control"
	"ccbot/internal/lazyregexp"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/refusal"
)

// ChatError returns an error with the chat's sentence for it. The zero session: the error is
// about no session. An unforeseen error stays as it is.
func ChatError(p chat.Phrases, r port.Session, err error) error {
	r.Attach = cmp.Or(r.Attach, "ccbot attach "+terminal.ShellWord(r.Name))
	switch e := refusal.In(err); {
	case err == nil || e.Code == refusal.Internal:
		return err
	case e.Open:
		said := p.Sentences(p.Text(i18n.AlreadyOpen, i18n.Args{"Name": r.Name}), p.Text(i18n.AttachHint, i18n.Args{"Command": r.Attach}))
		return control.Refuse(control.CodeRefused, said.Text)
	}
	return control.Refuse(control.CodeRefused, InTerminal(p.Failure(r, err).Text.Text))
}

// chatCommand is a command of the chat that is also a verb. A longer word is a path.
var chatCommand = lazyregexp.New(`(^|[ ,;(])/(new|list|resume|archive|done|history|changes|status|usage|why)([ ,;:)]|\.( |$)|$)`)

// InTerminal names the verbs in place of the chat's commands.
func InTerminal(text string) string { return chatCommand.ReplaceAllString(text, "${1}ccbot $2$3") }

// Explain is the sentence for an error about a session.
func (v View) Explain(r port.Session, err error) error {
	if err == nil {
		return nil
	}
	return Sentence(ChatError(v.Words(), r, err))
}

// Sentence turns an error into text for a person: of a refusal only its text.
func Sentence(err error) error {
	if refusal := (*control.Refusal)(nil); errors.As(err, &refusal) {
		return errors.New(refusal.Text)
	}
	return err
}

// NotEnded is the refusal to forget a session that is not over.
func NotEnded(p chat.Phrases, agents agent.Agents, r session.Record) error {
	if r.State.Open() {
		return control.Refuse(control.CodeRefused, fmt.Sprintf("%s is open; end it first: ccbot archive %s", r.Name, r.Name))
	}
	return ChatError(p, host.View(agents, r), &refusal.Error{Code: refusal.WrongState, State: r.State})
}
