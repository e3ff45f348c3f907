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
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// keep is the time that a request is stored after its end, to recognize a late redial and a
// repeated text. It is checked once a day.
const keep = 7 * 24 * time.Hour

// Queues manages the prompts that wait for a session; see talk.PromptEdits and talk.PromptQueue.
type Queues interface {
	Withdraw(ctx context.Context, session uuid.UUID, key string) error
	// Wake makes a session check its terminal. It does not wait.
}

// Dialogs shows the dialogs of terminals; see package dialog.
type Dialogs interface {
	// IsShown reports whether a session has one with buttons.
	IsShown(session uuid.UUID) bool
	// Again shows it below all other messages. It returns false if there is none.
	Again(ctx context.Context, session uuid.UUID) (shown bool, err error)
}

// Deps holds the dependencies of Requests.
type Deps struct {
	Chat  *chat.Chat
	Store *Store
	Hooks interface {
		talk.RequestWaiters
		talk.DecisionRecords
	}
	Entry   func(key string) (inbox.Entry, error) // a person's text
	Queues  Queues
	Dialogs Dialogs
	// Opened is called before the message about a question is sent: it is below what this sends.
	Opened func(ctx context.Context, to outbox.Conversation, session uuid.UUID) error
	// OnEnd is called when a request has ended, and that is on disk.
	OnEnd func(ctx context.Context)
}

// Requests manages the permission requests, questions and plans of all sessions. Each has a card,
// and a goroutine that follows it until it has ended. People and hooks change it immediately, under
// its lock, without waiting for that goroutine.
type Requests struct {
	Deps
	cards card.Kind[copied] // by the id of the request; for the private chats of others see copies.go

	mu     sync.Mutex   // held briefly: no port is called under it. The Store is read.
	open   []*request   // not ended, oldest first
	group  *guard.Group // their goroutines; nil before Run
	recent map[uuid.UUID]*volume
	calls  map[uuid.UUID]map[string]string // by session: the tools of the calls that its reader has passed and that run

	releases []func(ctx context.Context) // of hooks, which Run makes
}

// CardKind is the kind of the cards.
const CardKind = "ask"

// NewRequests returns the requests of the store.
func NewRequests(d Deps) *Requests {
	a := &Requests{Deps: d, recent: make(map[uuid.UUID]*volume), calls: make(map[uuid.UUID]map[string]string)}
	a.cards = card.NewKind[copied](d.Chat.Cards, CardKind, a.refused).Asking()
	a.cards.OnSent(func(id string) {
		if r, open := a.find(id); open {
			r.settled(true)
		}
	})
	for _, s := range d.Store.Unsettled() {
		r := a.newRequest(s.Request)
		r.due = true
		a.open = append(a.open, r)
	}
	return a
}

func (a *Requests) newRequest(q Request) *request {
	r := &request{of: a, id: q.ID, session: q.Session, tool: q.Tool, wake: make(chan struct{}, 1), called: make(chan struct{})}
	r.fate = make(chan struct{})
	r.decided = sync.OnceFunc(func() { close(r.fate) })
	if q.SubagentID != "" { // the chat shows none of its texts
		r.pass()
	}
	return r
}

// FeatureName is the name of the feature.
const FeatureName = "ask"

// Feature describes the feature to the dispatcher.
func (a *Requests) Feature() chat.Feature {
	return chat.Feature{
		Name:      FeatureName,
		Cards:     map[string]chat.OnTap{CardKind: a.tap},
		Late:      map[string]func(chat.Tap) string{CardKind: a.late},
		OnNews:    a.onNews,
		Text:      a.text,
		Run:       a.Run,
		Forget:    a.forget,
		OnItem:    a.item,
		OnCurrent: a.switched,
		OnMoved:   a.moved,
		OnMachine: func(string) { WakeAll(a) },
	}
}

// Run follows the requests until ctx ends, and closes the cards of requests that have ended or are
// unknown.
func (a *Requests) Run(ctx context.Context) error {
	group := new(guard.Group)
	group.Add(a.prune)
	a.mu.Lock()
	a.group = group
	for _, r := range a.open {
		r.startLocked(r.follow)
	}
	for _, release := range a.releases {
		group.Add(release)
	}
	a.releases = nil
	a.mu.Unlock()
	for _, shown := range a.cards.List() {
		if _, open := a.find(shownRequest(shown.Key)); !open {
			group.Add(func(ctx context.Context) { a.closeCard(ctx, shownRequest(shown.Key)) })
		}
	}
	return group.Run(ctx, func(p *guard.Panic) { a.logCrash("", p) })
}

func (a *Requests) prune(ctx context.Context) {
	for ctx.Err() == nil {
		if err := a.Store.Prune(a.Chat.Now().Add(-keep)); err != nil {
			a.Chat.Log.Warn("asks_not_pruned", logkey.Error, err)
		}
		_ = pause.For(ctx, 24*time.Hour)
	}
}

// note logs an error of a request; the next check tries again.
func (a *Requests) note(id string, err error) {
	if err != nil {
		a.Chat.Log.Error("ask_not_settled", logkey.Request, id, logkey.Error, err)
	}
}

func (a *Requests) logCrash(id string, p *guard.Panic) {
	a.Chat.Log.Error("ask_crashed", logkey.Request, id, logkey.Panic, fmt.Sprint(p.Value), logkey.Stack, p.Stack)
}

// remove forgets a request that has ended; its goroutine ends.
func (r *request) remove() {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.of.open = slices.DeleteFunc(r.of.open, func(one *request) bool { return one == r })
	pause.Poke(r.wake)
	r.settled(false)
}

func (a *Requests) find(id string) (*request, bool) {
	all := a.requests(func(r *request) bool { return r.id == id })
	if len(all) == 0 {
		return nil, false
	}
	return all[0], true
}

// requestsOf returns a session's requests that have not ended, oldest first.
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

// takeOwn accepts a request of a waiting hook of the chat's own machine, also after a redial. It is
// on disk when it returns. An error leaves the request to its terminal.
func (a *Requests) takeOwn(ctx context.Context, s port.Session, n news.Requested) error {
	q := n.Request
	switch known, err := a.redialled(ctx, q); {
	case errors.Is(err, errNotHere):
		return a.Hooks.Leave(ctx, q.Session, q.ID)
	case known || err != nil:
		return err
	}
	if s.State == port.StateUnknown { // the hook asks again
		return fmt.Errorf("request %s: its session: %w", q.ID, refusal.ErrUnreachable)
	}
	return a.fresh(ctx, s, q, n.Project, false)
}

// errNotHere is returned for a request that could not be answered in the chat, or would not be.
var errNotHere = errors.New("the terminal decides the request")

// redialled reports whether a request is known; then its hook has redialled.
func (a *Requests) redialled(ctx context.Context, q Request) (known bool, err error) {
	s, known := a.Store.Get(q.ID)
	if !known {
		return false, nil
	}
	r, open := a.find(q.ID)
	switch {
	case !open, s.HasEnded(), s.InTerminal:
		return true, errNotHere
	case !s.Same(q):
		return true, fmt.Errorf("request %s is another one than before", q.ID)
	}
	r.dials.Add(1)
	a.note(q.ID, a.Opened(ctx, s.Conversation, q.Session))
	err = r.turn(ctx, func(s State) State {
		r.due = r.due || s.Stage == StageOpen // its card may have been withdrawn
		return r.relocated(renewed(Return(s), q))
	})
	if err != nil {
		return true, err
	}
	if _, stays := a.Store.Get(q.ID); !stays { // it was dropped in between
		return false, nil
	}
	r.left.Store(false)
	pause.Poke(r.wake) // a decision made in the meantime is delivered
	return true, nil
}

// fresh accepts a new request, and lets its goroutine show it. late reports that its hook may have gone since.
func (a *Requests) fresh(ctx context.Context, session port.Session, q Request, project []talk.Answerer, late bool) error {
	places := a.seen(session)
	if session.ID != q.Session || len(places) == 0 {
		return fmt.Errorf("request %s: its session is shown in no chat", q.ID)
	}
	s := New(q, places[0])
	s.Project = project
	r := a.newRequest(q)
	a.mu.Lock()
	r.late, r.held, r.due = late, a.group != nil, true // before Run nothing is on its way
	a.mu.Unlock()
	r.mu.Lock() // others wait until it is on disk
	defer r.mu.Unlock()
	if err := a.admit(ctx, r); err != nil {
		return fmt.Errorf("request %s: %w", q.ID, err)
	}
	if err := a.Store.Save(s); err != nil {
		r.remove()
		return err
	}
	a.Chat.At("ask-saved")
	if !r.held {
		a.note(q.ID, a.Opened(ctx, s.Conversation, q.Session))
		if !late {
			r.showLocked(ctx, s)
		}
	}
	return nil
}

// noteLeft notes that a request's hook has gone without an answer. At a stop of the program that
// holds for every request, although the hooks will redial; so only a running Run reads it.
func (a *Requests) noteLeft(session uuid.UUID, request string) {
	if r, ok := a.find(request); ok && r.session == session {
		r.left.Store(true)
		pause.Poke(r.wake)
	}
}

// Recheck makes a session's requests check their outcome. ended reports that the agent has ended.
func (a *Requests) Recheck(id uuid.UUID, ended bool) {
	for _, r := range a.requestsOf(id) {
		if ended {
			r.ended.Store(true)
		}
		pause.Poke(r.wake)
	}
}

// item checks a session's requests after an item that may show their outcome. A call lets the
// requests of its tool be shown: what the agent wrote before it is in the chat.
func (a *Requests) item(session uuid.UUID, item talk.Item) {
	a.noteCall(session, item)
	switch item.Kind {
	case talk.ToolResult, talk.PermissionDecision, talk.Interrupt, talk.TurnEnd, talk.PlanBegun:
		a.Recheck(session, false)
	}
}

func (a *Requests) noteCall(session uuid.UUID, item talk.Item) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case item.Ends != "":
		delete(a.calls, session)
	case item.Tool == nil || item.Sidechain:
	case item.Kind == talk.ToolResult:
		delete(a.calls[session], item.Tool.ID)
	case item.Kind == talk.ToolUse:
		if a.calls[session] == nil {
			a.calls[session] = make(map[string]string)
		}
		a.calls[session][item.Tool.ID] = item.Tool.Name
		for _, r := range a.open {
			if r.session == session && r.tool == item.Tool.Name {
				r.pass()
			}
		}
	}
}

func (a *Requests) passLocked(r *request) {
	for _, tool := range a.calls[r.session] {
		if tool == r.tool {
			r.pass()
		}
	}
}

// onNews takes requests, and checks those of a session that has ended, or whose
// dialog is gone.
func (a *Requests) onNews(ctx context.Context, s port.Session, n news.News) error {
	switch n := n.(type) {
	case news.DialogGone:
		return a.dialogGone(ctx, s.ID)
	case news.Requested:
		if s.Machine != "" {
			return takeRemote(ctx, a, s, n)
		}
		return a.takeOwn(ctx, s, n)
	case news.RequestLeft:
		a.noteLeft(s.ID, n.Request)
	}
	if _, moved := n.(news.Transferred); moved || news.IsEnd(n) {
		a.mu.Lock()
		delete(a.calls, s.ID) // a killed agent has left them without results
		a.mu.Unlock()
		a.Recheck(s.ID, true)
	}
	return nil
}

const dialogDrawn = time.Second // longest delay between a request and its dialog

// dialogGone ends the wait for requests that the terminal no longer shows; their goroutines release
// the hooks. It skips newer requests, and a subagent's, which is not drawn while its hook waits.
func (a *Requests) dialogGone(ctx context.Context, id uuid.UUID) error {
	for _, r := range a.requestsOf(id) {
		old, next, err := r.change(ctx, func(s State) (State, error) {
			now := a.Chat.Now()
			if s.Request.SubagentID != "" || now.Sub(s.Request.RequestedAt) < dialogDrawn {
				return s, nil
			}
			return leave(s, true, now), nil
		})
		if err != nil && !errors.Is(err, errEnded) {
			return err
		}
		if old.Stage != next.Stage {
			r.loose.Store(true)
		}
	}
	a.Recheck(id, false)
	return nil
}

// OpenRequest returns the newest request of a session that a person may decide in a conversation,
// if any, and its tool; answers reports whether a text may answer it. It ignores subagents'
// requests, which the person may not have in mind, and those whose denial takes no words.
func (a *Requests) OpenRequest(id uuid.UUID, to outbox.Conversation) (request, tool string, answers bool) {
	for _, s := range slices.Backward(a.Store.Unsettled()) {
		if s.Request.Session == id && s.Request.SubagentID == "" && !s.Request.Ask.Wordless && s.Stage == StageOpen && s.Conversation == to {
			return s.Request.ID, s.Request.Tool, s.OneLeft()
		}
	}
	return "", "", false
}

// OpenIn returns the newest request of a session that a conversation shows and a person may decide, or
// "": also of a subagent, and one whose denial takes no words. People talk about these too.
func (a *Requests) OpenIn(id uuid.UUID, to outbox.Conversation) (request string) {
	for _, s := range slices.Backward(a.Store.Unsettled()) {
		if s.Request.Session == id && s.Stage == StageOpen && s.Conversation == to {
			return s.Request.ID
		}
	}
	return ""
}

// Replied returns the open permission or plan that a message shows; denies reports whether a text may
// be the reason of its denial.
func (a *Requests) Replied(to outbox.Conversation, message int) (request string, denies bool) {
	shown, is := a.cards.Find(to, message)
	s, ok := a.Store.Get(shownRequest(shown.Key))
	if !is || !ok || s.Stage != StageOpen || s.isQuestion() {
		return "", false
	}
	return s.Request.ID, !s.Request.Ask.Wordless
}

// HasOutcome reports whether a request has ended, or is unknown.
func (a *Requests) HasOutcome(request string) bool {
	s, ok := a.Store.Get(request)
	return !ok || s.HasEnded()
}

// IsOpen reports whether a person may decide a request.
func (a *Requests) IsOpen(request string) bool {
	s, ok := a.Store.Get(request)
	return ok && s.Stage == StageOpen
}

// forget removes the stored requests of a session.
func (a *Requests) forget(_ context.Context, id uuid.UUID) error {
	for _, r := range a.requestsOf(id) {
		r.mu.Lock() // a running change ends first
		r.remove()
		r.mu.Unlock()
	}
	a.mu.Lock()
	delete(a.recent, id)
	delete(a.calls, id)
	a.mu.Unlock()
	return a.Store.Forget(id)
}

// NameOf returns the name of a request's session.
func (a *Requests) NameOf(s State) string {
	session, _ := a.Chat.Book.Records.Get(s.Request.Session)
	return glyph.Name(session.Name)
}
