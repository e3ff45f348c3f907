package sessions

import (
	"context"
	"slices"
	"strings"
	"time"

	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
)

// shownChanges bounds the lines of a history, shownEvidence one line's evidence.
const (
	shownChanges  = 30
	shownEvidence = 200
)

// why tells what happened to a session, from its history.
func (s *Sessions) why(ctx context.Context, in chat.Incoming, arg string) error {
	r, ok, err := s.findToExplain(in, arg)
	if err != nil {
		return err
	}
	if !ok {
		return tellNone(ctx, s.chat, in, arg)
	}
	return s.chat.For(r.ID).Post(ctx, in.To, s.historyText(r), nil)
}

// findToExplain finds a session as find does. An id means that very session, also when another one
// goes on with its conversation.
func (s *Sessions) findToExplain(in chat.Incoming, arg string) (views.Session, bool, error) {
	for _, r := range slices.Backward(s.book.Records.List()) {
		if conversation.IsIDOf(r, arg) {
			return r, true, nil
		}
	}
	return s.book.FindFor(in.Message, arg, func(views.Session) bool { return true })
}

// historyText is a session's history, newest last, as far as it fits one message.
func (s *Sessions) historyText(r views.Session) render.Text {
	history := s.book.Records.History(r.ID)
	head, foot := i18n.WhyTitle, render.Text{}
	if len(history) == 0 {
		head = i18n.WhyNothing
	}
	if next := s.book.Successor(r); next.ID != r.ID {
		command := "ccbot why " + next.ID.String()
		foot = chat.Marked("\n"+s.words.Say(i18n.WhyGoesOn, i18n.Args{"Command": command}), command)
	}
	text := render.Plain(s.words.Say(head, s.chat.StateArgs(r)))
	room := render.Limit - text.Length() - foot.Length() - moreRoom
	shown := changeLines(s.words, history, room)
	if left := len(history) - len(shown); left > 0 {
		command := "ccbot why " + r.ID.String()
		args := i18n.Args{"Count": left, "Command": command}
		text = render.Join(text, chat.Marked("\n"+s.words.Say(i18n.WhyMore, args), command))
	}
	return render.Join(text, render.Join(shown...), foot)
}

// moreRoom is kept free for the sentence that lines are left out.
const moreRoom = 300

// changeLines are the last changes, as many as there is room for.
func changeLines(words i18n.Words, all []views.Change, room int) []render.Text {
	var lines []render.Text // newest first
	for _, c := range slices.Backward(all[max(0, len(all)-shownChanges):]) {
		line := changeLine(words, c)
		if room -= line.Length(); room < 0 {
			break
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	return lines
}

// changeLine is one change: when, from which state to which, on what evidence, by which rule. What
// was noted is foreign text: as code nothing in it can be tapped.
func changeLine(words i18n.Words, c views.Change) render.Text {
	what := "•"
	switch {
	case c.From == "":
		what = "→ " + stateText(words, c.To)
	case c.From != c.To:
		what = stateText(words, c.From) + " → " + stateText(words, c.To)
	}
	line := render.Plain("\n" + c.At.Local().Format(time.DateTime) + " " + what)
	if why := chat.Head(strings.TrimSpace(glyph.Name(c.Why)), shownEvidence); why != "" {
		line = render.Join(line, render.Plain(": "), render.Code(why))
	}
	if rule := chat.Head(glyph.Name(c.Rule), chat.MaxName); rule != "" {
		line = render.Join(line, render.Plain(" ("), render.Code(rule), render.Plain(")"))
	}
	return line
}

func stateText(words i18n.Words, s views.State) string {
	return words.Say(i18n.StateKey(string(s)))
}
