package writers

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/port/control"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
)

// Orphans are the windows of ccbot's tmux session that belong to no session.
type Orphans interface {
	// Orphans are all of the windows but the ignored ones.
	Orphans(ctx context.Context) ([]desk.Window, error)
	// Ignore has a window mentioned no more as long as the window lives.
	Ignore(ctx context.Context, w desk.Window) error
}

// Adopter makes a session of an agent that a person started, and ends sessions.
type Adopter interface {
	Adopt(ctx context.Context, q control.Adopt) (views.Session, error)
	Archive(ctx context.Context, id uuid.UUID, final views.State, why string) error
}

// Windows show the windows that belong to no session.
type Windows struct {
	chat    *chat.Chat
	book    *conversation.Book
	words   i18n.Words
	orphans Orphans
	adopter Adopter
	cards   chat.Cards[[]chat.Window] // of windows alone
}

const windowsKind = "windows" // of the cards

// NewWindows returns the Windows of a chat.
func NewWindows(c *chat.Chat, o Orphans, a Adopter) *Windows {
	return &Windows{c, c.Book, c.Words, o, a, chat.NewCards[[]chat.Window](c, windowsKind)}
}

// Feature is what the roof knows of Windows.
func (w *Windows) Feature() chat.Feature {
	return chat.Feature{Name: "windows", Cards: map[string]chat.OnTap{windowsKind: w.cards.OnTap(w.tapCard)}}
}

// shownWindows bounds the windows that are shown; the rest is counted.
const shownWindows = 5

// What an option does: its value is the word, a colon and the window's id.
const (
	adoptWord   = "adopt"   // make the window's agent a session's
	askWord     = "ask"     // ask whether to archive it
	archiveWord = "archive" // archive it
	ignoreWord  = "ignore"  // mention the window no more
)

// All are the windows that belong to no session. Where the windows cannot be seen there are none.
func (w *Windows) All(ctx context.Context) []desk.Window {
	all, err := w.orphans.Orphans(ctx)
	if err != nil {
		w.chat.Log.Warn("windows_unknown", "error", err.Error())
		return nil
	}
	return all
}

// List shows some windows as a part of a message.
func (w *Windows) List(all []desk.Window) chat.WindowList {
	l := chat.WindowList{Text: w.text(all)}
	for _, one := range all[:min(len(all), shownWindows)] {
		l.Options = append(l.Options, w.options(one, len(all) > 1))
		l.Windows = append(l.Windows, asShown(one))
	}
	return l
}

// text lists windows that belong to no session.
func (w *Windows) text(all []desk.Window) render.Text {
	if len(all) == 0 {
		return render.Text{}
	}
	lines := []string{w.words.Say(i18n.ListUnbound, i18n.Args{"Count": len(all)})}
	var copied []string // what people copy
	for _, one := range all[:min(len(all), shownWindows)] {
		lines, copied = append(lines, w.line(one)), append(copied, w.chat.ShortTail(dirOf(one)))
		if !canAdopt(one) { // only the desk can tell what it is
			command := one.Attach
			lines = append(lines, "   "+w.words.Say(i18n.AttachHint, i18n.Args{"Command": command}))
			copied = append(copied, command)
		}
	}
	if more := len(all) - shownWindows; more > 0 {
		lines = append(lines, "• "+w.words.Say(i18n.AndMore, i18n.Args{"Count": more}))
	}
	return chat.Marked(strings.Join(lines, "\n"), copied...)
}

// line is one window in one line: the window's id and name, what runs in the window and where, and
// of a proven agent which conversation the agent writes.
func (w *Windows) line(one desk.Window) string {
	parts := []string{chat.Tail(glyph.Name(one.Command), 24)}
	switch {
	case one.Agent != nil:
		parts[0] = w.chat.ProcessText(one.Agent.Process)
	case one.Dead:
		parts[0] = w.words.Say(i18n.WindowDead)
	}
	if dir := w.chat.ShortTail(dirOf(one)); dir != "" {
		parts = append(parts, dir)
	}
	if one.Agent != nil {
		id := one.Agent.Claude.String()[:8]
		parts = append(parts, w.words.Say(i18n.WindowConversation, i18n.Args{"ID": id}))
	}
	name := chat.Tail(glyph.Name(one.Name), 40)
	return fmt.Sprintf("• %s %s: %s", one.Window, name, strings.Join(parts, ", "))
}

// dirOf is where the work in a window is done.
func dirOf(one desk.Window) string {
	if one.Agent != nil && one.Agent.Dir != "" {
		return one.Agent.Dir
	}
	return one.Dir
}

// canAdopt reports whether a window's agent can be made a session's, and so be archived: the agent
// is proven, protected by nothing, and in a terminal of ours.
func canAdopt(one desk.Window) bool { return one.Agent != nil && one.Agent.Adoptable }

// asShown names a window as it is shown: with another process in it, or another conversation, it is
// not the same any more.
func asShown(one desk.Window) chat.Window {
	text := string(one.ID)
	if a := one.Agent; a != nil {
		text += fmt.Sprintf(" %s %s", a.ID, a.Claude)
	}
	return chat.Window{ID: one.Window, Shown: text}
}

// options are what can be done about a window. Of several windows each option names its window.
func (w *Windows) options(one desk.Window, named bool) (row []card.Option) {
	add := func(label i18n.Key, word string, style outbox.Style) {
		option := w.chat.Option(label, word+":"+one.Window, style)
		if named {
			option.Text += " " + one.Window
		}
		row = append(row, option)
	}
	if canAdopt(one) {
		add(i18n.ButtonAdopt, adoptWord, outbox.Primary)
		add(i18n.ButtonArchive, askWord, outbox.Danger)
	}
	add(i18n.ButtonIgnore, ignoreWord, "")
	return row
}

// archiveQuestion says what an archive of a window's agent ends, and what stays.
func (w *Windows) archiveQuestion(one desk.Window) string {
	text := []string{w.words.Say(i18n.WindowArchive, i18n.Args{"Window": nameOf(one),
		"Process": w.chat.ProcessText(one.Agent.Process)})}
	if len(one.Others) > 0 {
		var names []string
		for _, p := range one.Others {
			names = append(names, w.chat.ProcessText(p))
		}
		text = append(text, w.words.Say(i18n.WindowStays, i18n.Args{"Details": w.chat.Some(names, "; ")}))
	}
	end := i18n.WindowKept
	if one.Closes { // the pane was made for that agent
		end = i18n.WindowCloses
	}
	return strings.Join(append(text, w.words.Say(end)), "\n")
}

// nameOf is what people know a window by.
func nameOf(one desk.Window) string {
	return strings.TrimSpace(one.Window + " " + chat.Tail(glyph.Name(one.Name), 40))
}
