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
	return r, ok, nil
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
	id, err := b.Chats.Current(to)
	return err == nil && id == r.ID
}

// find looks a session up by name or by the beginning of its id; without an
// argument it is the current one. Of several with the same name the newest that
// fits counts.
func (b *Bot) find(to session.Conversation, arg string, fits func(session.State) bool) (session.Record, bool, error) {
	if arg == "" {
		r, ok, err := b.current(to)
		return r, ok && fits(r.State), err
	}
	list := b.Records.List()
	slices.Reverse(list)
	for _, r := range list {
		if (strings.EqualFold(r.Name, arg) || strings.HasPrefix(r.ID.String(), arg) && len(arg) >= 8) && fits(r.State) {
			return r, true, nil
		}
	}
	return session.Record{}, false, nil
}

func live(s session.State) bool      { return s.Live() }
func resumable(s session.State) bool { return s.Resumable() }

// endable are the sessions that can still be archived.
func endable(s session.State) bool { return s.Live() || s == session.CleanupFailed }

// list shows the sessions with a button each, and the windows that are not
// ours.
func (b *Bot) list(ctx context.Context, in incoming, _ string) error {
	text, buttons := b.listText(ctx, in.to)
	return b.post(ctx, in.to, text, buttons)
}

func (b *Bot) listText(ctx context.Context, to session.Conversation) (render.Text, [][]outbox.Button) {
	var lines, dirs []string
	var buttons []outbox.Button
	ended := 0
	for _, r := range b.Records.List() {
		if !endable(r.State) {
			ended++
			continue
		}
		lines, dirs = append(lines, b.listLine(ctx, to, r)), append(dirs, b.short(r.Dir))
		buttons = append(buttons, b.listButton(to, r))
	}
	text := b.words.Say(i18n.ListEmpty)
	if len(lines) > 0 {
		text = b.words.Say(i18n.ListTitle, i18n.Args{"Count": len(lines)}) + "\n" + strings.Join(lines, "\n")
	}
	if ended > 0 {
		text += "\n\n" + b.words.Say(i18n.ListArchived, i18n.Args{"Count": ended})
	}
	return render.Join(marked(text, dirs...), b.orphanText(ctx)), rows(2, buttons...)
}

func (b *Bot) listLine(ctx context.Context, to session.Conversation, r session.Record) string {
	state := b.words.Say(i18n.StateKey(string(r.State)))
	switch {
	case r.State == session.Running:
		state = b.lookText(b.Sessions.Look(ctx, r))
	case r.State == session.CleanupFailed && r.Cleanup != nil && len(r.Cleanup.Failures) > 0:
		state += " (" + b.notCleanDetails(r)[0] + ")" // the first reason is enough here
	}
	mark := "•"
	if b.isCurrent(to, r) {
		mark = "✓"
	}
	return fmt.Sprintf("%s %s: %s, %s", mark, r.Name, state, b.short(r.Dir))
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
	if model := clipEnd(visible(u.Model), 24); model != "" {
		text = append(text, model)
	}
	if u.Context >= 0 {
		text = append(text, b.words.Say(i18n.ListContext, i18n.Args{"Percent": int(math.Round(u.Context))}))
	}
	return text
}

// listButton makes a session the current one; of one that is not cleaned up,
// tries that again.
func (b *Bot) listButton(to session.Conversation, r session.Record) outbox.Button {
	if r.State == session.CleanupFailed {
		return outbox.Button{Text: b.retryWord(r), Data: "try:" + ref(r.ID)}
	}
	name := r.Name
	if b.isCurrent(to, r) {
		name = "✓ " + name
	}
	return outbox.Button{Text: name, Data: "cur:" + ref(r.ID)}
}

// retryWord names the session only where several are not cleaned up.
func (b *Bot) retryWord(r session.Record) string {
	word := b.words.Say(i18n.ButtonRetry)
	for _, other := range b.Records.List() {
		if other.State == session.CleanupFailed && other.ID != r.ID {
			return word + ": " + r.Name
		}
	}
	return word
}

// short writes the home directory as ~.
func (b *Bot) short(dir string) string {
	if rest, ok := strings.CutPrefix(dir, b.Home); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return dir
}

// orphanText lists windows that belong to no session; they are only shown.
func (b *Bot) orphanText(ctx context.Context) render.Text {
	orphans := b.Orphans(ctx)
	if len(orphans) == 0 {
		return render.Text{}
	}
	text := "\n\n" + b.words.Say(i18n.ListUnbound, i18n.Args{"Count": len(orphans)})
	for _, p := range orphans {
		text += fmt.Sprintf("\n• %s %s: %s, %s", p.Window, p.WindowName, p.Command, b.short(p.Path))
	}
	return plain(text)
}
