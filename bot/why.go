package bot

import (
	"context"
	"slices"
	"strings"
	"time"

	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/session"
)

// shownChanges bounds the lines of a history, shownEvidence one line's evidence.
const (
	shownChanges  = 30
	shownEvidence = 200
)

// why tells what happened to a session, from its history.
func (b *Bot) why(ctx context.Context, in chat.Incoming, arg string) error {
	r, ok, err := b.findToExplain(in, arg)
	if err != nil {
		return err
	}
	if !ok {
		return b.noSession(ctx, in, arg)
	}
	return b.For(r.ID).Post(ctx, in.To, b.historyText(r), nil)
}

// findToExplain finds a session as find does. An id means that very session, also
// when another one goes on with its conversation.
func (b *Bot) findToExplain(in chat.Incoming, arg string) (session.Record, bool, error) {
	for _, r := range slices.Backward(b.Records.List()) {
		if conversation.IsIDOf(r, arg) {
			return r, true, nil
		}
	}
	return b.FindFor(in.Message, arg, func(session.Record) bool { return true })
}

// historyText is a session's history, newest last, as far as it fits one message.
func (b *Bot) historyText(r session.Record) render.Text {
	head, foot := i18n.WhyTitle, render.Text{}
	if len(r.History) == 0 {
		head = i18n.WhyNothing
	}
	if next := b.Successor(r); next.ID != r.ID {
		command := "ccbot why " + next.ID.String()
		foot = chat.Marked("\n"+b.words.Say(i18n.WhyGoesOn, i18n.Args{"Command": command}), command)
	}
	text := render.Plain(b.words.Say(head, b.stateArgs(r)))
	room := render.Limit - text.Length() - foot.Length() - moreRoom
	shown := b.changeLines(r.History, room)
	if left := len(r.History) - len(shown); left > 0 {
		command := "ccbot why " + r.ID.String()
		args := i18n.Args{"Count": left, "Command": command}
		text = render.Join(text, chat.Marked("\n"+b.words.Say(i18n.WhyMore, args), command))
	}
	return render.Join(text, render.Join(shown...), foot)
}

// moreRoom is kept free for the sentence that lines are left out.
const moreRoom = 300

// changeLines are the last changes, as many as there is room for.
func (b *Bot) changeLines(all []session.Change, room int) []render.Text {
	var lines []render.Text // newest first
	for _, c := range slices.Backward(all[max(0, len(all)-shownChanges):]) {
		line := b.changeLine(c)
		if room -= line.Length(); room < 0 {
			break
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	return lines
}

// changeLine is one change: when, from which state to which, on what evidence, by
// which rule. What was noted is foreign text: as code nothing in it can be
// tapped.
func (b *Bot) changeLine(c session.Change) render.Text {
	what := "•"
	switch {
	case c.From == "":
		what = "→ " + b.stateText(c.To)
	case c.From != c.To:
		what = b.stateText(c.From) + " → " + b.stateText(c.To)
	}
	line := render.Plain("\n" + c.At.Local().Format(time.DateTime) + " " + what)
	if why := chat.Head(strings.TrimSpace(glyph.Name(c.Why)), shownEvidence); why != "" {
		line = render.Join(line, render.Plain(": "), render.Code(why))
	}
	if rule := chat.Head(glyph.Name(string(c.Rule)), maxName); rule != "" {
		line = render.Join(line, render.Plain(" ("), render.Code(rule), render.Plain(")"))
	}
	return line
}

func (b *Bot) stateText(s session.State) string { return b.words.Say(i18n.StateKey(string(s))) }
