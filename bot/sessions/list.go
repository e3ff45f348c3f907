package sessions

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// list shows the sessions with a button each, and the windows that belong to none.
func (s *Sessions) list(ctx context.Context, in chat.Incoming, _ string) error {
	text, buttons := s.listMessage(ctx, in.To)
	return s.chat.Post(ctx, in.To, text, buttons)
}

func (s *Sessions) listMessage(ctx context.Context,
	to session.Conversation) (render.Text, [][]outbox.Button) {
	var lines, dirs []string
	var buttons []outbox.Button
	ended, now := 0, s.book.CurrentID(to)
	for _, r := range s.book.Records.List() {
		if r.Resumable() {
			ended++
		}
		if !isEndable(r) {
			continue
		}
		lines, dirs = append(lines, s.listLine(ctx, r, r.ID == now)), append(dirs, s.chat.Short(r.Dir))
		buttons = append(buttons, s.listButton(r, r.ID == now))
	}
	text := s.words.Say(i18n.ListEmpty)
	if len(lines) > 0 {
		text = s.words.Say(i18n.ListTitle, i18n.Args{"Count": len(lines)}) + "\n" + strings.Join(lines, "\n")
	}
	if ended > 0 {
		text += "\n\n" + s.words.Say(i18n.ListArchived, i18n.Args{"Count": ended})
	}
	windows, windowButtons := s.windows.Listed(ctx)
	all := append(chat.Rows(2, buttons...), windowButtons...)
	return chat.Paragraphs(chat.Marked(text, dirs...), windows), all
}

func (s *Sessions) listLine(ctx context.Context, r session.Record, current bool) string {
	state := s.words.Say(i18n.StateKey(string(r.State)))
	switch {
	case r.State == session.Running:
		state = lookText(s.words, s.agents.Look(ctx, r))
	case r.State == session.CleanupFailed && r.Cleanup != nil && len(r.Cleanup.Failures) > 0:
		state += " (" + s.chat.NotCleanDetails(r)[0] + ")" // the first reason is enough here
	}
	mark := "•"
	if current {
		mark = "✓"
	}
	return fmt.Sprintf("%s %s: %s, %s", mark, glyph.Name(r.Name), state, s.chat.Short(r.Dir))
}

// lookText says what an agent is doing, whether a person is at the agent's window, which model the
// agent has and how full its context is. The last two are known where the status line has told.
func lookText(words i18n.Words, l lifecycle.Look) string {
	text := []string{words.Say(i18n.PhaseKey(string(cmp.Or(l.Phase, lifecycle.PhaseUnknown))))}
	switch l.Desk {
	case lifecycle.DeskTyping:
		text = append(text, words.Say(i18n.ListAtDesk))
	case lifecycle.DeskAttached:
		text = append(text, words.Say(i18n.ListAttached))
	}
	if l.Background && l.Phase == lifecycle.PhaseIdle { // else it says nothing new
		text = append(text, words.Say(i18n.ListBackground))
	}
	if u := l.Usage; u != nil {
		if model := chat.Head(glyph.Name(u.Model), 24); model != "" {
			text = append(text, model)
		}
		if u.Context >= 0 {
			text = append(text, words.Say(i18n.ListContext, i18n.Args{"Percent": int(math.Round(u.Context))}))
		}
	}
	return strings.Join(text, ", ")
}

// listButton makes a session the current one; of a session that is not cleaned up, the button tries
// that again. It names the session only where several are not cleaned up.
func (s *Sessions) listButton(r session.Record, current bool) outbox.Button {
	name := glyph.Name(r.Name)
	if r.State == session.CleanupFailed {
		word := s.words.Say(i18n.ButtonRetry)
		for _, other := range s.book.Records.List() {
			if other.State == session.CleanupFailed && other.ID != r.ID {
				word = s.words.Say(i18n.ButtonRetry) + ": " + name
			}
		}
		return outbox.Button{Text: word, Data: "try:" + chat.Ref(r.ID)}
	}
	if current {
		name = "✓ " + name
	}
	return outbox.Button{Text: name, Data: "cur:" + chat.Ref(r.ID)}
}

// RedrawList sets the tapped message to the list as it is now.
func (s *Sessions) RedrawList(ctx context.Context, t chat.Tap) error {
	text, buttons := s.listMessage(ctx, t.To)
	parts := text.Split(render.Limit) // the buttons stand under the last part
	return s.chat.Redraw(ctx, t, parts[len(parts)-1], buttons)
}

// tapCurrent opens a session: from the list, or from the notice that the session has answered. Of a
// session that is over only the answer is shown.
func (s *Sessions) tapCurrent(ctx context.Context, t chat.Tap) (chat.Answer, error) {
	r, ok := s.chat.TappedSession(t)
	r = s.book.Successor(r)
	noticed := len(t.Args) > 1 && t.Args[1] == chat.FromNotice
	if !ok || !noticed && !isEndable(r) {
		return s.chat.Stale(t)
	}
	if noticed || !s.book.IsCurrent(t.To, r) {
		s.reader.Recall(r, t.To) // before it is current: then its reader shows what is newer
	}
	if isEndable(r) { // at once: a text that is sent next is meant for it
		if err := s.book.MakeCurrent(ctx, t.To, r.ID); err != nil {
			return chat.Answer{}, err
		}
	}
	return chat.Answer{Text: "→ " + glyph.Name(r.Name), Then: func(ctx context.Context) error {
		if isEndable(r) {
			if err := s.book.MoveTo(ctx, t.To, r); err != nil {
				return err
			}
		}
		if noticed {
			return s.chat.Spend(ctx, t)
		}
		return s.RedrawList(ctx, t)
	}}, nil
}
