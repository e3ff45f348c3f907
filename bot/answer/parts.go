package answer

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/bot/port/talk"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// rendition is what the chat shows of an item. form is that of the parts, as a cursor names the
// form.
type rendition struct {
	form  string
	parts []render.Part
}

// The forms of a cursor that counts other messages than plain ones.
const (
	formRich       = "rich"
	formUnrendered = "unrendered" // the words of an item as they are
)

// counts reports whether a cursor counts these parts: the server may have got rich messages since,
// or the program another renderer.
func (s rendition) counts(c talk.Cursor) bool {
	return c.Form == s.form && c.Part < len(s.parts)
}

// parts are what the chat shows of an item; most kinds show nothing.
func (a *Answers) parts(r views.Session, item talk.Item) rendition {
	if isForeign(r, item) {
		return rendition{}
	}
	name := i18n.Args{"Name": r.Name, "Reason": item.Text}
	switch item.Kind {
	case talk.Text:
		return a.rendered(item.Text)
	case talk.LocalOutput:
		if isOutput(item) {
			return rendition{parts: a.Outputs.Parts(r, item)}
		}
		if !render.Plain(item.Text).Blank() {
			return a.rendered(fenced(item.Text))
		}
	case talk.APIError:
		return inParts(render.Plain(a.Chat.Words.Say(i18n.APIError, name)))
	case talk.Interrupt:
		return inParts(render.Plain(a.Chat.Words.Say(i18n.Interrupted, name) + a.queued(r)))
	case talk.Thinking:
		if a.Thinking {
			return a.thought(item.Text)
		}
	case talk.ToolResult:
		return rendition{parts: pictures(item.Images)}
	}
	return rendition{}
}

// isOutput reports whether an item is what a command of bash mode has printed.
func isOutput(item talk.Item) bool {
	return item.Kind == talk.LocalOutput && item.Command == "!" // as transcripts have it
}

// isForeign reports whether an item is not of the conversation that the chat shows: the item is a
// subagent's, or was injected, or is of the conversation that this one began as a copy of.
func isForeign(r views.Session, item talk.Item) bool {
	return item.Sidechain || item.Meta || isHistory(r, item)
}

// isHistory reports whether a conversation that began as a copy has an item from the original: the
// file of a copy is made at the first prompt, with all of the original in it.
func isHistory(r views.Session, item talk.Item) bool {
	return r.ForkOf != uuid.Nil && !item.Time.IsZero() && item.Time.Before(r.CreatedAt)
}

// rendered is Markdown in the form that the server takes.
func (a *Answers) rendered(markdown string) rendition {
	form, as := a.renderer()
	return rendition{form: form, parts: visibleParts(as.Render(markdown, HeadingRoom))}
}

// unrendered are an answer's words as they are, where rendering them panics.
func unrendered(r views.Session, item talk.Item) rendition {
	if isForeign(r, item) {
		return rendition{}
	}
	all := inParts(render.Plain(strings.ToValidUTF8(item.Text, "\uFFFD")))
	return rendition{form: formUnrendered, parts: visibleParts(all.parts)}
}

// thought is what an agent thought, folded until somebody opens it.
func (a *Answers) thought(text string) rendition {
	form, as := a.renderer()
	parts := render.ThinkingParts(as, a.Chat.Words.Say(i18n.Thought), text, HeadingRoom)
	return rendition{form: form, parts: visibleParts(parts)}
}

// renderer is that of the form that the server takes.
func (a *Answers) renderer() (form string, as render.Renderer) {
	if a.Rich && a.Limits.TakesRich() {
		return formRich, render.Rich{}
	}
	return "", render.Entities{}
}

// visibleParts leaves out parts of which nothing is seen.
func visibleParts(all []render.Part) (parts []render.Part) {
	for _, p := range all {
		if p.File != nil || !p.Text.Blank() || !render.Plain(p.Rich).Blank() {
			parts = append(parts, p)
		}
	}
	return parts
}

// inParts is a text as it is, on every server.
func inParts(text render.Text) (s rendition) {
	for _, t := range text.Split(render.Limit - HeadingRoom) {
		s.parts = append(s.parts, render.Part{Text: t})
	}
	return s
}

// fenced is a text as a block of code, whatever is in it.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}

// maxPhotos is how many pictures of one result are shown as photos.
const maxPhotos = 3

// pictures are the images of a tool's result. What is no photo is a document.
func pictures(images []talk.Image) (parts []render.Part) {
	for i, image := range images {
		data, err := base64.StdEncoding.DecodeString(image.Data)
		if err != nil || len(data) == 0 {
			continue // nothing that could be seen anywhere
		}
		suffix := suffixOf(image.MediaType)
		parts = append(parts, render.Part{File: &render.File{Name: fmt.Sprintf("image-%d%s", i+1, suffix), Data: data,
			Photo: suffix != "" && len(data) <= outbox.MaxPhoto && i < maxPhotos}})
	}
	return parts
}

// suffixOf is the ending of a picture's name; empty for what Telegram shows no photo of.
func suffixOf(mediaType string) string {
	switch mediaType {
	case "image/png":
		return ".png"
	case "image/jpeg":
		return ".jpg"
	case "image/gif":
		return ".gif"
	case "image/webp":
		return ".webp"
	}
	return ""
}

// queued says that prompts waited behind an interrupted turn: the prompts are typed now.
func (a *Answers) queued(r views.Session) string {
	if len(r.Prompts) == 0 {
		return ""
	}
	return " " + a.Chat.Words.Say(i18n.InterruptedQueue, i18n.Args{"Count": len(r.Prompts)})
}
