package answer

import (
	"cmp"
	"context"
	"strings"
	"time"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/guard"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/talk"
)

// joined holds consecutive texts of an agent that were written while the first one waited for its
// turn in the chat. They are sent as one message, or as one file if they are too long.
type joined struct {
	items []talk.Item
	parts []render.Part // the chat's part of each item
	units int           // upper bound of the message's length
	rich  int           // upper bound of its bytes as Markdown
	ends  chat.Occasion // a turn ends among them or after the last one: they sound
}

const (
	// maxRich bounds a joined rich message in bytes, below Telegram's limit.
	maxRich = 16 << 10
	// maxPile bounds the UTF-16 units sent as messages if more texts wait: three full messages.
	maxPile = 3 * render.Limit
	// maxAhead is roughly the bytes of items read for one joined message or file.
	maxAhead = 4 << 20
	itemSize = 256
	// piled is the number of texts in a file's preview, at its beginning and at its end.
	piled = 3
)

// savedWithin bounds the wait of a growing message for its session, which may be busy with an end,
// because the chat waits too. Texts not saved in time become separate messages.
const savedWithin = 200 * time.Millisecond

func (j joined) with(item talk.Item, p render.Part) joined {
	return joined{append(j.items, item), append(j.parts, p), j.units + p.Text.Length() + 2, j.rich + len(asRich(p)) + 2,
		cmp.Or(j.ends, endedBy(item))}
}

// fits reports whether the texts are one message.
func (j joined) fits() bool {
	return len(j.parts) == 1 || j.units <= render.Limit && j.rich <= maxRich
}

// next returns the cursor after the last text.
func (j joined) next() talk.Cursor { return j.items[len(j.items)-1].Next }

func (j joined) message() render.Part {
	whole := j.parts[0]
	for _, p := range j.parts[1:] {
		if whole.Rich != "" || p.Rich != "" {
			whole.Rich = asRich(whole) + "\n\n" + asRich(p)
		}
		whole.Text = render.Join(whole.Text, render.Plain("\n\n"), p.Text)
	}
	return whole
}

func asRich(p render.Part) string {
	if p.Rich != "" {
		return p.Rich
	}
	return render.Literal(p.Text.Text)
}

// file returns a file of the unchanged texts, with a preview of the first and last ones.
func (a *Answers) file(r port.Session, items []talk.Item) render.Part {
	var words, shown []string
	for i, item := range items {
		words = append(words, item.Text)
		if i < piled || i >= len(items)-piled {
			shown = append(shown, firstLine(item.Text))
		}
	}
	if len(items) > 2*piled {
		shown[piled-1] += "\n…"
	}
	text := a.Chat.In(r.Conversation).Say(i18n.AnswersFile, i18n.Args{"Count": len(items)}) + "\n" + strings.Join(shown, "\n")
	data := strings.Join(words, "\n\n") + "\n"
	caption := render.Plain(text).Begin(outbox.MaxCaption - HeadingRoom)
	return render.Part{Text: caption, File: &render.File{Name: "answers.md", Data: []byte(data)}}
}

// gather adds the texts that already follow in the transcript while wanted returns true, and
// returns the number of items that it used. It stops at any other visible item and at a prompt:
// answers to two prompts are two messages. After the end of a turn it joins only texts of a session
// that is always shown in full.
func (t *transcriptReader) gather(ctx context.Context, r port.Session, j joined, draw drawing, wanted func(joined) bool) (joined, int) {
	items, front, ended := 0, t.answers.Chat.Book.IsInFront(r), false
	for n, size := 0, 0; size < maxAhead; n++ {
		item, ok := t.peek(ctx, n)
		if !ok || item.FromPerson || item.Ends != "" && !front {
			break
		}
		size += itemSize + len(item.Text)
		ended = ended || item.Ends != ""
		if isForeign(r, item) {
			continue
		}
		var parts []render.Part
		err := guard.Call(func() error { parts = draw(r, item).parts; return nil })
		if err == nil && len(parts) == 0 {
			continue
		}
		if err != nil || item.Kind != talk.Text || len(parts) > 1 || parts[0].File != nil {
			break
		}
		all := j.with(item, parts[0])
		if !wanted(all) {
			break
		}
		j, items = all, n+1
		if ended {
			j.ends = chat.TurnDone
		}
	}
	return j, items
}

// drop removes items from the read-ahead that were shown with the item before them.
func (t *transcriptReader) drop(r port.Session, items int) {
	for _, item := range t.ahead[:items] {
		t.answers.OnItem(r.ID, item)
		t.note(r, item)
		if item.Ends != "" {
			t.answers.endTurn(r, item)
		}
	}
	t.ahead = t.ahead[items:]
}

// keep stores the number of joined texts before they are sent: after a crash the same texts are
// joined again.
func (t *transcriptReader) keep(ctx context.Context, r port.Session, j joined, items int) bool {
	at := j.items[0].At
	at.Joined = len(j.items)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), savedWithin)
	defer cancel()
	if items == 0 || t.answers.note(ctx, r, at) != nil {
		return false
	}
	t.drop(r, items)
	return true
}

// sendJoined sends a text with the texts that an earlier try joined to it. Otherwise the message
// grows while it waits; if too much waits already, all of it becomes a file. It returns the cursor
// after the sent texts.
func (t *transcriptReader) sendJoined(ctx context.Context, r port.Session, j joined, draw drawing) (talk.Cursor, error) {
	before := j.items[0].At.Joined
	switch {
	case before > 1:
		all, items := t.gather(ctx, r, j, draw, func(j joined) bool { return len(j.items) <= before })
		t.drop(r, items)
		j = all
	case !t.noFiles:
		all, items := t.gather(ctx, r, j, draw, func(joined) bool { return true })
		if all.units > maxPile && t.keep(ctx, r, all, items) {
			j = all
		}
	}
	if !j.fits() {
		return t.sendFile(ctx, r, j)
	}
	l := t.outgoing(r, j.message(), j.ends)
	l.written, l.next = j.items[0].Time, j.next()
	last := func() talk.Item { return j.items[len(j.items)-1] }
	l.ends = t.sound(ctx, r, last(), j.ends)
	silent := l.ends != j.ends
	if before <= 1 {
		l.more = func() (render.Part, chat.Occasion, talk.Cursor) {
			j = t.grow(ctx, r, j, draw)
			if silent {
				return j.message(), "", j.next()
			}
			return j.message(), t.sound(ctx, r, last(), j.ends), j.next()
		}
	}
	err := t.answers.deliver(ctx, l)
	t.silent, t.awaited = t.silent && j.ends == "", t.awaited && j.ends == ""
	return j.next(), err // it may have grown
}

// sendFile sends texts as a file. If the chat refuses files, they are sent as messages.
func (t *transcriptReader) sendFile(ctx context.Context, r port.Session, j joined) (talk.Cursor, error) {
	l := t.outgoing(r, headed(t.answers.Heading(r), t.answers.file(r, j.items)), j.ends)
	l.written, l.next = j.items[0].Time, j.next()
	l.ends = t.sound(ctx, r, j.items[len(j.items)-1], j.ends)
	err := t.answers.sendFile(context.WithoutCancel(ctx), &l)
	if !chat.IsRefused(err) {
		t.silent, t.awaited = t.silent && j.ends == "", t.awaited && j.ends == ""
		return j.next(), err
	}
	t.answers.Chat.Log.Warn("answers_file_refused", logkey.SessionID, r.ID.String(), logkey.Error, err)
	t.noFiles = true
	alone := j.items[0].At
	alone.Joined = 0
	if err := t.answers.note(context.WithoutCancel(ctx), r, alone); err != nil {
		return alone, err // the file is tried again
	}
	return alone, errReadAgain
}

// grow adds the texts written since, when the turn of a message has come.
func (t *transcriptReader) grow(ctx context.Context, r port.Session, j joined, draw drawing) joined {
	err := guard.Call(func() error {
		if !t.answers.InFull(r) {
			return nil
		}
		if all, items := t.gather(ctx, r, j, draw, joined.fits); t.keep(ctx, r, all, items) {
			j = all
		}
		return nil
	})
	if err != nil {
		t.answers.Chat.Log.Error("answers_not_joined", logkey.SessionID, r.ID.String(), logkey.Error, err)
	}
	return j
}
