package bot

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// said is what the chat shows of an item. form is that of its parts, as a cursor
// names it.
type said struct {
	form  string
	parts []render.Part
}

// The forms of a cursor that counts other messages than plain ones.
const (
	formRich       = "rich"
	formUnrendered = "unrendered" // the words of an item as they are
)

// counts says whether the parts of a cursor are these: the server may have got
// rich messages since, or the program another renderer.
func (s said) counts(c transcript.Cursor) bool {
	return c.Form == s.form && c.Part < len(s.parts)
}

// parts are what the chat shows of an item; most kinds show nothing.
func (a *answers) parts(r session.Record, item transcript.Item) said {
	if isForeign(r, item) {
		return said{}
	}
	name := i18n.Args{"Name": r.Name, "Reason": item.Text}
	switch item.Kind {
	case transcript.Text:
		return a.rendered(item.Text)
	case transcript.LocalOutput:
		if isOutput(item) {
			return said{parts: a.outputs.Parts(r, item)}
		}
		if !render.Plain(item.Text).Blank() {
			return a.rendered(fenced(item.Text))
		}
	case transcript.APIError:
		return inParts(render.Plain(a.words.Say(i18n.APIError, name)))
	case transcript.Interrupt:
		return inParts(render.Plain(a.words.Say(i18n.Interrupted, name) + a.goingNow(r)))
	case transcript.Thinking:
		if a.Thinking {
			return a.thought(item.Text)
		}
	case transcript.ToolResult:
		return said{parts: pictures(item.Images)}
	}
	return said{}
}

// isOutput says whether an item is what a command of bash mode has printed.
func isOutput(item transcript.Item) bool {
	return item.Kind == transcript.LocalOutput && item.Command == "!" // as transcripts have it
}

// isForeign says whether an item is not of the conversation that the chat shows:
// a subagent's, injected, or of the one that this began as a copy of.
func isForeign(r session.Record, item transcript.Item) bool {
	return item.Sidechain || item.Meta || isHistory(r, item)
}

// isHistory says whether a conversation that began as a copy has an item from the
// one it was copied from: its file is made at the first prompt, with all of that.
func isHistory(r session.Record, item transcript.Item) bool {
	return r.ForkOf != uuid.Nil && !item.Time.IsZero() && item.Time.Before(r.CreatedAt)
}

// rendered is Markdown in the form that the server takes.
func (a *answers) rendered(markdown string) said {
	form, as := a.renderer()
	return said{form: form, parts: visibleParts(as.Render(markdown, nameRoom))}
}

// unrendered are an answer's words as they are, where rendering them panics.
func unrendered(r session.Record, item transcript.Item) said {
	if isForeign(r, item) {
		return said{}
	}
	all := inParts(render.Plain(strings.ToValidUTF8(item.Text, "\uFFFD")))
	return said{form: formUnrendered, parts: visibleParts(all.parts)}
}

// thought is what an agent thought, folded until somebody opens it.
func (a *answers) thought(text string) said {
	form, as := a.renderer()
	return said{form: form, parts: visibleParts(render.ThinkingParts(as, a.words.Say(i18n.Thought), text, nameRoom))}
}

// renderer is that of the form that the server takes.
func (a *answers) renderer() (form string, as render.Renderer) {
	if a.Rich && a.Sender.TakesRich() {
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
func inParts(text render.Text) (s said) {
	for _, t := range text.Split(render.Limit - nameRoom) {
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
func pictures(images []transcript.Image) (parts []render.Part) {
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

// suffixOf is the ending of a picture's name; empty for what Telegram shows no
// photo of.
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

// goingNow says that prompts waited behind an interrupted turn: they are typed
// now.
func (a *answers) goingNow(r session.Record) string {
	if len(r.Prompts) == 0 {
		return ""
	}
	return " " + a.words.Say(i18n.InterruptedQueue, i18n.Args{"Count": len(r.Prompts)})
}

// named puts a session's name above an answer that is shown although another
// session is the current one.
func (p *passage) named(r session.Record, part render.Part, i int) render.Part {
	if i > 0 || !isAnswer(p.item) || p.IsInFront(r) {
		return part
	}
	if all := headed(r, []render.Part{part}); len(all) == 1 {
		return all[0]
	}
	return part
}
