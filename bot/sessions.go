package bot

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

func live(r session.Record) bool      { return r.State.Live() }
func resumable(r session.Record) bool { return r.Resumable() }

// comesBack are the sessions that a resume brings back; one that is on its way may
// have been cut short.
func comesBack(r session.Record) bool { return r.Resumable() || r.Interrupted() }

// endable are the sessions that can still be archived.
func endable(r session.Record) bool { return r.State.Live() || r.State == session.CleanupFailed }

// list shows the sessions with a button each, and the windows that belong to
// none.
func (b *Bot) list(ctx context.Context, in chat.Incoming, _ string) error {
	text, buttons := b.listText(ctx, in.To)
	return b.Post(ctx, in.To, text, buttons)
}

func (b *Bot) listText(ctx context.Context, to session.Conversation) (render.Text, [][]outbox.Button) {
	var lines, dirs []string
	var buttons []outbox.Button
	ended, now := 0, b.CurrentID(to)
	for _, r := range b.Records.List() {
		if resumable(r) {
			ended++
		}
		if !endable(r) {
			continue
		}
		lines, dirs = append(lines, b.listLine(ctx, r, r.ID == now)), append(dirs, b.Short(r.Dir))
		buttons = append(buttons, b.listButton(r, r.ID == now))
	}
	text := b.words.Say(i18n.ListEmpty)
	if len(lines) > 0 {
		text = b.words.Say(i18n.ListTitle, i18n.Args{"Count": len(lines)}) + "\n" + strings.Join(lines, "\n")
	}
	if ended > 0 {
		text += "\n\n" + b.words.Say(i18n.ListArchived, i18n.Args{"Count": ended})
	}
	orphans := b.orphans(ctx)
	return chat.Paragraphs(chat.Marked(text, dirs...), b.windowsText(orphans)), append(chat.Rows(2, buttons...), b.windowButtons(orphans, inList)...)
}

func (b *Bot) listLine(ctx context.Context, r session.Record, current bool) string {
	state := b.words.Say(i18n.StateKey(string(r.State)))
	switch {
	case r.State == session.Running:
		state = b.lookText(b.Sessions.Look(ctx, r))
	case r.State == session.CleanupFailed && r.Cleanup != nil && len(r.Cleanup.Failures) > 0:
		state += " (" + b.notCleanDetails(r)[0] + ")" // the first reason is enough here
	}
	mark := "•"
	if current {
		mark = "✓"
	}
	return fmt.Sprintf("%s %s: %s, %s", mark, glyph.Name(r.Name), state, b.Short(r.Dir))
}

// lookText says what an agent is doing, and whether a person is at its window.
func (b *Bot) lookText(l lifecycle.Look) string {
	words := []i18n.Key{i18n.PhaseKey(string(cmp.Or(l.Phase, lifecycle.PhaseUnknown)))}
	switch l.Desk {
	case lifecycle.DeskTyping:
		words = append(words, i18n.ListAtDesk)
	case lifecycle.DeskAttached:
		words = append(words, i18n.ListAttached)
	}
	if l.Background && l.Phase == lifecycle.PhaseIdle { // else it says nothing new
		words = append(words, i18n.ListBackground)
	}
	var text []string
	for _, word := range words {
		text = append(text, b.words.Say(word))
	}
	return strings.Join(append(text, b.usageText(l.Usage)...), ", ")
}

// usageText says which model an agent has and how full its context is, where its
// status line has told.
func (b *Bot) usageText(u *session.Usage) (text []string) {
	if u == nil {
		return nil
	}
	if model := chat.Head(glyph.Name(u.Model), 24); model != "" {
		text = append(text, model)
	}
	if u.Context >= 0 {
		text = append(text, b.words.Say(i18n.ListContext, i18n.Args{"Percent": int(math.Round(u.Context))}))
	}
	return text
}

// listButton makes a session the current one; of one that is not cleaned up,
// tries that again.
func (b *Bot) listButton(r session.Record, current bool) outbox.Button {
	if r.State == session.CleanupFailed {
		return outbox.Button{Text: b.retryWord(r), Data: "try:" + ref(r.ID)}
	}
	name := glyph.Name(r.Name)
	if current {
		name = "✓ " + name
	}
	return outbox.Button{Text: name, Data: "cur:" + ref(r.ID)}
}

// retryWord names the session only where several are not cleaned up.
func (b *Bot) retryWord(r session.Record) string {
	word := b.words.Say(i18n.ButtonRetry)
	for _, other := range b.Records.List() {
		if other.State == session.CleanupFailed && other.ID != r.ID {
			return word + ": " + glyph.Name(r.Name)
		}
	}
	return word
}
