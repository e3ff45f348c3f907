package history

import (
	"context"
	"strings"
	"time"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/clip"
	"ccbot/internal/glyph"
	"ccbot/port/folders"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

const (
	shownText  = 240  // letters of an entry in a list
	shownTools = 4    // of an entry
	shownTool  = 24   // letters of a tool's name
	shownWord  = 60   // letters of what was searched for
	partRoom   = 3500 // of a whole entry, in UTF-16 units
)

// whose holds the names of entries; an answer has the agent's.
var whose = map[talk.EntryKind]i18n.Key{talk.EntryPrompt: i18n.HistoryPrompt, talk.EntryCompacted: i18n.HistoryCompacted}

// head returns the line above an entry: number, author, time, and a summary of the tools.
func (d drawing) head(number string, e talk.Entry) render.Text {
	if number != "" {
		number += ". "
	}
	var more []string
	if !e.Time.IsZero() {
		more = append(more, d.Moment(e.Time))
	}
	if len(e.Tools) > 0 {
		count := 0
		var names []string
		for _, t := range e.Tools { // in one line: "7 tool calls: Edit 3, Bash 4"
			count += t.Count
			names = append(names, chat.Head(glyph.Name(t.Name), shownTool)+" "+d.Number(int64(t.Count)))
		}
		list := d.First(shownTools, names, d.Say(i18n.JoinNames))
		more = append(more, d.Say(i18n.HistoryTools, i18n.Args{"Count": count, "Details": list}))
	}
	if e.Images > 0 {
		more = append(more, d.Say(i18n.HistoryPictures, i18n.Args{"Count": e.Images}))
	}
	if e.Interrupted {
		more = append(more, d.Say(i18n.HistoryInterrupted))
	}
	author := chat.AgentName(d.session)
	if key, ok := whose[e.Kind]; ok {
		author = d.Say(key)
	}
	head := render.Bold(number + author)
	if len(more) == 0 {
		return head
	}
	return render.Join(head, render.Plain(" · "+strings.Join(more, " · ")))
}

// short returns an entry of a list: the beginning of a prompt, or of an answer's last text.
func (d drawing) short(number string, e talk.Entry) render.Text {
	text := ""
	if len(e.Texts) > 0 && e.Kind == talk.EntryPrompt {
		text = chat.OneLine(clip.Bytes(strings.Join(e.Texts, " "), 8*shownText, ""))
	} else if len(e.Texts) > 0 {
		text = chat.OneLine(render.Markdown(clip.Bytes(e.Texts[len(e.Texts)-1], 8*shownText, "")).Text)
	}
	body := render.Plain(chat.Head(text, shownText))
	if e.Kind == talk.EntryPrompt && text != "" {
		body = render.Quote(chat.Head(text, shownText))
	}
	return chat.Lines(d.head(number, e), body)
}

// markup removes Markdown signs that disturb in an excerpt.
var markup = strings.NewReplacer("**", "", "`", "")

// excerpt returns the text next to a hit in one line, with the blank that separates them.
func excerpt(text string) string {
	const edge = "x" // not a blank
	text = chat.OneLine(edge + markup.Replace(text) + edge)
	return text[len(edge) : len(text)-len(edge)]
}

// read shows a whole entry in parts, with links to its neighbors.
func (d drawing) read(ctx context.Context, v view) (s chat.Screen, err error) {
	entries, err := d.said.Read(ctx, d.session.ID, v.At, talk.Newer, 2)
	if err != nil {
		return s, err
	}
	if len(entries) == 0 {
		return s, &refusal.Error{Code: refusal.Replaced}
	}
	before, err := d.said.Read(ctx, d.session.ID, v.At, talk.Older, 1)
	if err != nil {
		return s, err
	}
	e := entries[len(entries)-1]
	parts := d.whole(e).Split(partRoom)
	part := card.PartOf(len(parts), 1, v.Part)
	text := []render.Text{d.head("", e)}
	if len(parts) > 0 {
		text = append(text, parts[part.Page])
	}
	if len(parts) > 1 {
		text = append(text, render.Plain(d.Say(i18n.HistoryPart, i18n.Args{"Page": part.Page + 1, "Pages": len(parts)})))
	}
	s = chat.Screen{Text: chat.Paragraphs(text...), Back: v.Back}
	turns := part.Turns(func(to int) card.Option {
		return d.to("", view{What: read, At: v.At, Part: to, Back: v.Back})
	})
	var beside []card.Option
	if len(entries) > 1 {
		beside = append(beside, d.to(d.Say(i18n.ButtonNewer), view{What: read, At: entries[0].At, Back: v.Back}))
	}
	if len(before) > 0 {
		beside = append(beside, d.to(d.Say(i18n.ButtonOlder), view{What: read, At: before[0].At, Back: v.Back}))
	}
	s.Options = [][]card.Option{turns, beside}
	return s, nil
}

// whole returns the whole text of an entry.
func (d drawing) whole(e talk.Entry) render.Text {
	text := strings.Join(e.Texts, "\n\n")
	body := render.Markdown(text)
	if e.Kind == talk.EntryPrompt {
		body = render.Quote(text)
	}
	if e.Cut {
		body = chat.Paragraphs(body, render.Plain(d.Say(i18n.HistoryCut)))
	}
	return body
}

const (
	// maxFile bounds the file of a conversation, in bytes: a phone can open that much.
	maxFile = 20 << 20
	sendFor = 2 * time.Minute
)

// inFile makes a session's name valid as a file name on any system.
var inFile = strings.NewReplacer("/", "-", `\`, "-", ":", "-", "*", "-", "?", "-", `"`, "-", "<", "-", ">", "-", "|", "-")

// do sends the conversation as a file.
func (h *History) do(_ context.Context, v chat.Visit, what string) (a chat.Answer, next string, err error) {
	r, _, ok := h.session(v)
	p := h.chat.In(v.To)
	if !ok || what != file {
		return chat.Answer{Text: p.Say(i18n.SessionGone)}, "", nil
	}
	a.Text = p.Say(i18n.HistoryWriting)
	a.Then = func(ctx context.Context) error {
		say := func(key i18n.Key) string {
			return p.Say(key, i18n.Args{"Name": r.Name, "Size": p.Size(maxFile)})
		}
		words := talk.Words{Title: say(i18n.HistoryTitle), Prompt: say(i18n.HistoryPrompt),
			Answer: chat.AgentName(r), Compacted: say(i18n.HistoryCompacted), Interrupted: say(i18n.HistoryInterrupted),
			Picture: say(i18n.HistoryPicture), Cut: say(i18n.HistoryFileCut)}
		f, err := h.chat.Bodies.Open(ctx, func(ctx context.Context) (folders.File, error) { return h.exports.Export(ctx, r.ID, maxFile, words) })
		switch {
		case refusal.Is(err, refusal.Unsaid, refusal.Replaced):
			return nil // the page reports it
		case err != nil:
			return err
		}
		defer f.Close()
		ctx, cancel := context.WithTimeout(ctx, sendFor)
		defer cancel()
		_, err = h.chat.Sender.SendFile(ctx, outbox.File{To: v.To, Name: inFile.Replace(chat.ShownName(r.Name)) + ".md", Body: f, Size: f.Size, Session: r.ID})
		return err
	}
	return a, "", nil
}
