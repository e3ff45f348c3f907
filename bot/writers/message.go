package writers

import (
	"context"
	"strings"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/port/desk"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// What the options of a message do.
const (
	showOption   = "show"   // show all that is known of the writers
	askOption    = "ask"    // ask whether to end the writers
	endOption    = "end"    // end them
	forkOption   = "fork"   // go on in a copy of the conversation
	leaveOption  = "leave"  // leave the session to both writers
	adoptOption  = "adopt"  // go on in the window where the writer runs
	resumeOption = "resume" // resume the session, which nobody else writes any more
)

// Refused tells that a session is not resumed because of writers.
func (w *Writers) Refused(ctx context.Context, q chat.Resume, found []desk.Writer) error {
	return w.post(ctx, conflict{kind: resumeRefused, resume: q, writers: found}, q.Before, q.To, q.From)
}

// look is the message about writers. The asker may cancel what was asked for.
func (w *Writers) look(c conflict, details bool, asker int64) (render.Text, [][]card.Option) {
	if len(c.writers) == 0 {
		return w.nobodyLook(c)
	}
	head := w.words.Say(c.headline(), w.chat.StateArgs(c.session()))
	var lines, copied []string // copied: what people copy
	for _, one := range c.writers[:min(len(c.writers), chat.MaxListed)] {
		lines = append(lines, "• "+w.chat.WriterText(one))
		copied = append(copied, w.chat.ShortTail(one.Dir))
		if details {
			more, command := w.details(one)
			lines, copied = append(lines, more...), append(copied, command)
		}
	}
	if more := len(c.writers) - chat.MaxListed; more > 0 {
		lines = append(lines, "• "+w.words.Say(i18n.AndMore, i18n.Args{"Count": more}))
	}
	var can []string
	for _, key := range c.whatCanBeDone(details) {
		can = append(can, w.words.Say(key, i18n.Args{"Name": c.session().Name}))
	}
	if len(can) > 0 {
		lines = append(lines, strings.Join(can, " "))
	}
	text := render.Join(render.Plain(head), chat.Marked("\n"+strings.Join(lines, "\n"), copied...))
	return text, w.options(c, asker)
}

// nobodyLook says that nobody else writes any more.
func (w *Writers) nobodyLook(c conflict) (render.Text, [][]card.Option) {
	text := render.Plain(w.words.Say(i18n.WritersNone, i18n.Args{"Name": c.session().Name}))
	if c.session().Live {
		return text, nil
	}
	return text, chat.Rows(1, w.chat.Option(i18n.ButtonResume, resumeOption, outbox.Primary))
}

// details is what else is known of a writer, and the command that shows the writer's window.
func (w *Writers) details(one desk.Writer) (lines []string, command string) {
	source := i18n.SourceKey(one.Source)
	if !one.Proven || one.Source == "" { // of the agent of another session only its record is known
		source = i18n.SourceUnclear
	}
	lines = append(lines, w.words.Say(i18n.WriterSource, i18n.Args{"Source": w.words.Say(source)}))
	if one.Window != nil {
		command = one.Window.Attach
		args := i18n.Args{"Window": one.Window.Name, "Command": command}
		lines = append(lines, w.words.Say(i18n.WriterTmux, args))
	}
	if !one.Endable {
		reason := w.words.Say(i18n.ReasonKey(one.Kept))
		lines = append(lines, w.words.Say(i18n.WriterKept, i18n.Args{"Reason": reason}))
	}
	for i, line := range lines {
		lines[i] = "   " + line
	}
	return lines, command
}

// options are what can be done.
func (w *Writers) options(c conflict, asker int64) [][]card.Option {
	show := w.chat.Option(i18n.ButtonShow, showOption, "")
	if c.kind == writerAfterEnd {
		return w.afterEndOptions(c, show)
	}
	first := []card.Option{show}
	if c.canEnd() {
		first = append(first, w.chat.Option(i18n.ButtonTakeOver, askOption, outbox.Danger))
	}
	cancel := w.chat.Cancel(asker)
	if c.kind == otherWriter { // nobody asked, so anybody may
		cancel = w.chat.Option(i18n.ButtonCancel, leaveOption, "")
	}
	return [][]card.Option{first, {w.chat.Option(i18n.ButtonForkInstead, forkOption, ""), cancel}}
}

func (w *Writers) afterEndOptions(c conflict, show card.Option) [][]card.Option {
	var options []card.Option
	if c.canEnd() {
		options = append(options, w.chat.Option(i18n.ButtonStopIt, askOption, outbox.Danger))
	}
	if c.canAdopt() {
		options = append(options, w.chat.Option(i18n.ButtonAdopt, adoptOption, outbox.Primary))
	}
	return chat.Rows(2, append(options, show)...)
}
