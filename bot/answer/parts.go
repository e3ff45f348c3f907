package answer

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/talk"
)

// rendition holds the chat's parts of an item, and their form as in a cursor.
type rendition struct {
	form  string
	parts []render.Part
}

// Forms of a cursor that counts parts other than plain messages.
const (
	formRich       = "rich"
	formUnrendered = "unrendered" // the unrendered words of an item
)

// counts reports whether a cursor counts these parts: the server may have gained rich messages, or
// the program a new renderer.
func (s rendition) counts(c talk.Cursor) bool {
	return c.Form == s.form && c.Part < len(s.parts)
}

// rendered returns an item's parts in the form that the server accepts; most kinds have none. prompted
// is when its turn began.
func (a *Answers) rendered(ctx context.Context, r port.Session, prompted time.Time, item talk.Item) rendition {
	name := i18n.Args{"Name": r.Name}
	if item.Rest != nil && (item.Kind != talk.Thinking || a.Thinking) {
		return rendition{parts: a.Long.Parts(r, item)}
	}
	switch item.Kind {
	case talk.Text:
		return a.markdown(r, item)
	case talk.Thinking:
		if a.Thinking {
			return a.markdown(r, item)
		}
	case talk.LocalOutput:
		if item.Failed.Phase == talk.PhaseBlocked {
			return rendition{parts: asTheyAre(a.failureText(r, item))}
		}
		if item.Off {
			why := a.Chat.In(r.Conversation).Text(i18n.CommandOff)
			return rendition{parts: asTheyAre(chat.Lines(render.Plain(strings.TrimRight(item.Text, "\n")), why))}
		}
		return rendition{parts: a.Outputs.Parts(ctx, r, item)}
	case talk.LocalCommand:
		if item.Text == "/clear" && a.InFull(r) { // it begins the file of a conversation
			return rendition{parts: asTheyAre(a.Chat.In(r.Conversation).Text(i18n.ConversationNew, name))}
		}
	case talk.PlanBegun:
		if a.InFull(r) {
			return rendition{parts: asTheyAre(a.Chat.In(r.Conversation).Text(i18n.ConversationPlan, name))}
		}
	case talk.GoalPaused:
		if a.InFull(r) {
			return rendition{parts: asTheyAre(a.Chat.In(r.Conversation).Text(i18n.GoalPaused, name))}
		}
	case talk.ScheduleFired:
		if a.InFull(r) {
			name["Said"] = chat.Head(chat.FirstLine(item.Text), noticeRoom)
			return rendition{parts: asTheyAre(a.Chat.In(r.Conversation).Text(i18n.OwnSchedule, name))}
		}
	case talk.APIError:
		return rendition{parts: asTheyAre(a.failureText(r, item))}
	case talk.Interrupt:
		word := i18n.Interrupted
		if now, _ := a.Chat.Book.Records.Get(r.ID); len(now.Prompts) > 0 { // a stop leaves none: the turn made way for the next one
			word = i18n.TurnInterrupted
		}
		text := chat.Lines(a.Chat.In(r.Conversation).Text(word, name), a.Chat.By(r.Conversation, a.Stops.StoppedBy(r.ID, prompted)))
		return rendition{parts: asTheyAre(text)}
	case talk.ToolResult:
		return rendition{parts: a.pictures(item)}
	}
	return rendition{}
}

// failureText describes a failure in full, with one next step.
func (a *Answers) failureText(r port.Session, item talk.Item) render.Text {
	failed, reason := item.Failed, item.Text
	if failed.Phase == talk.PhaseBlocked {
		_, reason, _ = strings.Cut(reason, "\n") // the first line is Claude Code's: a hook blocked a prompt
	}
	p, said := a.Chat.In(r.Conversation), i18n.Args{"Name": r.Name, "Reason": strings.TrimRight(reason, " .\n"), "Agent": chat.AgentName(r)}
	switch {
	case failed.Phase == talk.PhaseLoggedOut:
		said["Command"] = r.Attach
		return p.Text(i18n.FailedLogin, said)
	case failed.Phase == talk.PhaseBlocked && said["Reason"] == "":
		return p.Text(i18n.FailedHookMute, said)
	case failed.Phase == talk.PhaseBlocked:
		return p.Text(i18n.FailedHook, said)
	case failed.Phase == talk.PhaseLimited && !failed.Until.IsZero():
		said["At"] = p.At(failed.Until)
		return p.Text(i18n.FailedLimit, said)
	case item.Cause == talk.FailedContext:
		if said["Command"] = "/clear"; r.Can.Prose { // such an agent has it in its terminal only
			said["Command"] = "/new"
		}
		return p.Text(i18n.FailedContext, said)
	case item.Cause == talk.FailedAgain && r.Can.Compact && r.Can.Prose:
		return p.Text(i18n.FailedAgainAside, said)
	case item.Cause == talk.FailedAgain && r.Can.Compact:
		return p.Text(i18n.FailedAgain, said)
	case item.Cause == talk.FailedAccount:
		return p.Text(i18n.FailedAccount, said)
	}
	return p.Text(i18n.APIError, said)
}

// unrendered returns an item's plain words, for items whose rendering panics.
func unrendered(_ port.Session, item talk.Item) rendition {
	return rendition{form: formUnrendered, parts: asTheyAre(render.Plain(item.Text))}
}

// asTheyAre returns parts that look the same on every server.
func asTheyAre(text render.Text) []render.Part {
	part := func(t render.Text) render.Part { return render.Part{Text: t} }
	return visibleParts(each.As(text.Split(render.Limit-HeadingRoom), part))
}

// isForeign reports whether an item does not belong to the shown conversation: it is a subagent's,
// was injected, or was copied from the original, whose items are all in the file of a copy.
func isForeign(r port.Session, item talk.Item) bool {
	history := r.ForkOf != uuid.Nil && !item.Time.IsZero() && item.Time.Before(r.CreatedAt)
	return item.Sidechain || item.Meta || history
}

// markdown returns an agent's text, or its thinking, folded.
func (a *Answers) markdown(r port.Session, item talk.Item) rendition {
	form, as := "", render.Entities
	if a.Rich && a.Sender.TakesRich() {
		form, as = formRich, render.Rich
	}
	if item.Kind == talk.Text {
		return rendition{form, visibleParts(as(item.Text, HeadingRoom))}
	}
	parts := render.ThinkingParts(form == formRich, a.Chat.In(r.Conversation).Say(i18n.Thought), item.Text, HeadingRoom)
	return rendition{form, visibleParts(parts)}
}

// visibleParts removes parts without visible content.
func visibleParts(all []render.Part) (parts []render.Part) {
	for _, p := range all {
		if p.File != nil || !p.Text.Blank() || !render.Plain(p.Rich).Blank() {
			parts = append(parts, p)
		}
	}
	return parts
}

// maxPhotos is the number of pictures of one result that are shown as photos.
const maxPhotos = 3

// photos holds the file extensions of the images that Telegram shows as photos.
var photos = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}

// pictures returns the images of a tool's result as files: photos or documents.
func (a *Answers) pictures(item talk.Item) (parts []render.Part) {
	for i, image := range item.Images {
		size := image.Length / 4 * 3 // of the decoded image
		if size == 0 {
			continue // it cannot be seen anywhere
		}
		suffix := photos[image.MediaType]
		file := render.File{Name: fmt.Sprintf("image-%d%s", i+1, suffix), Photo: suffix != "" && size <= outbox.MaxPhoto && i < maxPhotos}
		file.Open = func(ctx context.Context) (render.Content, error) {
			f, err := a.Chat.Bodies.Open(ctx, func(ctx context.Context) (folders.File, error) { return a.Transcripts.Image(ctx, item.At, image) })
			return render.Content{Body: f, Size: f.Size}, err
		}
		parts = append(parts, render.Part{File: &file})
	}
	return parts
}
