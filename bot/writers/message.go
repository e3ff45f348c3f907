package writers

import (
	"fmt"
	"strings"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/tmux"
)

// Refused is the message that a session is not resumed because of writers, with its buttons.
func (w *Writers) Refused(q chat.Resume, found []lifecycle.Writer) (render.Text, [][]outbox.Button) {
	return w.message(conflict{kind: resumeRefused, resume: q, writers: found}, q.From)
}

// message is the message about writers with its buttons. The asker may cancel what was asked for.
func (w *Writers) message(c conflict, asker int64) (render.Text, [][]outbox.Button) {
	if len(c.writers) == 0 {
		return w.nobodyMessage(c)
	}
	head := w.words.Say(c.headline(), w.chat.StateArgs(c.session()))
	var lines, copied []string // copied: what people copy
	for _, one := range c.writers[:min(len(c.writers), chat.MaxListed)] {
		lines = append(lines, "• "+w.chat.WriterText(one))
		copied = append(copied, w.chat.ShortTail(one.Cwd))
		if c.details {
			more, command := w.details(one)
			lines, copied = append(lines, more...), append(copied, command)
		}
	}
	if more := len(c.writers) - chat.MaxListed; more > 0 {
		lines = append(lines, "• "+w.words.Say(i18n.AndMore, i18n.Args{"Count": more}))
	}
	var can []string
	for _, key := range c.whatCanBeDone() {
		can = append(can, w.words.Say(key, i18n.Args{"Name": c.session().Name}))
	}
	if len(can) > 0 {
		lines = append(lines, strings.Join(can, " "))
	}
	text := render.Join(render.Plain(head), chat.Marked("\n"+strings.Join(lines, "\n"), copied...))
	return text, w.buttons(c, asker)
}

// nobodyMessage says that nobody else writes any more.
func (w *Writers) nobodyMessage(c conflict) (render.Text, [][]outbox.Button) {
	r := c.session()
	text := render.Plain(w.words.Say(i18n.WritersNone, i18n.Args{"Name": r.Name}))
	if c.kind == resumeRefused && r.Resumable() {
		return text, chat.Rows(1, w.chat.Button(i18n.ButtonResume, "res:"+c.resume.Data(), outbox.Primary))
	}
	return text, w.chat.ResumeButton(r)
}

// details is what else is known of a writer, and the command that shows the writer's window.
func (w *Writers) details(one lifecycle.Writer) (lines []string, command string) {
	source := i18n.SourceKey(string(one.Source))
	if !one.Proven || one.Source == "" { // of the agent of another session only its record is known
		source = i18n.SourceUnclear
	}
	lines = append(lines, w.words.Say(i18n.WriterSource, i18n.Args{"Source": w.words.Say(source)}))
	if one.InTmux {
		command = attachCommand(w.chat, one.Pane)
		args := i18n.Args{"Window": one.Pane.WindowName, "Command": command}
		lines = append(lines, w.words.Say(i18n.WriterTmux, args))
	}
	if !one.Endable() {
		reason := w.words.Say(i18n.ReasonKey(keptReason(one)))
		lines = append(lines, w.words.Say(i18n.WriterKept, i18n.Args{"Reason": reason}))
	}
	for i, line := range lines {
		lines[i] = "   " + line
	}
	return lines, command
}

// attachCommand is the command that shows a window at the desk.
func attachCommand(c *chat.Chat, p tmux.Pane) string {
	return c.Attach(session.Record{Name: p.WindowName, Binding: &session.Binding{Window: p.Window.String()}})
}

// keptReason is the code of the reason why no tap ends a writer.
func keptReason(one lifecycle.Writer) string {
	switch {
	case one.Session != "":
		return lifecycle.ReasonOtherAgent
	case !one.Proven:
		return lifecycle.ReasonUnclear
	}
	return one.Spared
}

// buttons are what can be done. Each button names the very processes that the message shows, and
// remembers that nobody had asked.
func (w *Writers) buttons(c conflict, asker int64) [][]outbox.Button {
	mark := Mark(c.identities())
	if c.unasked {
		mark += ":" + unaskedMark
	}
	data := func(verb string) string {
		return fmt.Sprintf("%s%s:%s:%s", c.kind, verb, c.resume.Data(), mark)
	}
	show := w.chat.Button(i18n.ButtonShow, data("sh"), "")
	if c.kind == writerAfterEnd {
		return w.afterEndButtons(c, data, show)
	}
	first := []outbox.Button{show}
	if c.canEnd() {
		first = append(first, w.chat.Button(i18n.ButtonTakeOver, data("as"), outbox.Danger))
	}
	cancel := w.chat.CancelButton(asker)
	if c.kind == otherWriter {
		// nobody asked, so anybody may
		cancel = w.chat.Button(i18n.ButtonCancel, "sno:"+chat.Ref(c.session().ID), "")
	}
	fork := w.chat.Button(i18n.ButtonForkInstead, data("fk"), "")
	return [][]outbox.Button{first, {fork, cancel}}
}

func (w *Writers) afterEndButtons(c conflict, data func(verb string) string,
	show outbox.Button) [][]outbox.Button {
	var buttons []outbox.Button
	if c.canEnd() {
		buttons = append(buttons, w.chat.Button(i18n.ButtonStopIt, data("as"), outbox.Danger))
	}
	if c.canAdopt() {
		buttons = append(buttons, w.chat.Button(i18n.ButtonAdopt, data("ad"), outbox.Primary))
	}
	return chat.Rows(2, append(buttons, show)...)
}
