package typing

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/tmux"
)

// Keyboard types into panes. Every method is one guarded tmux command: if the guard does not hold,
// nothing is typed and the error is tmux.ErrGuard.
type Keyboard interface {
	Paste(ctx context.Context, g tmux.Guard, text string) error
	Enter(ctx context.Context, g tmux.Guard) error
	Press(ctx context.Context, g tmux.Guard, key tmux.Key) error
	// LeaveView ends the mode in which a person has scrolled back.
	LeaveView(ctx context.Context, g tmux.Guard) error
}

// Prompts is the one store of prompts and their state. A change is durable when the call returns.
// ErrNoPrompt means that a prompt is finished, or that no session holds it yet, or that a person
// still has to decide whether it is typed.
type Prompts interface {
	Prompt(key string) (Prompt, error)
	// Accept returns an offered prompt as one that is held for a session, and writes nothing: saved,
	// it is in the queue of the session. ErrNoPrompt means that the prompt was typed or finished.
	Accept(o talk.Offer, session uuid.UUID) (Prompt, error)
	SavePrompt(p Prompt) error
	FinishPrompt(key string) error
	// TakeBack, Withdraw and Reword are commands about a held prompt, see talk.PromptEdits.
	TakeBack(key string, number int64, held bool) error
	Withdraw(key string, number int64) error
	Reword(key string, number int64, text string, class talk.PromptClass) error
}

// Typist types into the terminals of sessions. It is made once, and keeps the progress of prompts
// between turns. A restart loses that, which costs at most a repeated report.
type Typist struct {
	observer         *view.Observer
	keyboard         Keyboard
	prompts          Prompts
	hasPendingEvents func(recordID uuid.UUID) (bool, error)

	mu       sync.Mutex
	sessions map[uuid.UUID]progress
}

// New returns a Typist. hasPendingEvents reports whether an unprocessed event of a launch is on
// disk.
func New(o *view.Observer, k Keyboard, p Prompts, hasPendingEvents func(recordID uuid.UUID) (bool, error)) *Typist {
	return &Typist{observer: o, keyboard: k, prompts: p, hasPendingEvents: hasPendingEvents, sessions: make(map[uuid.UUID]progress)}
}

// TakeBack takes a prompt out of its queue for the chat, see talk.PromptEdits. It may be called in
// a turn of the session's worker.
func (t *Typist) TakeBack(key string, number int64, held bool) error {
	return t.prompts.TakeBack(key, number, held)
}

// Observer returns the Observer by which the Typist sees terminals.
func (t *Typist) Observer() *view.Observer { return t.observer }

// Turn is the part of one turn of a session's worker that typing may use.
type Turn struct {
	Record *session.Record
	Save   func() error                                 // puts the record on disk
	Keep   func()                                       // leaves the record to the next save
	Follow func(ctx context.Context) error              // saves, and reports that another transcript must be read
	Notify func(ctx context.Context, n news.News) error // reports what happened to the session
	Wake   func()                                       // requests a step of the session
	At     func(failpoint string)                       // is called at each persisted step
}

// Session types prompts of one session, in one turn of the session's worker: it has the session's
// queue, the text that is being typed, and the proof of its arrival.
type Session struct {
	typist *Typist
	turn   Turn
	r      *session.Record
	term   *Terminal
	// Again is the earliest time of the next check.
	Again time.Duration
	// Reworded reports that a prompt of the queue has another text.
	Reworded bool
}

// Terminal returns the terminal of a session, during one turn of the session's worker.
func (t *Typist) Terminal(r *session.Record) *Terminal {
	return &Terminal{r: r, o: t.observer, keys: t.keyboard}
}

// Of returns the use of the Typist for a session in one turn. term is the session's terminal.
func (t *Typist) Of(turn Turn, term *Terminal) *Session {
	return &Session{typist: t, turn: turn, r: turn.Record, term: term}
}

// Forget forgets the progress of a session's prompts: the session has another agent, or has ended.
func (t *Typist) Forget(id uuid.UUID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.sessions, id)
}

// recall returns the progress of the session's prompts.
func (w *Session) recall() progress {
	w.typist.mu.Lock()
	defer w.typist.mu.Unlock()
	return w.typist.sessions[w.r.ID]
}

func (w *Session) remember(change func(*progress)) {
	w.typist.mu.Lock()
	defer w.typist.mu.Unlock()
	one := w.typist.sessions[w.r.ID]
	change(&one)
	w.typist.sessions[w.r.ID] = one
}

func (w *Session) now() time.Time { return w.typist.observer.Now() }

func (w *Session) log() *slog.Logger { return w.typist.observer.Log }
