package ask

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/port/decisions"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/news"
	"ccbot/bot/port/refusal"
	"ccbot/bot/render"
	"ccbot/internal/pause"
)

// keep is how long a request is kept after its end: a late redial and a text that comes again are
// known by it. That is looked at once a day.
const keep = 7 * 24 * time.Hour

// Sessions are the agents as requests need them.
type Sessions interface {
	// Wake has a session look at its terminal. It does not wait.
	Wake(id uuid.UUID)
	Dialog(ctx context.Context, id uuid.UUID) (desk.Dialog, error)
}

// Prompts are the texts that wait in the inbox.
type Prompts interface {
	// Withdraw takes a text that became a reason out of the queue of its session. chat.IsGone: it has
	// left the queue.
	Withdraw(ctx context.Context, session uuid.UUID, key string) error
}

// Deps are what Requests work with.
type Deps struct {
	Chat     *chat.Chat
	Store    *Store
	Hooks    decisions.Waiters
	Sessions Sessions
	Prompts  Prompts
	Records  decisions.Records
	// Send brings a message into the chat, and waits until Telegram has taken or refused it.
	Send func(ctx context.Context, m outbox.Message) (int, error)
	// Over hears of a request that has come to be over, when that is on disk.
	Over func(ctx context.Context, c Card)
}

// Requests are the permission requests, questions and plans of all sessions. Each of them is a
// card, and has a goroutine that follows what becomes of it until it is over. What a person or a
// hook does changes it at once, under its own lock: nobody waits for that goroutine.
type Requests struct {
	Deps
	cards card.Kind[struct{}] // by the id of the request
	wake  chan struct{}       // there is a request that no goroutine follows

	// mu is held for a moment: no port is called under it. The Store, which may be saving, is read.
	mu     sync.Mutex
	open   map[string]*request // those that are not over, by id
	recent map[uuid.UUID]*volume
}

const kind = "ask" // of the cards

// NewRequests gives the requests of the store.
func NewRequests(d Deps) *Requests {
	a := &Requests{Deps: d, wake: make(chan struct{}, 1), open: make(map[string]*request),
		recent: make(map[uuid.UUID]*volume)}
	a.cards = card.NewKind(d.Chat.Cards, kind, a.refused)
	for _, c := range d.Store.Unsettled() {
		r := a.newRequest(c.Request)
		r.due = true
		a.addLocked(r)
	}
	return a
}

// Feature is what the roof knows of requests; the texts of people go to Hear.
func (a *Requests) Feature() chat.Feature {
	return chat.Feature{
		Name:   "ask",
		Cards:  map[string]func(context.Context, chat.Tap) (chat.Answer, error){kind: a.tap},
		Late:   map[string]func(chat.Tap) string{kind: func(t chat.Tap) string { return a.late(t.Card.Key) }},
		Heard:  a.heard,
		Run:    a.Run,
		Forget: a.forget,
	}
}

// Run follows the requests until ctx ends.
func (a *Requests) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var g errgroup.Group
	defer func() { stop(); _ = g.Wait() }()
	a.mu.Lock()
	for _, r := range a.open {
		r.followed = false
	}
	a.mu.Unlock()
	for _, shown := range a.cards.List() {
		a.newRequest(Request{ID: shown.Key}).closeOver(ctx)
	}
	days := time.NewTicker(24 * time.Hour)
	defer days.Stop()
	for a.prune(); ; {
		for _, r := range a.unfollowed() {
			g.Go(func() error { r.follow(ctx); return nil })
		}
		select {
		case <-ctx.Done():
			return nil
		case <-a.wake:
		case <-days.C:
			a.prune()
		}
	}
}

// closeOver closes the card that a kill left open after the end of its request was on disk.
func (r *request) closeOver(ctx context.Context) {
	if _, open := r.of.find(r.id); open {
		return
	}
	var last render.Text // the card of a request that is unknown keeps its text
	if c, ok := r.of.Store.Get(r.id); ok {
		last = r.of.look(c).Text
	}
	r.note(r.of.cards.Close(ctx, r.id, last))
}

// unfollowed are the requests that need a goroutine; they have one from now on.
func (a *Requests) unfollowed() (all []*request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.open {
		if !r.followed {
			r.followed = true
			all = append(all, r)
		}
	}
	return all
}

func (a *Requests) prune() {
	if err := a.Store.Prune(a.Chat.Now().Add(-keep)); err != nil {
		a.Chat.Log.Warn("asks_not_pruned", "error", err.Error())
	}
}

func (a *Requests) newRequest(q Request) *request {
	return &request{of: a, id: q.ID, session: q.Session, wake: make(chan struct{}, 1)}
}

// addLocked makes a request one of those that are not over.
func (a *Requests) addLocked(r *request) {
	a.open[r.id] = r
	late := a.volumeLocked(r.session)
	late.open = append(late.open, r)
	pause.Poke(a.wake)
}

// remove forgets a request that is over; its goroutine ends.
func (r *request) remove() {
	a := r.of
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open[r.id] != r {
		return
	}
	delete(a.open, r.id)
	late := a.volumeLocked(r.session)
	late.open = slices.DeleteFunc(late.open, func(one *request) bool { return one == r })
	pause.Poke(r.wake)
}

func (a *Requests) find(id string) (*request, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, ok := a.open[id]
	return r, ok
}

// requestsOf are the requests of a session that are not over, oldest first.
func (a *Requests) requestsOf(id uuid.UUID) []*request {
	a.mu.Lock()
	defer a.mu.Unlock()
	if late := a.recent[id]; late != nil {
		return slices.Clone(late.open)
	}
	return nil
}

// tell gives news to the goroutine of a request. It waits for nothing, and the goroutine finds all
// news of a while as one.
func (r *request) tell(change func(n *pending)) {
	r.of.mu.Lock()
	change(&r.news)
	r.of.mu.Unlock()
	pause.Poke(r.wake)
}

// Asked takes a request that waits, or that waits again after its hook has redialled. It is on disk
// when Asked returns. Asked does not wait for Telegram.
func (a *Requests) Asked(ctx context.Context, q Request) error {
	c, known := a.Store.Get(q.ID)
	if !known {
		return a.fresh(ctx, q)
	}
	r, open := a.find(q.ID)
	switch {
	case !open, c.IsOver(): // of its input only a part is kept
		a.Hooks.Leave(q.ID)
		return nil
	case !c.Same(q):
		return fmt.Errorf("request %s is another one than before", q.ID)
	case c.State == StateAway && (c.Away == DialogGone || c.Away == ToDesk):
		a.Hooks.Leave(q.ID) // nobody could answer it, or nobody would
		return nil
	}
	if err := r.turn(ctx, func(c Card) Card { return r.housed(Return(c)) }); err != nil {
		return err
	}
	r.tell(func(n *pending) { n.left, n.look = false, true }) // what was decided meanwhile is delivered
	return nil
}

// fresh takes a request that was not known.
func (a *Requests) fresh(ctx context.Context, q Request) error {
	s, ok := a.Chat.Book.Records.Get(q.Session)
	if !ok {
		return &refusal.Error{Code: refusal.NotFound, Err: fmt.Errorf("request %s is of no session", q.ID)}
	}
	if !a.Chat.Book.MayShow(s.Conversation) {
		return fmt.Errorf("request %s: %w", q.ID, errNotShown)
	}
	c := New(q, s.Conversation)
	c.Project = a.Records.Answerers(q.Session)
	r := a.newRequest(q)
	r.mu.Lock() // whoever finds it waits until it is on disk
	defer r.mu.Unlock()
	if err := a.admit(ctx, r, s); err != nil {
		return fmt.Errorf("request %s: %w", q.ID, err)
	}
	if err := a.Store.Save(c); err != nil {
		r.remove()
		return err
	}
	a.Chat.At("ask-saved")
	r.showLocked(ctx, c)
	return nil
}

// Left hears that a request's hook is gone without an answer. When the program stops, this is told
// of every request, although the hooks will redial; so it is only looked at while Run runs.
func (a *Requests) Left(q Request) {
	if r, ok := a.find(q.ID); ok {
		r.tell(func(n *pending) { n.left = true })
	}
}

// Look has it looked at what became of the requests of a session, whose agent may have ended.
func (a *Requests) Look(id uuid.UUID, ended bool) {
	for _, r := range a.requestsOf(id) {
		r.tell(func(n *pending) { n.look, n.ended = true, n.ended || ended })
	}
}

// heard ends what waits for an answer of a session that is over.
func (a *Requests) heard(ctx context.Context, n news.Note) error {
	switch n.Kind {
	case news.DialogGone:
		return a.dialogGone(ctx, n.Session.ID)
	case news.Ended, news.Lost, news.Stopped, news.Failed:
		a.Look(n.Session.ID, true)
	case news.Transferred:
		a.Look(n.From.ID, true)
	}
	return nil
}

const dialogDrawn = time.Second // how much later than its request a dialog is drawn at most

// dialogGone ends the wait for what the terminal does not ask any more. A request that came since
// that was seen has a dialog of its own, and a subagent's is not drawn before its hook has ended.
func (a *Requests) dialogGone(ctx context.Context, id uuid.UUID) error {
	for _, r := range a.requestsOf(id) {
		err := r.turn(ctx, func(c Card) Card {
			if c.Request.SubagentID != "" || a.Chat.Now().Sub(c.Request.Asked) < dialogDrawn {
				return c
			}
			return Leave(c, DialogGone)
		})
		if err != nil {
			return err
		}
	}
	a.Look(id, false)
	return nil
}

// NoteStop notes in the open requests of a session whether the agent is interrupted from the chat:
// the transcript tells of an Esc, but not whose. A subagent is not stopped by it.
func (a *Requests) NoteStop(ctx context.Context, id uuid.UUID, stopped bool) (err error) {
	for _, r := range a.requestsOf(id) {
		err = errors.Join(err, r.turn(ctx, func(c Card) Card {
			if c.State == StateOpen && c.Request.SubagentID == "" {
				c.Stopped = stopped
			}
			return c
		}))
	}
	return err
}

// Behind is the newest request of a session that a person may decide in a conversation. A
// subagent's holds up nothing but the subagent.
func (a *Requests) Behind(id uuid.UUID, to outbox.Conversation) (Card, bool) {
	for _, r := range slices.Backward(a.requestsOf(id)) {
		c, ok := a.Store.Get(r.id)
		if ok && c.State == StateOpen && c.Conversation == to && c.Request.SubagentID == "" {
			return c, true
		}
	}
	return Card{}, false
}

// Moved shows the requests of places that have become others. Nobody there has seen anything of
// them. It comes before the cards are moved.
func (a *Requests) Moved(ctx context.Context,
	where func(outbox.Conversation) (to outbox.Conversation, moves bool)) (err error) {
	for _, c := range a.Store.Unsettled() {
		r, open := a.find(c.Request.ID)
		to, moves := where(c.Conversation)
		if !open || !moves {
			continue
		}
		if c.State == StateAway { // what was to be said about it was said
			err = errors.Join(err, a.cards.Close(ctx, r.id, render.Text{}))
		} else {
			err = errors.Join(err, r.turn(ctx, func(c Card) Card { return inPlace(c, to) }))
		}
	}
	return err
}

// forget takes away what is kept of a session's requests.
func (a *Requests) forget(_ context.Context, id uuid.UUID) error {
	for _, r := range a.requestsOf(id) {
		r.mu.Lock() // whoever changes it ends that first
		r.remove()
		r.mu.Unlock()
	}
	a.mu.Lock()
	delete(a.recent, id)
	a.mu.Unlock()
	return a.Store.Forget(id)
}
