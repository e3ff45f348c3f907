package turn

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/internal/guard"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// Deps holds the dependencies of the cards of turns.
type Deps struct {
	Chat        *chat.Chat
	Works       port.Works // the tools and to-do lists of agents
	Transcripts talk.Transcripts
	Diffs       folders.Diffs             // nil: changes are unknown
	InFront     func(r port.Session) bool // people read the session in its place
	Others      Others
	QueuedLines func(r port.Session) []string // the first lines of the prompts that wait for a session
	Actions     map[Button]chat.OnSession
	Steps       Steps // as they are shown where people have chosen nothing else
}

// Others are the other sessions.
type Others interface {
	// Row returns the buttons that lead to a conversation's other sessions. It waits for nothing.
	Row(to outbox.Conversation) []card.Option
	// Follow carries out such a button and calls draw for its message.
	Follow(ctx context.Context, t chat.Tap, draw func(ctx context.Context) error) (chat.Answer, error)
}

// Steps is the place where tool calls are shown.
type Steps string

// The values of Steps.
const (
	OnCard  Steps = "card"
	Nowhere Steps = "off"
)

// In returns the setting for a conversation: the choice of its chat, or s.
func (s Steps) In(c *chat.Chat, to outbox.Conversation) Steps {
	return cmp.Or(Steps(c.Book.Settings(to.ChatID).Steps), s)
}

// Turns are the turns of all sessions.
type Turns struct {
	Deps
	cards chat.Cards[state]
	group guard.Group // one for each session with hints, and for each run of git

	mu  sync.Mutex
	all map[uuid.UUID]*tracker
}

// kind is the kind of the cards.
const kind = "turn"

// New returns the turns of a chat. An existing card continues to the end of its turn even if its
// people change the setting.
func New(d Deps) *Turns {
	return &Turns{Deps: d, cards: chat.NewCards[state](d.Chat, kind), all: make(map[uuid.UUID]*tracker)}
}

// Feature describes turns to the dispatcher.
func (t *Turns) Feature() chat.Feature {
	return chat.Feature{Name: "turn", Cards: map[string]chat.OnTap{kind: t.cards.OnTap(t.tap)},
		OnNews: t.onNews, OnItem: t.item, Run: t.run, Forget: func(_ context.Context, id uuid.UUID) error {
			t.mu.Lock()
			defer t.mu.Unlock()
			delete(t.all, id)
			return nil
		},
		OnCurrent: func(_ context.Context, _ outbox.Conversation, id uuid.UUID) error {
			t.notify(id, false, nil)
			return nil
		},
		OnShown: func(r port.Session) { t.notify(r.ID, false, nil) }}
}

// hint is news of a session for its tracker. nil means that something about it may have changed.
type hint func(ctx context.Context, o *tracker)

// onNews receives news from the working session, so it looks up nothing.
func (t *Turns) onNews(_ context.Context, r port.Session, reported news.News) error {
	takenBack := func(key string) hint { // a prompt no longer counts as typed
		return func(ctx context.Context, o *tracker) {
			if o.now != nil && key != "" && key == o.now.Prompt {
				o.end(ctx, talk.StoppedTurn, t.Chat.Now())
			}
		}
	}
	if _, moved := reported.(news.Transferred); moved || news.IsEnd(reported) {
		t.notify(r.ID, false, func(ctx context.Context, o *tracker) { o.end(ctx, cut, t.Chat.Now()) })
		return nil
	}
	switch n := reported.(type) {
	case news.Typed:
		t.notify(r.ID, true, func(ctx context.Context, o *tracker) { o.typed(ctx, n.Prompt) })
	case news.Unproven:
		t.notify(r.ID, false, takenBack(n.Prompt.Key))
	case news.TakenBack:
		t.notify(r.ID, false, takenBack(n.Prompt.Key))
	default:
		t.notify(r.ID, false, nil)
	}
	return nil
}

// item receives the items of a transcript.
func (t *Turns) item(session uuid.UUID, item talk.Item) {
	item.Text, item.Images = "", nil // nothing of it is shown
	t.notify(session, true, func(ctx context.Context, o *tracker) { o.item(ctx, item) })
}

// notify hands a hint to the session's tracker, which exists from the first turn on: begins reports
// whether the hint may be of that turn.
func (t *Turns) notify(id uuid.UUID, begins bool, h hint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all[id] != nil || begins {
		t.trackerLocked(id).notify(h)
	}
}

func (t *Turns) trackerLocked(id uuid.UUID) *tracker {
	if t.all[id] == nil {
		t.all[id] = &tracker{turns: t, id: id, wake: make(chan struct{}, 1)}
	}
	return t.all[id]
}

// run continues the turns of an earlier run.
func (t *Turns) run(ctx context.Context) error {
	began := func(a, b card.Card[state]) int { return a.Payload.Began.Compare(b.Payload.Began) }
	for _, c := range slices.SortedFunc(slices.Values(t.cards.List()), began) {
		t.mu.Lock()
		t.trackerLocked(c.Payload.Session).resume(c)
		t.mu.Unlock()
	}
	return t.group.Run(ctx, func(p *guard.Panic) {
		t.Chat.Log.Error("turn_crashed", logkey.Panic, fmt.Sprint(p.Value), logkey.Stack, p.Stack)
	})
}

// endTimeout is how long the end of a turn waits for the agent to be seen idle: the status line
// has the turn's cost 0.3 s after the last line of the transcript.
const endTimeout = 3 * time.Second
