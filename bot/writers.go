package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/tmux"
)

// scene is what a message about writers of a conversation is about. Its letter
// begins the verbs of the buttons.
type scene string

const (
	refused scene = "r" // a session that is over is not brought back: somebody else writes
	second  scene = "s" // somebody else writes a session that is open
	ghost   scene = "g" // somebody writes a session that is over
)

// now is the scene as it is by the session's state: it may have come back, or
// ended, since the message was written.
func (k scene) now(r session.Record) scene {
	switch {
	case r.State.Live():
		return second
	case k == second:
		return refused
	}
	return k
}

// about is what a message about writers says: what of, and who they are.
type about struct {
	scene   scene
	wish    wish // what to go on with when nobody else writes any more
	r       session.Record
	writers []lifecycle.Writer
	details bool // everything that is known of them
	unasked bool // refused: nobody had asked for the session to come back
}

// tellSecond tells that somebody else writes a session that is open.
func (b *Bot) tellSecond(ctx context.Context, n lifecycle.Note) error {
	return b.tellWriters(ctx, second, n)
}

// tellGhost tells that the conversation of a session that is over goes on.
func (b *Bot) tellGhost(ctx context.Context, n lifecycle.Note) error {
	if len(n.Writers) > 0 {
		return b.tellWriters(ctx, ghost, n)
	}
	return b.For(n.Session.ID).Say(ctx, n.Session.Conversation, b.words.Say(i18n.GhostUnseen, b.stateArgs(n.Session)))
}

func (b *Bot) tellWriters(ctx context.Context, k scene, n lifecycle.Note) error {
	text, buttons := b.writersMessage(about{scene: k, wish: wish{session: n.Session.ID}, r: n.Session, writers: n.Writers}, 0)
	return b.For(n.Session.ID).Post(ctx, n.Session.Conversation, text, buttons)
}

// writersMessage is the message about writers with its buttons. asker may cancel
// what they asked for.
func (b *Bot) writersMessage(a about, asker int64) (render.Text, [][]outbox.Button) {
	if len(a.writers) == 0 {
		return b.nobodyMessage(a)
	}
	head := b.words.Say(headOf(a), b.stateArgs(a.r))
	var lines, copied []string // copied: what people copy
	for _, w := range a.writers[:min(len(a.writers), chat.MaxListed)] {
		lines = append(lines, "• "+b.writerLine(w))
		copied = append(copied, b.ShortTail(w.Cwd))
		if a.details {
			more, command := b.writerDetails(w)
			lines, copied = append(lines, more...), append(copied, command)
		}
	}
	if more := len(a.writers) - chat.MaxListed; more > 0 {
		lines = append(lines, "• "+b.words.Say(i18n.AndMore, i18n.Args{"Count": more}))
	}
	if can := b.whatCanBeDone(a); can != "" {
		lines = append(lines, can)
	}
	text := render.Join(render.Plain(head), chat.Marked("\n"+strings.Join(lines, "\n"), copied...))
	return text, b.writersButtons(a, asker)
}

// nobodyMessage says that nobody else writes any more.
func (b *Bot) nobodyMessage(a about) (render.Text, [][]outbox.Button) {
	text := render.Plain(b.words.Say(i18n.WritersNone, i18n.Args{"Name": a.r.Name}))
	buttons := b.resumeButton(a.r)
	if a.scene == refused && a.r.Resumable() {
		buttons = chat.Rows(1, b.Button(i18n.ButtonResume, "res:"+a.wish.data(), outbox.Primary))
	}
	return text, buttons
}

func headOf(a about) i18n.Key {
	maybe := !slices.ContainsFunc(a.writers, func(w lifecycle.Writer) bool { return w.Proven })
	switch {
	case a.scene == second:
		return i18n.WritersSecond
	case a.scene == ghost:
		return i18n.WritersGhost
	case a.unasked && maybe:
		return i18n.WritersOverMaybe
	case a.unasked:
		return i18n.WritersOver
	case maybe:
		return i18n.WritersMaybe
	}
	return i18n.WritersRefused
}

func (b *Bot) stateArgs(r session.Record) i18n.Args {
	return i18n.Args{"Name": r.Name, "State": b.words.Say(i18n.StateKey(string(r.State)))}
}

// writerLine is one writer in one line.
func (b *Bot) writerLine(w lifecycle.Writer) string {
	text := b.processText(w.Process, w.Age)
	if w.Session != "" {
		text += ", " + b.words.Say(i18n.WriterSession, i18n.Args{"Name": w.Session})
	}
	if dir := b.ShortTail(w.Cwd); dir != "" {
		text += ", " + dir
	}
	if !w.Proven {
		return b.words.Say(i18n.WriterUnsure, i18n.Args{"Process": text})
	}
	return text
}

// writerDetails is what else is known of a writer, and the command that shows
// its window.
func (b *Bot) writerDetails(w lifecycle.Writer) (lines []string, command string) {
	lines = append(lines, b.words.Say(i18n.WriterSource, i18n.Args{"Source": b.sourceText(w)}))
	if w.InTmux {
		command = b.attachTo(w.Pane)
		lines = append(lines, b.words.Say(i18n.WriterTmux, i18n.Args{"Window": w.Pane.WindowName, "Command": command}))
	}
	if !w.Endable() {
		lines = append(lines, b.words.Say(i18n.WriterKept, i18n.Args{"Reason": b.keptReason(w)}))
	}
	for i, line := range lines {
		lines[i] = "   " + line
	}
	return lines, command
}

// attachTo is the command that shows a window at the desk.
func (b *Bot) attachTo(p tmux.Pane) string {
	return b.Sessions.Attach(session.Record{Name: p.WindowName, Binding: &session.Binding{Window: p.Window.String()}})
}

// sourceText says by what a writer was recognised.
func (b *Bot) sourceText(w lifecycle.Writer) string {
	if !w.Proven || w.Source == "" { // of the agent of another session only its record is known
		return b.words.Say(i18n.SourceUnclear)
	}
	return b.words.Say(i18n.SourceKey(string(w.Source)))
}

// keptReason says why no tap ends a writer.
func (b *Bot) keptReason(w lifecycle.Writer) string {
	switch {
	case w.Session != "":
		return b.reasonText(lifecycle.ReasonOtherAgent)
	case !w.Proven:
		return b.reasonText(lifecycle.ReasonUnclear)
	}
	return b.reasonText(w.Spared)
}

// whatCanBeDone says what the buttons do, and why one is not there.
func (b *Bot) whatCanBeDone(a about) string {
	var keys []i18n.Key
	switch {
	case !canEnd(a.writers) && a.details:
	case !canEnd(a.writers):
		keys = append(keys, i18n.FootKept)
	case a.scene == refused:
		keys = append(keys, i18n.FootTakeBack)
	case a.scene == second:
		keys = append(keys, i18n.FootTakeOnly)
	default:
		keys = append(keys, i18n.FootStop)
	}
	switch a.scene {
	case refused:
		keys = append(keys, i18n.FootFork)
	case second:
		keys = append(keys, i18n.FootForkLeave)
	case ghost:
		keys = append(keys, adoptWords(a)...)
	}
	var text []string
	for _, key := range keys {
		text = append(text, b.words.Say(key, i18n.Args{"Name": a.r.Name}))
	}
	return strings.Join(text, " ")
}

// adoptWords say whether the writer can be adopted, or why not.
func adoptWords(a about) []i18n.Key {
	switch one := a.writers[0]; {
	case !adoptable(a.r): // its state says why
		return nil
	case len(a.writers) > 1:
		return []i18n.Key{i18n.FootAdoptMany}
	case one.Adoptable():
		return []i18n.Key{i18n.FootAdopt}
	case one.Proven && one.Session == "":
		return []i18n.Key{i18n.FootAdoptElsewhere}
	}
	return nil // why it is not ended says it all
}

// adoptable says whether a session can go on where somebody runs it. One that is
// not cleaned up cannot, before it is.
func adoptable(r session.Record) bool { return resumable(r) }

// canAdopt says whether the writer can be made the session's agent.
func (a about) canAdopt() bool {
	return adoptable(a.r) && len(a.writers) == 1 && a.writers[0].Adoptable()
}

// canEnd says whether a person may have all of them ended.
func canEnd(all []lifecycle.Writer) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(w lifecycle.Writer) bool { return !w.Endable() })
}

// writersButtons are what can be done. Each names the very processes that the
// message shows, and remembers that nobody had asked.
func (b *Bot) writersButtons(a about, asker int64) [][]outbox.Button {
	mark := writersMark(identities(a.writers))
	if a.unasked {
		mark += ":" + unaskedMark
	}
	data := func(verb string) string { return fmt.Sprintf("%s%s:%s:%s", a.scene, verb, a.wish.data(), mark) }
	show := b.Button(i18n.ButtonShow, data("sh"), "")
	if a.scene == ghost {
		return b.ghostButtons(a, data, show)
	}
	first := []outbox.Button{show}
	if canEnd(a.writers) {
		first = append(first, b.Button(i18n.ButtonTakeOver, data("as"), outbox.Danger))
	}
	cancel := b.cancelButton(asker)
	if a.scene == second {
		cancel = b.Button(i18n.ButtonCancel, "sno:"+ref(a.r.ID), "") // nobody asked, so anybody may
	}
	return [][]outbox.Button{first, {b.Button(i18n.ButtonForkInstead, data("fk"), ""), cancel}}
}

func (b *Bot) ghostButtons(a about, data func(verb string) string, show outbox.Button) [][]outbox.Button {
	var buttons []outbox.Button
	if canEnd(a.writers) {
		buttons = append(buttons, b.Button(i18n.ButtonStopIt, data("as"), outbox.Danger))
	}
	if a.canAdopt() {
		buttons = append(buttons, b.Button(i18n.ButtonAdopt, data("ad"), outbox.Primary))
	}
	return chat.Rows(2, append(buttons, show)...)
}

// unsureText says that a session is not started, because somebody may write its
// conversation.
func (b *Bot) unsureText(all []lifecycle.Writer) render.Text {
	lines := []string{b.words.Say(i18n.StartUnsure)}
	for _, w := range all[:min(len(all), chat.MaxListed)] {
		lines = append(lines, "• "+b.writerLine(w))
	}
	return render.Plain(strings.Join(lines, "\n"))
}
