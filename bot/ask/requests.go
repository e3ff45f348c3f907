package ask

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/internal/glyph"
	"ccbot/internal/guard"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// keep is how long a request is kept after its end: a late redial and a text that comes again are
// known by it. That is looked at once a day.
const keep = 7 * 24 * time.Hour

// Queues are the prompts that wait for a session; see package prompts.
type Queues interface {
	Withdraw(ctx context.Context, session uuid.UUID, key string) error
	// Wake has a session look at its terminal. It does not wait.
	Wake(session uuid.UUID)
}

// Dialogs are the messages about what terminals ask; see package dialog.
type Dialogs interface {
	// IsShown reports whether a session has one with buttons.
	IsShown(session uuid.UUID) bool
	// Again brings it below all other messages. False: there is none.
	Again(ctx context.Context, session uuid.UUID) (shown bool, err error)
}

// Deps are what Requests work with.
type Deps struct {
	Chat    *chat.Chat
	Store   *Store
	Hooks   talk.RequestWaiters
	Records talk.DecisionRecords
	Entry   func(key string) (inbox.Entry, error) // a text of somebody's
	Queues  Queues
	// Send brings a message into the chat, and waits until Telegram has taken or refused it.
	Send func(ctx context.Context, m outbox.Message) (int, error)
	// Over hears of a request that has come to be over, when that is on disk.
	Over func(ctx context.Context)
}

// Requests are the permission requests, questions and plans of all sessions. Each of them is a
// card, and has a goroutine that follows what becomes of it until it is over. What a person or a
// hook does changes it at once, under its own lock: nobody waits for that goroutine.
type Requests struct {
	Deps
	cards   card.Kind[struct{}] // by the id of the request
	dialogs Dialogs

	mu     sync.Mutex  // held for a moment: no port is called under it. The Store is read.
	open   []*request  // those that are not over, oldest first
	crew   *guard.Crew // their goroutines; nil before Run
	recent map[uuid.UUID]*volume
}

// Connect sets the messages about what terminals ask. It is called once, before Run.
func (a *Requests) Connect(d Dialogs) { a.dialogs = d }

// CardKind is that of the cards.
const CardKind = "ask"

// NewRequests gives the requests of the store.
func NewRequests(d Deps) *Requests {
	a := &Requests{Deps: d, recent: make(map[uuid.UUID]*volume)}
	a.cards = card.NewKind(d.Chat.Cards, CardKind, a.refused).Asking()
	for _, s := range d.Store.Unsettled() {
		r := a.newRequest(s.Request)
		r.due = true
		a.open = append(a.open, r)
	}
	return a
}

func (a *Requests) newRequest(q Request) *request {
	return &request{of: a, id: q.ID, session: q.Session, wake: make(chan struct{}, 1)}
}

// Feature is what the roof knows of requests.
func (a *Requests) Feature() chat.Feature {
	return chat.Feature{
		Name:    "ask",
		Cards:   map[string]chat.OnTap{CardKind: a.tap},
		Late:    map[string]func(chat.Tap) string{CardKind: a.late},
		Heard:   a.heard,
		Text:    a.text,
		Run:     a.Run,
		Forget:  a.forget,
		Item:    a.item,
		Current: a.switched,
		Moved:   a.moved,
	}
}

// Run follows the requests until ctx ends, and closes the cards of requests that are over or unknown.
func (a *Requests) Run(ctx context.Context) error {
	crew := new(guard.Crew)
	crew.Add(a.prune)
	a.mu.Lock()
	a.crew = crew
	for _, r := range a.open {
		r.startLocked(r.follow)
	}
	a.mu.Unlock()
	for _, shown := range a.cards.List() {
		if _, open := a.find(shown.Key); !open {
			crew.Add(func(ctx context.Context) { a.closeCard(ctx, shown.Key) })
		}
	}
	return crew.Run(ctx, func(p *guard.Panic) { a.logCrash("", p) })
}

func (a *Requests) prune(ctx context.Context) {
	for ctx.Err() == nil {
		if err := a.Store.Prune(a.Chat.Now().Add(-keep)); err != nil {
			a.Chat.Log.Warn("asks_not_pruned", logkey.Error, err)
		}
		_ = pause.For(ctx, 24*time.Hour)
	}
}

// note logs what could not be done now for a request; the next look does it.
func (a *Requests) note(id string, err error) {
	if err != nil {
		a.Chat.Log.Error("ask_not_settled", logkey.Request, id, logkey.Error, err)
	}
}

func (a *Requests) logCrash(id string, p *guard.Panic) {
	a.Chat.Log.Error("ask_crashed", logkey.Request, id, logkey.Panic, fmt.Sprint(p.Value), logkey.Stack, p.Stack)
}

// remove forgets a request that is over; its goroutine ends.
func (r *request) remove() {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.of.open = slices.DeleteFunc(r.of.open, func(one *request) bool { return one == r })
	pause.Poke(r.wake)
}

func (a *Requests) find(id string) (*request, bool) {
	all := a.requests(func(r *request) bool { return r.id == id })
	if len(all) == 0 {
		return nil, false
	}
	return all[0], true
}

// requestsOf are the requests of a session that are not over, oldest first.
func (a *Requests) requestsOf(id uuid.UUID) []*request {
	return a.requests(func(r *request) bool { return r.session == id })
}

func (a *Requests) requests(which func(r *request) bool) (all []*request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.open {
		if which(r) {
			all = append(all, r)
		}
	}
	return all
}

// Asked takes a request that waits, or that waits again after its hook has redialled. It is on disk
// when Asked returns. Asked does not wait for Telegram.
func (a *Requests) Asked(ctx context.Context, q Request) error {
	s, known := a.Store.Get(q.ID)
	if !known {
		return a.fresh(ctx, q)
	}
	r, open := a.find(q.ID)
	switch {
	case !open, s.IsOver(), s.Desk: // nobody could answer it, or nobody would
		a.Hooks.Leave(ctx, q.ID)
		return nil
	case !s.Same(q):
		return fmt.Errorf("request %s is another one than before", q.ID)
	}
	err := r.turn(ctx, func(s State) State {
		r.due = r.due || s.Stage == StageOpen // its card may have been withdrawn
		return r.housed(Return(s))
	})
	if err != nil {
		return err
	}
	r.left.Store(false)
	pause.Poke(r.wake) // what was decided meanwhile is delivered
	a.note(q.ID, a.Chat.Opened(ctx, s.Conversation, q.Session))
	return nil
}

// fresh takes a request that was not known.
func (a *Requests) fresh(ctx context.Context, q Request) error {
	session, ok := a.Chat.Book.Records.Get(q.Session)
	if !ok || !a.Chat.Book.MayShow(session.Conversation) {
		return fmt.Errorf("request %s: its session is shown to nobody", q.ID)
	}
	s := New(q, session.Conversation)
	s.Project = a.Records.Answerers(ctx, q.Session)
	r := a.newRequest(q)
	r.mu.Lock() // whoever finds it waits until it is on disk
	defer r.mu.Unlock()
	if err := a.admit(ctx, r); err != nil {
		return fmt.Errorf("request %s: %w", q.ID, err)
	}
	if err := a.Store.Save(s); err != nil {
		r.remove()
		return err
	}
	a.Chat.At("ask-saved")
	r.showLocked(ctx, s)
	a.note(q.ID, a.Chat.Opened(ctx, s.Conversation, q.Session))
	return nil
}

// Left hears that a request's hook is gone without an answer. When the program stops, this is told
// of every request, although the hooks will redial; so it is only looked at while Run runs.
func (a *Requests) Left(_ context.Context, q Request) {
	if r, ok := a.find(q.ID); ok {
		r.left.Store(true)
		pause.Poke(r.wake)
	}
}

// Look has it looked at what became of the requests of a session, whose agent may have ended.
func (a *Requests) Look(id uuid.UUID, ended bool) {
	for _, r := range a.requestsOf(id) {
		if ended {
			r.ended.Store(true)
		}
		pause.Poke(r.wake)
	}
}

// item looks at the requests of a session whose transcript may say what became of them.
func (a *Requests) item(session uuid.UUID, item talk.Item) {
	switch item.Kind {
	case talk.ToolResult, talk.PermissionDecision, talk.Interrupt, talk.TurnEnd:
		a.Look(session, false)
	}
}

// heard ends what waits for an answer of a session that is over.
func (a *Requests) heard(ctx context.Context, s port.Session, n news.News) error {
	switch n.(type) {
	case news.DialogGone:
		return a.dialogGone(ctx, s.ID)
	case news.Ended, news.Lost, news.Stopped, news.Failed, news.Transferred:
		a.Look(s.ID, true)
	}
	return nil
}

const dialogDrawn = time.Second // how much later than its request a dialog is drawn at most

// dialogGone ends the wait for what the terminal does not ask any more: the request's own goroutine
// lets the hook go. A request that came since
// that was seen has a dialog of its own, and a subagent's is not drawn before its hook has ended.
func (a *Requests) dialogGone(ctx context.Context, id uuid.UUID) error {
	for _, r := range a.requestsOf(id) {
		old, next, err := r.change(ctx, func(s State) (State, error) {
			now := a.Chat.Now()
			if s.Request.SubagentID != "" || now.Sub(s.Request.Asked) < dialogDrawn {
				return s, nil
			}
			return leave(s, true, now), nil
		})
		if err != nil && !errors.Is(err, errOver) {
			return err
		}
		if old.Stage != next.Stage {
			r.loose.Store(true)
		}
	}
	a.Look(id, false)
	return nil
}

// Behind is the newest request of a session that a person may decide in a conversation, if there is
// one, and its tool; answers reports whether a text may answer the request. A text is offered to
// none of a subagent's, which the person may not have in mind.
func (a *Requests) Behind(id uuid.UUID, to outbox.Conversation) (request, tool string, answers bool) {
	for _, s := range slices.Backward(a.Store.Unsettled()) {
		if s.Request.Session == id && s.Request.SubagentID == "" && s.Stage == StageOpen && s.Conversation == to {
			return s.Request.ID, s.Request.Tool, s.OneLeft()
		}
	}
	return "", "", false
}

// IsOpen reports whether a person may decide a request.
func (a *Requests) IsOpen(request string) bool {
	s, ok := a.Store.Get(request)
	return ok && s.Stage == StageOpen
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

// NameOf is the name of a request's session.
func (a *Requests) NameOf(s State) string {
	session, _ := a.Chat.Book.Records.Get(s.Request.Session)
	return glyph.Name(session.Name)
}
