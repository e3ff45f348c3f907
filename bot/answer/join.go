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

// joined are texts of an agent that follow each other, and go together: those that were said while
// the first one waited for its turn in the chat. They are one message, or, where they are too long
// for that, one file.
type joined struct {
	items []talk.Item
	parts []render.Part // what the chat shows of each
	units int           // of the one message, at most
	rich  int           // bytes of it as Markdown, at most
	ends  chat.Occasion // a turn ends among them, or with the last one: they sound
}

const (
	// maxRich is the most bytes of a joined rich message; a message of Telegram's has some more.
	maxRich = 16 << 10
	// maxPile is the most UTF-16 units that go as messages where more waits: three full ones.
	maxPile = 3 * render.Limit
	// maxAhead is about how many bytes of items are read for one joined message, or one file.
	maxAhead = 4 << 20
	itemSize = 256
	// piled is how many texts a file shows of its beginning, and of its end.
	piled = 3
)

// savedWithin is how long a message that grows waits for its session, which may be busy with an end:
// the chat waits meanwhile. What is not saved by then goes in messages of its own.
const savedWithin = 200 * time.Millisecond

func (j joined) with(item talk.Item, p render.Part) joined {
	return joined{append(j.items, item), append(j.parts, p), j.units + p.Text.Length() + 2, j.rich + len(asRich(p)) + 2,
		cmp.Or(j.ends, endedBy(item))}
}

// fits reports whether the texts are one message.
func (j joined) fits() bool {
	return len(j.parts) == 1 || j.units <= render.Limit && j.rich <= maxRich
}

// next is the cursor behind the last text.
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

// file is a file with the texts as the agent wrote them, which shows how they begin and end.
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

// gather adds the texts that follow in the transcript by now, while they are wanted, and gives how
// many items that takes. Between two texts there is nothing that the chat shows, and no prompt: the
// answers to two prompts are two messages. Behind the end of a turn the texts are joined only where
// what the session says is shown in full in any turn.
func (t *transcriptReader) gather(ctx context.Context, r port.Session, j joined, draw drawing, wanted func(joined) bool) (joined, int) {
	items, front, ended := 0, t.answers.Chat.Book.IsInFront(r), false
	for n, size := 0, 0; size < maxAhead; n++ {
		item, ok := t.peek(ctx, n)
		if !ok || item.Asked || item.Ends != "" && !front {
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

// drop takes items off what is read ahead that are shown with the one before them.
func (t *transcriptReader) drop(r port.Session, items int) {
	for _, item := range t.ahead[:items] {
		t.answers.Heard(r.ID, item)
		t.note(r, item)
		if item.Ends != "" {
			t.answers.endTurn(r, item)
		}
	}
	t.ahead = t.ahead[items:]
}

// keep notes how many texts go together. That is on disk before they are tried: after a crash the
// same ones go together again.
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

// sendJoined sends a text, and with it those that were in one message with it when it was tried
// before. Else it grows while it waits for its turn; where too much waits already, all of that is a
// file. The cursor behind what the chat has comes back.
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
	l := t.letter(r, j.message())
	l.written = j.items[0].Time
	last := func() talk.Item { return j.items[len(j.items)-1] }
	l.ends = t.sound(ctx, r, last(), j.ends)
	silent := l.ends != j.ends
	if before <= 1 {
		l.more = func() (render.Part, chat.Occasion) {
			j = t.grow(ctx, r, j, draw)
			if silent {
				return j.message(), ""
			}
			return j.message(), t.sound(ctx, r, last(), j.ends)
		}
	}
	err := t.answers.deliver(ctx, l)
	t.unheard = t.unheard && j.ends == ""
	return j.next(), err // it may have grown
}

// sendFile sends texts as a file. Where the chat takes no files, all of them go as messages.
func (t *transcriptReader) sendFile(ctx context.Context, r port.Session, j joined) (talk.Cursor, error) {
	l := t.letter(r, headed(t.answers.Heading(r), t.answers.file(r, j.items)))
	l.written = j.items[0].Time
	l.ends = t.sound(ctx, r, j.items[len(j.items)-1], j.ends)
	err := t.answers.sendFile(context.WithoutCancel(ctx), &l)
	if !chat.IsRefused(err) {
		t.unheard = t.unheard && j.ends == ""
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

// grow adds what was said meanwhile, when the turn of a message has come.
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
