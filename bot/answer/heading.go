package answer

import (
	"strings"

	"ccbot/bot/outbox"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/internal/glyph"
)

// headed puts a session's name above the first part.
func headed(r views.Session, parts []render.Part) []render.Part {
	name, first := title(r), parts[0]
	switch {
	case name.Blank():
		return parts
	case first.File != nil && render.Join(name, first.Text).Length() > outbox.MaxCaption:
		return append([]render.Part{{Text: name}}, parts...)
	case first.Rich != "":
		first.Rich = "**" + render.Literal(strings.TrimSpace(name.Text)) + "**\n\n" + first.Rich
	}
	first.Text = render.Join(name, first.Text)
	return append([]render.Part{first}, parts[1:]...)
}

// Heading is the name above what a session shows that is not the current one.
func (a *Answers) Heading(r views.Session) render.Text {
	if a.Chat.Book.IsInFront(r) {
		return render.Text{}
	}
	return title(r)
}

// title is a session's name above what the session has said; empty for a blank name.
func title(r views.Session) render.Text {
	name := render.Bold(glyph.Name(r.Name)).Split(HeadingRoom - 2)
	if len(name) == 0 {
		return render.Text{}
	}
	return render.Join(name[0], render.Plain("\n"))
}

// HeadingRoom is kept free for the heading, in UTF-16 units: where a text is cut must not depend on
// whether the text has a heading, because a cursor counts the parts.
const HeadingRoom = 200
