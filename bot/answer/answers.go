package answer

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/news"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/talk"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/internal/address"
	"ccbot/internal/pause"
)

// Sender sends at once: Send and SendFile return when Telegram took the message or refused it.
type Sender interface {
	Send(ctx context.Context, m outbox.Message) (int, error)
	SendFile(ctx context.Context, f outbox.File) (int, error)
	Typing(ctx context.Context, to address.Conversation)
}

// Limits are what Telegram does not take at this moment.
type Limits interface {
	Parked(chat int64) bool // the chat takes nothing until somebody there writes
	TakesRich() bool        // the server has rich messages, as far as is known
}

// Sessions are the agents behind the transcripts.
type Sessions interface {
	Look(ctx context.Context, id uuid.UUID) desk.Look
	Advance(ctx context.Context, id uuid.UUID, c talk.Cursor) error
	Attach(id uuid.UUID) string
}

// Prompts are the messages of people.
type Prompts interface {
	Load(key string) (inbox.Entry, error)
}

// Outputs are what commands of bash mode print.
type Outputs interface {
	// Parts are what the chat shows of an output. They leave [HeadingRoom] free.
	Parts(r views.Session, item talk.Item) []render.Part
	// Finish shows an output in the message that has grown with its command, and returns when the
	// chat has the output there; false: there is no such message.
	Finish(ctx context.Context, r views.Session, item talk.Item, part render.Part) (bool, error)
}

// Deps are what Answers work with.
type Deps struct {
	Chat        *chat.Chat
	Sender      Sender
	Limits      Limits
	Sessions    Sessions
	Prompts     Prompts
	Outputs     Outputs
	Transcripts talk.Transcripts
	// Items are told of each item before the item is shown. An item may come twice.
	Items    []func(session uuid.UUID, item talk.Item)
	Rich     bool // rich messages where the server has them
	Thinking bool // what an agent thinks is shown, too
}

// Answers shows in the chat what agents write: one reader per session.
type Answers struct {
	Deps
	wake chan struct{}

	mu      sync.Mutex
	readers map[uuid.UUID]*transcriptReader
	waiting []*transcriptReader                // of readers: those that do not run yet
	opened  map[uuid.UUID]address.Conversation // where people want to see a session's last answer
	parked  map[int64]chan struct{}            // of chats that readers wait for: closed when somebody writes there
}

// New returns Answers; Run shows what there is.
func New(d Deps) *Answers {
	return &Answers{Deps: d, wake: make(chan struct{}, 1), readers: make(map[uuid.UUID]*transcriptReader),
		opened: make(map[uuid.UUID]address.Conversation), parked: make(map[int64]chan struct{})}
}

// Follow makes sure that a session has a reader, and tells the reader to look again: there is a new
// transcript, or the session has ended.
func (a *Answers) Follow(r views.Session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t, ok := a.readers[r.ID]
	if !ok {
		t = &transcriptReader{answers: a, id: r.ID, news: make(chan struct{}, 1), left: make(chan struct{})}
		a.readers[r.ID] = t
		a.waiting = append(a.waiting, t)
	}
	pause.Poke(t.news) // with the lock held: the reader must not leave in between
	pause.Poke(a.wake)
}

// Nudge tells a session's reader, if the session has one, to look again.
func (a *Answers) Nudge(id uuid.UUID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t, ok := a.readers[id]; ok {
		pause.Poke(t.news)
	}
}

// Left is closed when the reader of a session has left; it is nil where there is no reader.
func (a *Answers) Left(id uuid.UUID) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t, ok := a.readers[id]; ok {
		return t.left
	}
	return nil
}

// Run reads for every session that may have something unsaid.
func (a *Answers) Run(ctx context.Context) error {
	for _, r := range a.Chat.Book.Records.List() {
		if len(r.Cursors) > 0 {
			a.Follow(r)
		}
	}
	var g errgroup.Group
	for {
		for _, t := range a.takeWaiting() {
			g.Go(func() error { t.keepRunning(ctx); return nil })
		}
		select {
		case <-ctx.Done():
			return g.Wait()
		case <-a.wake:
		}
	}
}

func (a *Answers) takeWaiting() []*transcriptReader {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := a.waiting
	a.waiting = nil
	return all
}

// leave ends a reader unless there is news that the reader has not looked at.
func (a *Answers) leave(t *transcriptReader) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(t.news) > 0 {
		<-t.news
		return false
	}
	close(t.left)
	delete(a.readers, t.id)
	return true
}

// advance notes how far the chat has a transcript; false says that the cursor is not on disk.
func (a *Answers) advance(ctx context.Context, id uuid.UUID, c talk.Cursor) bool {
	ctx = context.WithoutCancel(ctx)
	err := a.Sessions.Advance(ctx, id, c)
	if r, ok := a.Chat.Book.Records.Get(id); err == nil && ok {
		if next := a.Chat.Book.Successor(r).ID; next != id {
			err = a.Sessions.Advance(ctx, next, c) // the successor has the cursors by now
		}
	}
	if err != nil && !refusal.Is(err, refusal.NotFound) {
		a.Chat.Log.Error("cursor_not_saved", "session_id", id.String(), "error", err.Error())
		return false
	}
	return true
}

// parkedLook is how often a reader looks at a chat that takes nothing, in case that nobody told the
// reader of a change.
const parkedLook = time.Minute

// awaitUnparked waits until somebody has written in a chat that takes nothing, or until there is
// news of the session: the session may be shown elsewhere by now.
func (a *Answers) awaitUnparked(ctx context.Context, chat int64, news chan struct{}) {
	a.mu.Lock()
	written, ok := a.parked[chat]
	if !ok {
		written = make(chan struct{})
		a.parked[chat] = written
	}
	a.mu.Unlock()
	if !a.Limits.Parked(chat) {
		return // since the channel is there nothing is missed
	}
	t := time.NewTimer(parkedLook)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-written:
	case <-news:
	case <-t.C:
	}
}

// Unparked hears that a chat may take messages again.
func (a *Answers) Unparked(chat int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if written, ok := a.parked[chat]; ok {
		close(written)
		delete(a.parked, chat)
	}
}

// Heard notes since when a prompt's own turn runs.
func (a *Answers) Heard(_ context.Context, n news.Note) error {
	if n.Kind == news.Delivered {
		a.beginTurn(n)
	}
	return nil
}

// Feature is what the roof knows of Answers.
func (a *Answers) Feature() chat.Feature {
	return chat.Feature{Name: "answers",
		News: map[news.Kind]func(context.Context, news.Note) error{
			news.Transcript: func(_ context.Context, n news.Note) error { a.Follow(n.Session); return nil },
		},
		Heard:    a.Heard,
		Run:      a.Run,
		Unparked: a.Unparked,
	}
}
