package shell

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/files"
	"ccbot/bot/port/news"
	"ccbot/bot/port/prompts"
	"ccbot/i18n"
	"ccbot/internal/guard"
)

const (
	firstLook = time.Second     // a command that has ended before it has no message of its own
	lookPace  = 2 * time.Second // between two looks at a terminal
	// quietLooks is how many looks in a row may show nothing new: from then on there is one only
	// every quietPace. A command may print nothing for hours, and a dialog may hide it over night.
	quietLooks = 15
	quietPace  = 30 * time.Second
	// idleLooks is how often the agent is seen to be idle before a command counts as stopped: the
	// output of a command that was not stopped stands in the transcript by then.
	idleLooks = 4
	// keepOver is how long a card stays known whose command is over.
	keepOver = 24 * time.Hour
)

// Terminal is what the terminal of a session shows of a command. The zero Output says that this is
// unknown, or that the agent works on something else.
type Terminal func(ctx context.Context, id uuid.UUID, command string) desk.Output

// Prompts are the messages of people that became prompts.
type Prompts interface {
	Load(key string) (inbox.Entry, error)
}

// Outputs are the commands that run, and the messages that grow with them.
type Outputs struct {
	chat     *chat.Chat
	terminal Terminal
	prompts  Prompts
	files    files.Files
	cards    card.Kind[command]
	crew     guard.Crew // follows each of live

	mu   sync.Mutex                    // held over the disk, never over a call that waits
	live map[string]card.Card[command] // commands not known to be over, by the prompt's inbox key
}

// New takes up the commands that an earlier run left.
func New(c *chat.Chat, t Terminal, p Prompts, f files.Files) *Outputs {
	o := &Outputs{chat: c, terminal: t, prompts: p, files: f,
		cards: card.NewKind[command](c.Cards, "output", nil), live: make(map[string]card.Card[command])}
	for _, c := range o.cards.List() {
		if !c.Payload.isOver() {
			o.keepLocked(c)
		}
	}
	return o
}

// Feature is what the roof knows of this package.
func (o *Outputs) Feature() chat.Feature {
	return chat.Feature{Name: "shell", Heard: o.heard, Run: o.run}
}

// heard follows a command that the agent has. Earlier ones of the session are over: a command is
// typed when the agent is idle.
func (o *Outputs) heard(ctx context.Context, n news.Note) error {
	if n.Kind != news.Delivered || n.Prompt.Class != prompts.Bash {
		return nil
	}
	e, err := o.prompts.Load(n.Prompt.Key)
	if err != nil || !o.chat.Book.MayShow(e.Conversation) {
		return nil // the receipt tells of it, and the output comes as an answer
	}
	c := card.Card[command]{Key: n.Prompt.Key,
		Payload: command{Session: n.Session.ID, Text: n.Prompt.Text},
		Look: card.Look{To: e.Conversation, Session: n.Session.ID, ReplyTo: e.MessageID, Silent: true,
			Rank: outbox.Card}}
	typed := o.chat.Now()
	if m := n.Prompt.Mark; m != nil {
		c.Payload.Path, c.Payload.Offset, typed = m.Path, m.Offset, m.At
	}
	earlier := o.ofSession(n.Session.ID)
	if !o.add(c) {
		return nil
	}
	for _, c := range earlier {
		o.stop(ctx, c.Key, typed)
	}
	return nil
}

// add lets a command be followed, once: news may come twice.
func (o *Outputs) add(c card.Card[command]) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, live := o.live[c.Key]
	if _, shown := o.cards.Get(c.Key); live || shown {
		return false
	}
	o.keepLocked(c)
	return true
}

func (o *Outputs) keepLocked(c card.Card[command]) {
	o.live[c.Key] = c
	o.crew.Add(func(ctx context.Context) { o.follow(ctx, c.Key) })
}

// ofSession are the commands of a session that are not known to be over.
func (o *Outputs) ofSession(id uuid.UUID) (all []card.Card[command]) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.live {
		if c.Payload.Session == id {
			all = append(all, c)
		}
	}
	return all
}

// run follows commands until ctx ends.
func (o *Outputs) run(ctx context.Context) error {
	return o.crew.Run(ctx, func(p *guard.Panic) {
		o.chat.Log.Error("output_crashed", "panic", fmt.Sprint(p.Value), "stack", p.Stack)
	})
}

// follow looks at a command until it is over.
func (o *Outputs) follow(ctx context.Context, key string) {
	idle, quiet := 0, 0
	for wait := firstLook; sleep(ctx, wait); wait = paceAfter(quiet) {
		c, ok := o.current(key)
		if !ok {
			return
		}
		r, _ := o.chat.Book.Records.Get(c.Payload.Session) // one that is forgotten is not live
		r = o.chat.Book.Successor(r)
		now := o.terminal(ctx, r.ID, c.Payload.Text)
		quiet++
		switch {
		case now.Runs:
			idle = 0
			if o.draw(ctx, key, now) {
				quiet = 0
			}
		case now.Idle:
			idle, quiet = idle+1, 0
		}
		wasQuick := !now.Runs && !isShown(c)
		if wasQuick || idle >= idleLooks || !r.Live {
			o.stop(ctx, key, o.chat.Now())
			return
		}
	}
}

func paceAfter(quiet int) time.Duration {
	if quiet >= quietLooks {
		return quietPace
	}
	return lookPace
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func (o *Outputs) current(key string) (card.Card[command], bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.currentLocked(key)
}

// currentLocked is a command that is not known to be over, as its card is now. Where the card is
// gone, because people have deleted the message or Telegram takes none, the output comes as an
// answer.
func (o *Outputs) currentLocked(key string) (card.Card[command], bool) {
	c, ok := o.live[key]
	if !ok || !isShown(c) {
		return c, ok
	}
	if c, ok = o.cards.Get(key); !ok {
		delete(o.live, key)
	}
	return c, ok
}

// isShown reports whether a command has a card.
func isShown(c card.Card[command]) bool { return !c.Look.Text.Blank() }

// draw shows what a command has printed by now; fresh says that it is new.
func (o *Outputs) draw(ctx context.Context, key string, now desk.Output) (fresh bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c, ok := o.currentLocked(key)
	if !ok {
		return false
	}
	rows := joinRows(c.Payload.Rows, now.Lines, now.Above)
	if isShown(c) && slices.Equal(rows, c.Payload.Rows) {
		return false
	}
	c.Payload.Rows = rows
	o.showLocked(ctx, c, i18n.OutputRuns)
	return true
}

// stop lets a command be over that was stopped by that time, and waits for nothing: people do who
// have sent /stop.
func (o *Outputs) stop(ctx context.Context, key string, by time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c, ok := o.currentLocked(key)
	if ok && isShown(c) {
		c.Payload.Stopped, c.Look.Until = by, o.chat.Now().Add(keepOver)
		o.showLocked(ctx, c, i18n.OutputStopped)
	}
	delete(o.live, key)
}

func (o *Outputs) showLocked(ctx context.Context, c card.Card[command], state i18n.Key) {
	c.Look.Text = growing(c.Payload, o.chat.Words.Say(state))
	o.live[c.Key] = c
	if err := o.cards.Show(ctx, c.Key, c.Look, c.Payload); err != nil {
		o.chat.Log.Warn("output_not_shown", "session_id", c.Payload.Session.String(),
			"error", err.Error())
	}
}

// Interrupted hears that a person has stopped what a session does.
func (o *Outputs) Interrupted(ctx context.Context, id uuid.UUID) {
	r, ok := o.chat.Book.Records.Get(id)
	for _, c := range o.ofSession(id) {
		if ok && o.terminal(ctx, r.ID, c.Payload.Text).Idle {
			o.stop(ctx, c.Key, o.chat.Now())
		}
	}
}
