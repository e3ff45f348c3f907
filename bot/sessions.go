package bot

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// current is the session that a text in this conversation goes to.
func (b *Bot) current(to session.Conversation) (session.Record, bool, error) {
	id, err := b.Chats.Current(to)
	if err != nil {
		return session.Record{}, false, err
	}
	r, ok := b.Records.Get(id)
	return b.successor(r), ok, nil
}

// use makes a session the current one of a conversation, and shows it there
// from now on: a session is shown in one place, where it was last used.
func (b *Bot) use(ctx context.Context, to session.Conversation, r session.Record) error {
	if err := b.show(ctx, to, r); err != nil {
		return err
	}
	return b.setCurrent(ctx, to, r.ID)
}

// setCurrent makes a session the current one of a conversation.
func (b *Bot) setCurrent(ctx context.Context, to session.Conversation, id uuid.UUID) error {
	if err := b.Chats.SetCurrent(to, id); err != nil {
		return err
	}
	b.answers.nudge(id) // what it has said since its last notice is shown now
	return b.asks.switched(ctx, to, id)
}

// show moves a session to another conversation.
func (b *Bot) show(ctx context.Context, to session.Conversation, r session.Record) error {
	if r.Conversation == to {
		return nil
	}
	if err := b.Sessions.Move(ctx, r.ID, to); err != nil {
		return err
	}
	b.answers.follow(r) // it may have waited for a place where it may be shown
	return nil
}

// isCurrent says whether a session is the current one of a conversation.
func (b *Bot) isCurrent(to session.Conversation, r session.Record) bool {
	now := b.currentID(to)
	return now != uuid.Nil && now == b.successor(r).ID
}

// currentID is uuid.Nil where there is none, or where it cannot be read.
func (b *Bot) currentID(to session.Conversation) uuid.UUID {
	now, ok, err := b.current(to)
	if err != nil || !ok {
		return uuid.Nil
	}
	return now.ID
}

// find looks a session up by name or by the beginning of its id; without an
// argument it is the current one. Of several with the same name the newest that
// fits counts. One whose conversation another session goes on with leads to that.
func (b *Bot) find(to session.Conversation, arg string, fits func(session.Record) bool) (session.Record, bool, error) {
	if arg == "" {
		r, ok, err := b.current(to)
		return r, ok && fits(r), err
	}
	all := b.Records.List()
	for _, r := range slices.Backward(all) {
		if !strings.EqualFold(r.Name, arg) && !isIDOf(r, arg) {
			continue
		}
		if r = successorIn(all, r); fits(r) {
			return r, true, nil
		}
	}
	return session.Record{}, false, nil
}

// isIDOf says whether a text is enough of a session's id to mean it.
func isIDOf(r session.Record, text string) bool {
	return len(text) >= 8 && strings.HasPrefix(r.ID.String(), text)
}

func live(r session.Record) bool      { return r.State.Live() }
func resumable(r session.Record) bool { return r.Resumable() }

// comesBack are the sessions that a resume brings back; one that is on its way may
// have been cut short.
func comesBack(r session.Record) bool { return r.Resumable() || r.Interrupted() }

// endable are the sessions that can still be archived.
func endable(r session.Record) bool { return r.State.Live() || r.State == session.CleanupFailed }

// list shows the sessions with a button each, and the windows that belong to
// none.
func (b *Bot) list(ctx context.Context, in incoming, _ string) error {
	text, buttons := b.listText(ctx, in.to)
	return b.post(ctx, in.to, text, buttons)
}

func (b *Bot) listText(ctx context.Context, to session.Conversation) (render.Text, [][]outbox.Button) {
	var lines, dirs []string
	var buttons []outbox.Button
	ended, now := 0, b.currentID(to)
	for _, r := range b.Records.List() {
		if resumable(r) {
			ended++
		}
		if !endable(r) {
			continue
		}
		lines, dirs = append(lines, b.listLine(ctx, r, r.ID == now)), append(dirs, b.short(r.Dir))
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
	return paragraphs(marked(text, dirs...), b.windowsText(orphans)), append(rows(2, buttons...), b.windowButtons(orphans, inList)...)
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
	return fmt.Sprintf("%s %s: %s, %s", mark, glyph.Name(r.Name), state, b.short(r.Dir))
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
	if model := clipEnd(glyph.Name(u.Model), 24); model != "" {
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

// short is a folder as the chat shows it: the home directory as ~, and nothing in it hidden.
func (b *Bot) short(dir string) string { return glyph.Name(b.fromHome(dir)) }

// fromHome writes the home directory as ~.
func (b *Bot) fromHome(dir string) string {
	if rest, ok := strings.CutPrefix(dir, b.Places.Bounds().Home); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return dir
}
