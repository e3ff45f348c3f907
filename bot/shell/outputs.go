package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/guard"
	"ccbot/internal/lazyregexp"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/news"
	"ccbot/port/talk"
)

const (
	firstCheck   = time.Second     // a command that ends earlier has no message
	pollInterval = 2 * time.Second // between two checks of a terminal
	// quietChecks is the number of checks in a row without news after which the pace is quietPace. A
	// command may print nothing for hours, and a dialog may hide it over night.
	quietChecks = 15
	quietPace   = 30 * time.Second
	// idleChecks is the number of checks with an idle agent after which a command counts as stopped:
	// otherwise its output would already be in the transcript.
	idleChecks = 4
	// endedTTL is how long the card of an ended command stays known.
	endedTTL = 24 * time.Hour
	// cardGrace is how long the end of a command waits for a card that is being sent: a card left
	// behind would show the command as running for ever. After it the output is an answer.
	cardGrace = 2 * time.Second
	cardPace  = 100 * time.Millisecond
)

// Terminal returns the output of a command in a session's terminal; see [port.Screens].
type Terminal func(ctx context.Context, id uuid.UUID, command string) (port.Output, error)

// Outputs are the commands that run, and the messages that grow with them.
type Outputs struct {
	chat     *chat.Chat
	terminal Terminal
	prompt   func(key string) (inbox.Entry, error) // of a message that has become one
	files    folders.Files
	cards    card.Kind[command]
	group    guard.Group // follows each of live

	mu   sync.Mutex           // held over the disk, never over a call that waits
	live map[uuid.UUID]output // by session, as typed: the command that has not ended as far as is known
}

// New takes up the commands that an earlier run left.
func New(c *chat.Chat, t Terminal, prompt func(key string) (inbox.Entry, error), f folders.Files) *Outputs {
	o := &Outputs{chat: c, terminal: t, prompt: prompt, files: f,
		cards: card.NewKind[command](c.Cards, "output", nil), live: make(map[uuid.UUID]output)}
	for _, c := range o.cards.List() {
		if c.Payload.Ended == 0 && c.Payload.Stopped.IsZero() {
			o.addLocked(c)
		}
	}
	return o
}

// Feature describes this package to the dispatcher.
func (o *Outputs) Feature() chat.Feature {
	return chat.Feature{Name: "shell", OnNews: o.onNews, Run: func(ctx context.Context) error {
		return o.group.Run(ctx, func(p *guard.Panic) {
			o.chat.Log.Error("output_crashed", logkey.Panic, fmt.Sprint(p.Value), logkey.Stack, p.Stack)
		})
	}}
}

// onNews follows a command that the agent has received. Earlier commands of the session have ended,
// because a command is typed when the agent is idle.
func (o *Outputs) onNews(ctx context.Context, s port.Session, reported news.News) error {
	n, ok := reported.(news.Delivered)
	if !ok || n.Prompt.Class != talk.ClassBash {
		return nil
	}
	e, err := o.prompt(n.Prompt.Key)
	if err != nil || !o.chat.Book.MayShow(e.Conversation) {
		return nil // the receipt reports it, and the output comes as an answer
	}
	c := output{Key: n.Prompt.Key,
		Payload: command{Session: s.ID, Text: n.Prompt.Text},
		Content: card.Content{To: e.Conversation, Session: s.ID, ReplyTo: e.MessageID}}
	typed := o.chat.Now()
	if m := n.Prompt.Mark; m != nil {
		c.Payload.Path, c.Payload.Offset, typed = m.Path, m.Offset, m.At
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, shown := o.cards.Get(c.Key); shown || o.isLiveLocked(c) { // news may come twice
		return nil
	}
	o.stopLocked(ctx, s.ID, typed)
	o.addLocked(c)
	return nil
}

func (o *Outputs) addLocked(c output) {
	o.live[c.Payload.Session] = c
	o.group.Add(func(ctx context.Context) { o.follow(ctx, c) })
}

func (o *Outputs) isLiveLocked(c output) bool {
	return o.live[c.Payload.Session].Key == c.Key
}

// follow checks a command until it ends.
func (o *Outputs) follow(ctx context.Context, c output) {
	if shown, ok := o.cards.Get(c.Key); ok { // it continues after a restart, or a panic
		c = shown
	}
	idle, quiet := 0, 0
	for wait := firstCheck; pause.For(ctx, wait) == nil && o.follows(c); {
		r, _ := o.chat.Book.Records.Get(c.Payload.Session) // a forgotten session is not live
		now, err := o.terminal(ctx, c.Payload.Session, c.Payload.Text)
		if err != nil { // it may run
			wait = quietPace
			continue
		}
		quiet++
		switch {
		case now.Runs:
			idle = 0
			if o.draw(ctx, &c, now) {
				quiet = 0
			}
		case now.Idle:
			idle, quiet = idle+1, 0
		}
		if wasQuick := !isShown(c); wasQuick || idle >= idleChecks || !r.State.Live() {
			o.mu.Lock()
			defer o.mu.Unlock()
			if o.isLiveLocked(c) {
				o.stopLocked(ctx, c.Payload.Session, o.chat.Now())
			}
			return
		}
		if wait = pollInterval; quiet >= quietChecks {
			wait = quietPace
		}
	}
}

// follows reports whether a command may still run. If its card is gone, because people have deleted
// the message or Telegram accepts none, the output comes as an answer.
func (o *Outputs) follows(c output) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, there := o.cards.Get(c.Key)
	return o.isLiveLocked(c) && (there || !isShown(c))
}

// isShown reports whether a command has a card.
func isShown(c output) bool { return !c.Content.Text.Blank() }

// draw shows the printed rows; fresh reports whether they are new.
func (o *Outputs) draw(ctx context.Context, c *output, now port.Output) (fresh bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	rows := now.Lines
	if now.Above > 0 {
		rows = slices.Insert(slices.Clone(rows), 0, outputGap)
	}
	if !o.isLiveLocked(*c) || isShown(*c) && slices.Equal(rows, c.Payload.Rows) {
		return false
	}
	c.Payload.Rows = rows
	o.showLocked(ctx, c, i18n.OutputRuns)
	return true
}

// stopLocked marks the command of a session as stopped by that time. It does not wait: people who
// sent /stop do.
func (o *Outputs) stopLocked(ctx context.Context, session uuid.UUID, by time.Time) {
	c, shown := o.cards.Get(o.live[session].Key)
	delete(o.live, session)
	if shown {
		c.Payload.Stopped, c.Content.Until = by, o.chat.Now().Add(endedTTL)
		o.showLocked(ctx, &c, i18n.OutputStopped)
	}
}

// showLocked draws a card. It comes below its command as a message; its edits then share the pace
// of all cards, except for its end, which Finish shows.
func (o *Outputs) showLocked(ctx context.Context, c *output, state i18n.Key) {
	rows := render.Pre(strings.Join(c.Payload.Rows, "\n"), "")
	if rows.Blank() {
		rows = render.Text{}
	}
	c.Content.Text = chat.Lines(title(c.Payload), rows, render.Plain(o.chat.In(c.Content.To).Say(state)))
	c.Content.Rank = outbox.Later
	if shown, _ := o.cards.Get(c.Key); shown.Sent {
		c.Content.Rank = outbox.Card
	}
	if err := o.cards.Show(ctx, c.Key, c.Content, c.Payload); err != nil {
		o.chat.Log.Warn("output_not_shown", logkey.SessionID, c.Payload.Session.String(),
			logkey.Error, err)
	}
}

// Finish shows the output of a command in its message, and returns when the chat has it there.
// False: there is no such message, and the caller must send the output.
func (o *Outputs) Finish(ctx context.Context, r port.Session, item talk.Item,
	part render.Part) (done bool, err error) {
	o.mu.Lock()
	printed := func(c output) bool { return printed(c.Payload, r, item) }
	maps.DeleteFunc(o.live, func(_ uuid.UUID, c output) bool { return printed(c) })
	o.mu.Unlock() // from here on only this function draws the card
	all := slices.DeleteFunc(o.cards.List(), func(c output) bool { return !printed(c) })
	if len(all) == 0 {
		return false, nil
	}
	c := slices.MaxFunc(all, func(a, b output) int {
		return cmp.Compare(a.Payload.Offset, b.Payload.Offset)
	})
	c.Payload.Ended, c.Content.Until = item.At.Offset, o.chat.Now().Add(endedTTL)
	c.Content.Rank = outbox.Talk // as an answer has
	c.Content.Text = chat.Lines(title(c.Payload), part.Text)
	for begun := time.Now(); ; {
		err = o.cards.ShowNow(context.WithoutCancel(ctx), c.Key, c.Content, c.Payload)
		if !errors.Is(err, card.ErrUnsent) || time.Since(begun) >= cardGrace {
			break
		}
		if err := pause.For(ctx, cardPace); err != nil {
			return false, err
		}
	}
	switch {
	case err == nil:
		o.chat.At("output-ended")
		return true, nil
	case chat.IsRefused(err), errors.Is(err, card.ErrUnsent):
		return false, o.cards.Close(ctx, c.Key, title(c.Payload))
	}
	return false, err
}

// printed reports whether a command may have printed an output of a session.
func printed(c command, r port.Session, item talk.Item) bool {
	return c.takes(item) && c.Session == r.ID
}

// command is the payload of a card that shows a command's output.
type command struct {
	Session uuid.UUID `json:"session"`
	Text    string    `json:"text"` // with its sign
	// Path is the transcript when the command was typed, empty if there was none, and Offset its
	// end at that time: the output follows it.
	Path    string    `json:"path,omitempty"`
	Offset  int64     `json:"offset,omitempty"`
	Rows    []string  `json:"rows,omitempty"`   // the latest rows of the terminal
	Ended   int64     `json:"ended,omitempty"`  // offset of the output that the card shows; 0: of none
	Stopped time.Time `json:"stopped,omitzero"` // the command had been stopped at this time
}

// output is the message of a command.
type output = card.Card[command]

// takes reports whether an output may be the command's. An output after the command's stop belongs
// to another command, perhaps of the same words.
func (c command) takes(item talk.Item) bool {
	at := item.At
	words := func(text string) []string { return strings.Fields(strings.TrimPrefix(text, "!")) }
	return (c.Ended == 0 || c.Ended == at.Offset) &&
		(c.Path == "" || c.Path == at.Path && c.Offset <= at.Offset) &&
		(c.Stopped.IsZero() || !item.Time.After(c.Stopped)) &&
		slices.Equal(words(c.Text), words(item.Bash))
}

// shownCommand is the number of letters of a command that are shown above its output.
const shownCommand = 120

// title is a command as the first line of a message.
func title(c command) render.Text {
	text := chat.Head(glyph.Visible(strings.TrimPrefix(c.Text, "!")), shownCommand)
	return render.Code("$ " + text)
}

// outputGap stands for rows that the terminal does not show.
const outputGap = "…"

const (
	// outputHead and outputLines are the numbers of shown lines at the beginning and at the end of
	// an output, outputUnits is the room; a file has all of it.
	outputHead  = 10
	outputLines = 30
	outputUnits = 2400
	// outputFile is the longest output that is sent as a file.
	outputFile = 8 << 20
)

// persisted matches the transcript's note of an output that is too long for it: the path of the
// whole, and its beginning (2.1.328, above 30,000 characters).
var persisted = lazyregexp.New(`(?s)^\s*<persisted-output>\nOutput too large \(([^)\n]*)\)\. ` +
	`Full output saved to: ([^\n]+)\n\n` +
	`Preview \([^)\n]*\):\n(.*?)(?:\n\.\.\.)?\n?</persisted-output>\s*$`)

// Parts returns the chat's form of an output: its beginning and its end, and if it is long, all of
// it as a file. They leave room for the command.
func (o *Outputs) Parts(ctx context.Context, r port.Session, item talk.Item) []render.Part {
	text, note := item.Text, ""
	if m := persisted.FindStringSubmatch(text); m != nil {
		whole, err := o.files.Read(ctx, item.At.Path, m[2], outputFile)
		if text = whole; err != nil {
			o.chat.Log.Warn("output_unreadable", logkey.SessionID, r.ID.String(), logkey.Error, err)
			text, note = m[3]+"\n"+outputGap, o.chat.In(r.Conversation).Say(i18n.OutputTooLong, i18n.Args{"Size": m[1]})
		}
	}
	text = printedText(text)
	switch shown := render.Pre(text, ""); {
	case shown.Blank() && item.Bash == "":
		return nil
	case shown.Blank():
		return []render.Part{{Text: render.Plain(o.chat.In(r.Conversation).Say(i18n.OutputNone))}}
	case note != "":
		return []render.Part{{Text: render.Join(shown.Begin(outputUnits), render.Plain("\n"+note))}}
	case shown.Length() <= outputUnits && strings.Count(text, "\n") < outputHead+outputLines:
		return []render.Part{{Text: shown}}
	}
	return longParts(o.chat.In(r.Conversation), text)
}

// longParts returns the beginning and the end of an output, as far as a message has room, and all
// of it as a file.
func longParts(p chat.Phrases, text string) []render.Part {
	lines := strings.Split(text, "\n")
	block := func(lines []string) render.Text { return render.Pre(strings.Join(lines, "\n"), "") }
	head := lines[:min(len(lines), outputHead)]
	for block(head).Length() > outputUnits/4 {
		head = head[:len(head)-1]
	}
	rest := lines[len(head):]
	tail := rest[max(0, len(rest)-outputLines):]
	for block(tail).Length() > outputUnits {
		tail = tail[1:]
	}
	gap := render.Text{}
	if more := len(rest) - len(tail); more > 0 {
		gap = render.Plain(p.Say(i18n.OutputMore, i18n.Args{"Count": more}))
	}
	return []render.Part{
		{Text: chat.Paragraphs(block(head), gap, block(tail))},
		{Text: render.Plain(p.Say(i18n.OutputFull, i18n.Args{"Count": len(lines)})),
			File: &render.File{Name: "output.txt", Data: []byte(text + "\n")}},
	}
}

// printedText returns a command's output without cursor movements and without text that a carriage
// return overwrote.
func printedText(text string) string {
	text = strings.ReplaceAll(ansi.Strip(strings.ToValidUTF8(text, "\uFFFD")), "\r\n", "\n")
	lines := strings.Split(strings.TrimRight(text, "\n\r "), "\n")
	for i, l := range lines {
		l = strings.TrimRight(l, "\r")
		lines[i] = l[strings.LastIndexByte(l, '\r')+1:]
	}
	return strings.Join(lines, "\n")
}
