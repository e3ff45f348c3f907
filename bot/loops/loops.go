package loops

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/machine"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/news"
	"ccbot/port/refusal"
)

// Deps holds the dependencies of Loops.
type Deps struct {
	Chat  *chat.Chat
	Loops port.Loops
	Diffs folders.Diffs
	// Templates may start a loop instead of replies.
	Templates port.LoopTemplates
	// Brief returns a session's known work without running git.
	Brief func(ctx context.Context, id uuid.UUID) (port.Work, error)
	// Changes shows the changes of a session since a moment.
	Changes chat.OnSession
}

// Loops shows the loops of all sessions.
type Loops struct {
	Deps
	cards chat.Cards[shown]
	notes chat.Cards[note]
	wake  chan struct{}

	exist   atomic.Bool // there has been a loop since the start
	drawing sync.Mutex  // held while a card is drawn
	drawn   map[uuid.UUID]time.Time
}

// shown is the payload of a card.
type shown struct {
	Loop    uuid.UUID      `json:"loop"`
	State   port.LoopState `json:"state"`
	Step    string         `json:"step,omitempty"` // after which the changes were counted
	Changed *changed       `json:"changed,omitempty"`
	Done    int            `json:"done,omitempty"`
	Tasks   int            `json:"tasks,omitempty"` // of the agent's to-do list
}

// changed counts the changes since the loop began.
type changed struct {
	Files   int `json:"files"`
	Added   int `json:"added"`
	Deleted int `json:"deleted"`
}

// note is the payload of a message that reports a pause or an end.
type note struct {
	Loop  uuid.UUID      `json:"loop"`
	State port.LoopState `json:"state"`
}

// New returns the feature.
func New(d Deps) *Loops {
	return &Loops{Deps: d, cards: chat.NewCards[shown](d.Chat, cardKind), notes: chat.NewCards[note](d.Chat, noteKind), wake: make(chan struct{}, 1), drawn: make(map[uuid.UUID]time.Time)}
}

const (
	cardKind = "loop"
	noteKind = "loop-note"
)

// FeatureName is the name of the feature.
const FeatureName = "loops"

// Feature describes loops to the dispatcher.
func (l *Loops) Feature() chat.Feature {
	f := chat.Feature{Name: FeatureName, OnNews: l.onNews, Run: l.run,
		Cards: map[string]chat.OnTap{
			cardKind: l.cards.OnTap(func(ctx context.Context, t chat.Tap, was shown) (chat.Answer, error) {
				return l.act(ctx, t.To, t.From, was.Loop, t.Card.Option), nil
			}),
			noteKind: l.notes.OnTap(func(ctx context.Context, t chat.Tap, was note) (chat.Answer, error) {
				return l.act(ctx, t.To, t.From, was.Loop, t.Card.Option), nil
			})},
		Pages:    map[string]chat.Page{setupPage: l.setup(), listPage: l.list()},
		Commands: []chat.Command{l.Chat.Pages.Command(listPage, listPage)}}
	f.Commands[0].Once = l.exist.Load
	l.Chat.ByName(&f, chat.Command{Name: setupPage, Once: l.exist.Load}, func(r port.Session) bool { return r.State.Open() }, l.ask)
	return f
}

// Wake is called when a loop has changed. It does not wait.
func (l *Loops) Wake() { pause.Poke(l.wake) }

// OfLoop returns a function that reports whether the worktree in a folder is, or may be, a loop's.
func OfLoop(all port.Loops) func(ctx context.Context, dir string) bool {
	return func(ctx context.Context, dir string) bool {
		loops, err := all.All(ctx)
		on, _ := folders.Split(dir)
		return refusal.Lacks(err, on) || slices.ContainsFunc(loops, func(l port.Loop) bool {
			return l.Worktree != nil && l.Worktree.Dir == dir && !l.Worktree.Removed
		})
	}
}

// read returns all loops.
func (l *Loops) read(ctx context.Context) ([]port.Loop, error) {
	all, err := l.Loops.All(ctx)
	if len(all) > 0 {
		l.exist.Store(true)
	}
	return all, err
}

// find returns a loop.
func (l *Loops) find(ctx context.Context, id uuid.UUID) (of port.Loop, known bool, err error) {
	all, err := l.read(ctx)
	if i := slices.IndexFunc(all, func(one port.Loop) bool { return one.ID == id }); i >= 0 {
		return all[i], true, nil
	}
	return of, false, err
}

// TellPlanners pauses the loops whose person or place is no longer allowed, and resumes those of who is
// allowed again.
func (l *Loops) TellPlanners(ctx context.Context) error {
	all, err := l.read(ctx)
	pass := machine.NewPass(ctx)
	defer pass.End()
	errs := []error{err}
	for _, of := range all {
		r, known := l.Chat.Book.Records.Get(of.Session)
		change := port.LoopChange{Loop: of.ID, Session: of.Session, Do: port.LoopPause, Barred: true}
		switch may := l.Chat.Book.MayAct(of.By, r.Conversation); {
		case !known || r.State == port.StateUnknown:
			continue
		case may && of.State == port.LoopPaused && of.Reason == port.WhyBarred:
			change.Do, change.By = port.LoopResume, of.By
		case may || !of.State.Moves():
			continue
		}
		_, err := l.Loops.Change(pass.On(r.Machine), change)
		if !refusal.Is(err, refusal.Changed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// onNews shows a loop that has begun, is paused or has ended.
func (l *Loops) onNews(ctx context.Context, r port.Session, n news.News) error {
	of, is := n.(news.Looped)
	if !is {
		return nil
	}
	l.exist.Store(true)
	defer l.Wake() // it counts the changes
	l.Chat.Pages.Change(listPage)
	return errors.Join(l.show(ctx, r, of.Loop), l.report(ctx, r, of.Loop))
}

// run draws the cards of loops that have changed. The first call returns those that changed while
// no ccbot ran.
func (l *Loops) run(ctx context.Context) error {
	for ctx.Err() == nil {
		pause.Until(ctx, l.drawAll(ctx), l.wake)
	}
	return nil
}

// drawAll draws the cards of all loops, and returns the time until they are due again.
func (l *Loops) drawAll(ctx context.Context) (wait time.Duration) {
	wait = pause.Forever
	all, err := l.read(ctx)
	if err == nil {
		err = l.closeRemoved(ctx, all)
	}
	if err != nil && ctx.Err() == nil {
		if wait = faultInterval; refusal.Lacks(err, "") {
			l.Chat.Log.Warn("loop_not_shown", logkey.Error, err)
		}
	}
	pass := machine.NewPass(ctx)
	defer pass.End()
	for _, one := range all {
		r, known := l.Chat.Book.Records.Get(one.Session)
		if !known || r.State == port.StateUnknown {
			continue
		}
		again, err := l.draw(pass.On(r.Machine), r, one)
		if err != nil && ctx.Err() == nil {
			l.Chat.Log.Warn("loop_not_shown", logkey.LoopID, one.ID.String(), logkey.SessionID, one.Session.String(), logkey.Error, err)
			again = faultInterval
		}
		if again > 0 {
			wait = min(wait, again)
		}
	}
	return wait
}

// faultInterval is the pause after a fault of the machine.
const faultInterval = 5 * time.Second

// failure explains why a person's decision was refused. If the loop had changed before, its card
// shows that.
func (l *Loops) failure(ctx context.Context, to place, r port.Session, err error) error {
	if err == nil || refusal.Is(err, refusal.Changed) {
		l.Wake()
		return nil
	}
	return l.Chat.Explain(ctx, to, l.Chat.In(to).Failure(r, err))
}
