package turn

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/outbox"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/talk"
)

// tracker follows the turns of one session.
type tracker struct {
	turns *Turns
	id    uuid.UUID
	wake  chan struct{}

	mu    sync.Mutex
	hints []hint
	busy  bool // it is in the crew

	// Only the goroutine of run has these.
	now      *state       // the turn that runs; nil: none
	key      string       // of its card; empty: it is not in the chat
	back     bool         // the card is of an earlier run
	stale    bool         // the to-do list may have changed
	listed   bool         // the turn has touched the to-do list
	lists    []string     // calls that have, and have no result yet
	last     *state       // the last finished turn; nil: unknown
	readUpTo talk.Cursor  // of it
	prompt   string       // the last one that was typed
	drawn    card.Content // the card without the row of other sessions
	looked   time.Time    // when it was drawn; zero: draw it at once
	others   []card.Option
}

func (o *tracker) notify(h hint) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hints = append(o.hints, h)
	if !o.busy {
		o.busy = true
		o.turns.group.Add(o.run)
	}
	pause.Poke(o.wake)
}

// resume continues a card of an earlier run, or notes its finished turn. Earlier turns come first.
func (o *tracker) resume(c card.Card[state]) {
	s := c.Payload
	o.prompt = cmp.Or(s.Prompt, o.prompt)
	if s.End != "" {
		o.last, o.readUpTo = &s, s.ReadUpTo
		return
	}
	o.now, o.key, o.back, o.stale, o.listed = &s, c.Key, true, true, s.Todo != nil
	o.notify(nil)
}

// run handles the pending hints and returns when none is left. A burst is drawn once.
func (o *tracker) run(ctx context.Context) {
	if o.back {
		o.back = false
		o.catchUp(ctx)
	}
	for ctx.Err() == nil {
		o.mu.Lock()
		hints := o.hints
		o.hints = nil
		o.busy = len(hints) > 0
		o.mu.Unlock()
		if len(hints) == 0 {
			return
		}
		for _, h := range hints {
			if h != nil {
				h(ctx, o)
			}
		}
		more := func() bool { o.mu.Lock(); defer o.mu.Unlock(); return len(o.hints) > 0 }
		for wait := o.settle(ctx, false); wait > 0 && !more(); {
			if pause.Until(ctx, wait, o.wake) {
				continue
			}
			if ctx.Err() != nil {
				return
			}
			wait = o.settle(ctx, true)
		}
	}
}

// typed begins the turn of a prompt. News of one prompt may come twice, and after its first items.
func (o *tracker) typed(ctx context.Context, p talk.Prompt) {
	if p.Key == o.prompt {
		return
	}
	next := typed(o.id, p, o.turns.Chat.Now())
	o.prompt = p.Key
	switch {
	case o.isPast(ctx, o.now, next), o.isPast(ctx, o.last, next), o.now.isOf(next), o.last.isOf(next):
		return
	case o.now != nil:
		o.catchUp(ctx)
		o.now.follow(o.session(), next.Began) // its last lines may be written a moment later
	}
	o.settle(ctx, true)            // continue without it
	if p.Class == talk.ClassBash { // its output has a separate message
		o.last = next
		return
	}
	if next.ReadUpTo.Path != "" && precedes(next.ReadUpTo, o.readUpTo) {
		next.From, next.ReadUpTo = o.readUpTo, o.readUpTo
	}
	o.now, o.stale = next, true
}

// isPast reports whether the turn of a prompt ended before another turn began: between the place
// where the prompt was typed and the other turn, the transcript has a prompt. An earlier run of
// this program may have followed that turn.
func (o *tracker) isPast(ctx context.Context, other, next *state) bool {
	if other == nil || other.Prompt != "" || !precedes(next.From, other.From) {
		return false
	}
	for item, err := range o.turns.written(ctx, o.id, next.From) {
		if err != nil || !precedes(item.At, other.From) {
			return false
		}
		if item.Kind == talk.UserPrompt && item.Begins {
			return true
		}
	}
	return false
}

// item adds an item to its turn.
func (o *tracker) item(ctx context.Context, item talk.Item) {
	if o.now != nil && o.now.End == "" && o.now.isNext(item) {
		o.now.follow(o.session(), o.now.At)
	}
	if o.now != nil && o.now.End != "" && item.Begins && !o.now.knows(item) {
		o.settle(ctx, true) // continue without it
	}
	if o.now == nil {
		if !item.Begins || precedes(item.At, o.readUpTo) {
			return
		}
		o.now, o.stale = begun(o.id, item, o.turns.Chat.Now()), true
	}
	o.add(item)
}

func (o *tracker) add(item talk.Item) {
	switch t := item.Tool; {
	case t == nil || item.Sidechain:
	case item.Kind == talk.ToolUse && slices.Contains(listTools, t.Name):
		o.lists = append(o.lists, t.ID)
	case slices.Contains(o.lists, t.ID):
		o.lists = slices.DeleteFunc(o.lists, func(id string) bool { return id == t.ID })
		o.listed, o.stale = true, true
	}
	o.now.take(item, o.turns.Chat.Now())
}

func (o *tracker) session() port.Session {
	r, _ := o.turns.Chat.Book.Records.Get(o.id)
	return r
}

func (o *tracker) catchUp(ctx context.Context) { o.turns.catchUp(ctx, o.now, o.add) }

// end ends the turn that runs, unless the transcript has another end.
func (o *tracker) end(ctx context.Context, how talk.Ending, at time.Time) {
	if o.now != nil {
		o.catchUp(ctx)
		o.now.finish(how, at)
	}
}

// settle shows the turn as it is now, or returns how long to wait with that: the chat takes no edit
// of the card yet, or the cost of the finished turn is not known yet. With late it does not wait.
func (o *tracker) settle(ctx context.Context, late bool) (wait time.Duration) {
	s := o.now
	if s == nil {
		return 0
	}
	r, known := o.turns.Chat.Book.Records.Get(o.id)
	if !known {
		o.now, o.key = nil, ""
		return 0
	}
	if r.State == port.StateUnknown {
		return outbox.CardsEach
	}
	if s.End == "" {
		was := s.Since
		s.setActivity(r.Now, r.NowSince)
		if !s.Since.Equal(was) {
			o.stale, o.looked = true, time.Time{}
		}
		if how, at := s.fate(r, o.turns.Chat.Now()); how != "" {
			o.end(ctx, how, at)
		}
	}
	o.withdraw(r)
	switch {
	case o.key == "" && s.End == "":
		o.show(ctx, r)
	case s.End == "":
		wait = outbox.CardsEach - o.turns.Chat.Now().Sub(o.looked)
		if wait > 0 && !late {
			return wait
		}
		o.draw(ctx, r)
	case o.key != "" && !late && s.End != cut && r.State.Live() && r.Now.Works():
		return endTimeout
	default:
		if o.key == "" && s.isStuck(r) && o.turns.InFront(r) && o.turns.Chat.Book.MayShow(r.Conversation) {
			o.key = card.NewKey() // only a card has the button that helps
		}
		if o.key != "" {
			o.stale = true
			o.draw(ctx, r)
			o.count()
		}
		o.last, o.readUpTo = s, s.ReadUpTo
		o.now, o.key, o.listed, o.lists = nil, "", false, nil
	}
	return 0
}

// withdraw withdraws a card that the chat does not have yet, if another message reports the end of
// the turn, or as long as the card may not be shown: below a question it would hide the question.
func (o *tracker) withdraw(r port.Session) {
	s := o.now
	needed := s.isStuck(r) || !s.isReported()
	if s.End == "" {
		needed = o.mayShow(r)
	}
	if o.key == "" || needed {
		return
	}
	if _, open := o.turns.cards.Get(o.key); !open {
		return // people have deleted it
	}
	if gone, err := o.turns.cards.Withdraw(o.key); gone && err == nil {
		o.key, s.Shown = "", false
	}
}

// mayShow reports whether the card of a turn that runs may come into the chat: the agent works, and
// people read the session in its place.
func (o *tracker) mayShow(r port.Session) bool {
	return runs(r.Now) && !o.now.Now.Phase.Waiting() && o.turns.InFront(r) && o.turns.Chat.Book.MayShow(r.Conversation)
}

// show brings the card into the chat, where people read the session, once the agent was seen at
// work: a prompt that Enter did not submit has no card. A turn without a prompt also needs a step,
// because a text of the agent is a separate message.
func (o *tracker) show(ctx context.Context, r port.Session) {
	t, s := o.turns, o.now
	seen := (r.NowSince.After(s.Began) || s.Submitted) && !s.Alone || s.Count > 0
	if !seen || !o.mayShow(r) || t.Steps.In(t.Chat, r.Conversation) != OnCard {
		return
	}
	o.key = card.NewKey()
	if !o.draw(ctx, r) {
		o.key = ""
		return
	}
	o.snapshot()
}

// draw shows the card. False: it is not on disk.
func (o *tracker) draw(ctx context.Context, r port.Session) bool {
	t, s := o.turns, o.now
	o.looked = t.Chat.Now()
	if o.stale || s.Model == "" { // without a status line the transcript has the model
		if work, err := t.Works.Brief(ctx, o.id); err == nil {
			o.stale = false
			s.spend(work, o.listed)
		}
	} else if now, err := t.Works.Usage(ctx, o.id); err == nil {
		s.spend(port.Work{Usage: now}, false)
	}
	s.waits = t.QueuedLines(r)
	old, open := t.cards.Get(o.key)
	content := card.Content{To: r.Conversation, Session: r.ID, RenewOnce: s.End == ""}
	if open {
		content.To = old.Content.To
	} else if s.Shown {
		return true // people have deleted it, twice
	}
	s.Shown = true
	t.fill(ctx, &content, s, r, o.key)
	o.lead(&content, s)
	content.Rank = s.rank(open, old)
	if err := t.cards.Show(ctx, o.key, content, *s); err != nil {
		t.Chat.Log.Warn("turn_not_shown", logkey.SessionID, o.id.String(), logkey.Error, err)
		s.Shown = old.Sent
		return false
	}
	if s.End != "" {
		t.cards.Tidy(ctx, content.To, func(one state) bool { return one.End != "" })
	}
	return true
}

// lead adds a row that leads to other sessions. Their news cause no edit of the card: the row is
// made again when the card is edited anyway.
func (o *tracker) lead(content *card.Content, s *state) {
	if s.End != "" {
		return
	}
	if !reflect.DeepEqual(*content, o.drawn) {
		o.drawn, o.others = *content, o.turns.Others.Row(content.To)
	}
	if len(o.others) > 0 {
		content.Options = append(slices.Clip(content.Options), o.others)
	}
}

// rank returns the rank of a card; old is the known card.
func (s *state) rank(open bool, old card.Card[state]) outbox.Rank {
	p := old.Payload
	switch {
	case !open:
		return outbox.Opening
	case s.End != "" && p.End == "":
		return outbox.Closing
	case old.Sent && p.End == s.End && p.Now.Phase == s.Now.Phase:
		return outbox.Card
	}
	return outbox.Turning
}

// isReported reports whether the turn has ended and a separate message reports that: an answer, the
// notice of the end, a failure, a stop, or the end of the session.
func (s *state) isReported() bool {
	return s.End != "" && (s.Responded || s.End == cut || s.End == talk.StoppedTurn)
}
