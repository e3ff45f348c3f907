package writers

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/refusal"
)

// All returns the windows that belong to no session, as far as they are known. It
// returns none if those of the chat's own machine are unknown.
func (o *Others) All(ctx context.Context) []port.Window {
	all, err := o.windows.Orphans(ctx)
	if err != nil {
		o.chat.Log.Warn("windows_unknown", logkey.Error, err)
	}
	if refusal.Lacks(err, "") {
		return nil
	}
	return all
}

// Post shows windows in a message. It does nothing without any.
func (o *Others) Post(ctx context.Context, to outbox.Conversation, all []port.Window) error {
	if len(all) == 0 {
		return nil
	}
	content, shown := o.list(to, all)
	return o.lists.Post(ctx, content, shown)
}

// list is a message about windows. A window that is not named has no options.
func (o *Others) list(to outbox.Conversation, all []port.Window) (content card.Content, shown []port.ID) {
	p := o.chat.In(to)
	var lines []render.Text
	for i, one := range all {
		line := windowText(p, one)
		if !canAdopt(one) { // its content is known only in a terminal
			hint := p.Text(i18n.AttachHint, i18n.Args{"Command": render.Code(one.Attach)})
			line = render.Join(line, render.Plain("\n   "), hint)
		}
		lines = append(lines, line)
		if i < chat.MaxListed {
			content.Options, shown = append(content.Options, windowOptions(p, one, len(all) > 1)), append(shown, one.ID)
		}
	}
	content.To, content.Text = to, p.Text(i18n.NoWindows)
	if len(all) > 0 {
		content.Text = chat.Lines(p.Text(i18n.ListUnbound, i18n.Args{"Count": len(all)}), p.Bullets(chat.MaxListed, lines))
	}
	return content, shown
}

// windowText describes a window in one line: its id and name, its process and folder, and the
// conversation of a proven agent.
func windowText(p chat.Phrases, one port.Window) render.Text {
	runs, conversation := chat.Tail(glyph.Name(one.Command), 24), render.Text{}
	switch {
	case one.Agent != nil:
		runs = p.ProcessText(one.Agent.Process)
		conversation = p.Text(i18n.WindowConversation, i18n.Args{"ID": one.Agent.AgentSessionID.String()[:8]})
	case one.Dead:
		runs = p.Say(i18n.WindowDead)
	}
	said := chat.Joined(p.Say(i18n.JoinParts), render.Plain(runs), render.Code(p.ShortTail(one.Dir)), conversation)
	return p.Text(i18n.Named, i18n.Args{"What": nameOf(one), "Said": said})
}

// nameOf returns the name by which people know a window.
func nameOf(one port.Window) string {
	return strings.TrimSpace(one.Window + " " + chat.Tail(glyph.Name(one.Name), 40))
}

// keyOf returns the window that an option names.
func keyOf(one port.Window) string { return folders.Address(one.Machine, one.Window) }

// canAdopt reports whether a window's agent can become a session's, and so be archived: the agent
// is proven, unprotected, and in a terminal that ccbot can type into.
func canAdopt(one port.Window) bool { return one.Agent != nil && one.Agent.Adoptable }

// windowOptions returns the actions on a window. Of several windows each option names its window.
func windowOptions(p chat.Phrases, one port.Window, named bool) (row []card.Option) {
	if canAdopt(one) {
		row = append(row, p.Option(i18n.ButtonAdopt, adoptOption, outbox.Primary),
			p.Option(i18n.ButtonArchive, askOption, outbox.Danger))
	}
	row = append(row, p.Option(i18n.ButtonIgnore, ignoreOption, ""))
	for i := range row {
		row[i].Value += ":" + keyOf(one)
		if named {
			row[i].Text += " " + one.Window
		}
	}
	return row
}

// tapWindow carries out an option about a window, if a new check finds it as the person saw it.
// Then a list shows the windows that there are, and a question is closed.
func (o *Others) tapWindow(_ context.Context, t chat.Tap, was []port.ID) (chat.Answer, error) {
	word, window, _ := strings.Cut(t.Card.Option, ":")
	redraw := func(ctx context.Context) error {
		if word == endOption { // which a question has, and no list
			return o.lists.End(ctx, t, "")
		}
		all, err := o.windows.Orphans(ctx)
		if refusal.Lacks(err, "") {
			return err
		}
		content, shown := o.list(t.To, all)
		return o.lists.Redraw(ctx, t.Card.Key, content, shown)
	}
	return chat.Do(func(ctx context.Context) error {
		all, err := o.windows.Orphans(ctx)
		if on, _ := folders.Split(window); refusal.Lacks(err, on) {
			return o.explain(ctx, t, err)
		}
		i := slices.IndexFunc(all, func(one port.Window) bool {
			return keyOf(one) == window && slices.Contains(was, one.ID)
		})
		if i < 0 || word != ignoreOption && !canAdopt(all[i]) {
			return errors.Join(o.report(ctx, t, i18n.WritersChanged), redraw(ctx))
		}
		return o.decide(ctx, t, word, all[i], redraw)
	})
}

// decide carries out a person's decision about an unchanged window. Nothing takes over the
// conversation of a session that is not over.
func (o *Others) decide(ctx context.Context, t chat.Tap, word string, one port.Window,
	redraw func(context.Context) error) error {
	if word == ignoreOption {
		if err := o.windows.Ignore(ctx, one); err != nil {
			return err
		}
		reported := o.report(ctx, t, i18n.WindowIgnored, i18n.Args{"Window": nameOf(one)})
		return errors.Join(reported, redraw(ctx))
	}
	var from port.Session // the session of the conversation: an open one before an ended one, then the newest
	all, err := o.chat.Book.Records.List()
	if refusal.Lacks(err, one.Machine) {
		return o.explain(ctx, t, err)
	}
	for _, r := range all {
		if r.Owns && r.Machine == one.Machine && r.AgentSessionID == one.Agent.AgentSessionID && (from.ID == uuid.Nil || from.Resumable) {
			from = r
		}
	}
	switch {
	case from.ID != uuid.Nil && !from.Resumable:
		return o.report(ctx, t, i18n.WindowOwned, stateArgs(o.chat.In(t.To), from))
	case word == askOption:
		return o.askArchive(ctx, t, one)
	case word == endOption:
		return o.archive(ctx, t, *one.Agent)
	}
	return o.adopt(ctx, t, *one.Agent, from, redraw)
}

// askArchive shows which process an archive ends and which processes stay; the person who tapped
// may confirm.
func (o *Others) askArchive(ctx context.Context, t chat.Tap, one port.Window) error {
	p := o.chat.In(t.To)
	text := []string{p.Say(i18n.WindowArchive, i18n.Args{"Window": nameOf(one),
		"Process": p.ProcessText(one.Agent.Process)})}
	if stays := names(p, one.Others); stays != "" {
		text = append(text, p.Say(i18n.WindowStays, i18n.Args{"Details": stays}))
	}
	end := i18n.WindowKept
	if one.Closes { // the pane was made for that agent
		end = i18n.WindowCloses
	}
	content := card.Content{To: t.To, Text: render.Plain(strings.Join(append(text, p.Say(end)), "\n")),
		Options: p.Confirm(i18n.ButtonYesArchive, endOption+":"+keyOf(one), t.From)}
	return o.lists.Post(ctx, content, []port.ID{one.ID})
}

// archive makes a window's agent a session's and archives that session, so that the agent ends as
// any session's does and leaves a receipt. It takes no session over: the prompts that wait there
// would be typed to the agent.
func (o *Others) archive(ctx context.Context, t chat.Tap, one port.Writer) error {
	r, err := o.makeSession(ctx, t, t.To, one, port.Session{})
	if err != nil || r.ID == uuid.Nil {
		return err
	}
	said := o.chat.In(t.To).Text(i18n.Archiving, i18n.Args{"Name": r.Name})
	if err := o.ender.BeginEnd(ctx, r.ID, port.StateArchived, port.RequestedBy(t.From, "asked for")); err != nil {
		return o.chat.Explain(ctx, t.To, o.chat.In(t.To).Failure(r, err))
	}
	return o.lists.Close(ctx, t.Card.Key, said)
}
