package answer

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/internal/guard"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// Sender sends at once: Send and SendFile return when Telegram took the message or refused it.
type Sender interface {
	Send(ctx context.Context, m outbox.Message) (int, error)
	SendFile(ctx context.Context, f outbox.File) (int, error)
}

// Limits are what Telegram does not take at this moment.
type Limits interface {
	Parked(chat int64) bool // the chat takes nothing until somebody there writes
	TakesRich() bool        // the server has rich messages, as far as is known
}

// Sessions are the agents behind the transcripts.
type Sessions interface {
	talk.Shown
	Looks(ctx context.Context, ids ...uuid.UUID) map[uuid.UUID]port.Look
}

// Outputs are what commands of the terminal print.
type Outputs interface {
	// Parts are what the chat shows of an output. They leave [HeadingRoom] free.
	Parts(ctx context.Context, r port.Session, item talk.Item) []render.Part
	// Finish shows an output in the message that has grown with its command, and returns when the
	// chat has the output there; false: there is no such message.
	Finish(ctx context.Context, r port.Session, item talk.Item, part render.Part) (bool, error)
}

// LongTexts are texts that do not fit in memory.
type LongTexts interface {
	// Parts are what the chat shows of an item with a rest. They leave [HeadingRoom] free.
	Parts(r port.Session, item talk.Item) []render.Part
	// Offer posts a part of Parts that has a button; false: it has none, and nothing was posted.
	Offer(ctx context.Context, r port.Session, p render.Part, rank outbox.Rank) (is bool, err error)
}

// Deps are what Answers work with.
type Deps struct {
	Chat   *chat.Chat
	Sender interface {
		Sender
		Limits
	}
	Sessions    Sessions
	Outputs     Outputs
	Long        LongTexts
	Transcripts interface {
		talk.Transcripts
		talk.Pictures
	}
	// Heard is told of each item before the item is shown. An item may come twice.
	Heard    func(session uuid.UUID, item talk.Item)
	Rich     bool                              // rich messages where the server has them
	Thinking bool                              // what an agent thinks is shown, too
	Signs    func(to outbox.Conversation) bool // the chat says "typing" there while the agent works
}

// Answers shows in the chat what agents write: one reader per session.
type Answers struct {
	Deps
	crew guard.Crew // runs the readers

	mu         sync.Mutex
	readers    map[uuid.UUID]*transcriptReader
	waiting    map[uuid.UUID]outbox.Conversation // sessions with an unsaved cursor, where that was reported
	unreadable map[uuid.UUID]string              // transcripts whose readers wait for the next try to read
}

// New returns Answers; Run shows what there is.
func New(d Deps) *Answers {
	return &Answers{Deps: d, readers: make(map[uuid.UUID]*transcriptReader), unreadable: make(map[uuid.UUID]string)}
}

// Follow makes sure that a session has a reader, and has the reader look at the session again:
// there is a new transcript, the session has ended, or it is shown elsewhere.
func (a *Answers) Follow(r port.Session) { a.Recall(r, outbox.Conversation{}) }

// Recall is Follow, and has the last answer of the session shown in a conversation where a person
// opens the session. The session's reader does that: the reader knows what it is about to show.
func (a *Answers) Recall(r port.Session, to outbox.Conversation) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t, ok := a.readers[r.ID]
	if !ok {
		t = &transcriptReader{answers: a, id: r.ID, left: make(chan struct{}), look: func() {}}
		a.readers[r.ID] = t
		a.crew.Add(t.run)
	}
	if to != (outbox.Conversation{}) {
		t.opened = to
	}
	t.look() // with the lock held: the reader must not leave in between
}

// Unreadable returns the transcripts that cannot be read now, in order.
func (a *Answers) Unreadable() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Compact(slices.Sorted(maps.Values(a.unreadable)))
}

// Left is closed when the reader of a session has left, or where there is none.
func (a *Answers) Left(id uuid.UUID) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t, ok := a.readers[id]; ok {
		return t.left
	}
	none := make(chan struct{})
	close(none)
	return none
}

// Run reads for every session that may have something unsaid.
func (a *Answers) Run(ctx context.Context) error {
	for _, r := range a.Chat.Book.Records.List() {
		if len(r.Cursors) > 0 {
			a.Follow(r)
		}
	}
	return a.crew.Run(ctx, func(p *guard.Panic) { a.logCrash(uuid.Nil, p) })
}

func (a *Answers) logCrash(id uuid.UUID, p *guard.Panic) {
	a.Chat.Log.Error("answer_crashed", logkey.SessionID, id.String(), logkey.Panic, p.Error(), logkey.Stack, p.Stack)
}

// note saves how far the chat has a transcript.
func (a *Answers) note(ctx context.Context, r port.Session, c talk.Cursor) error {
	err := a.Sessions.Advance(ctx, r.ID, c)
	if err == nil || refusal.Is(err, refusal.NotFound) {
		return nil
	}
	return err
}

// hear follows a transcript, and notes which prompts begin a turn.
func (a *Answers) hear(_ context.Context, s port.Session, n news.News) error {
	switch n := n.(type) {
	case news.Transcript:
		a.Follow(s)
	case news.Typed:
		a.beginTurn(s, n.Prompt)
	case news.Delivered:
		a.beginTurn(s, n.Prompt)
	}
	return nil
}

// Feature is what the roof knows of Answers.
func (a *Answers) Feature() chat.Feature {
	return chat.Feature{Name: "answers",
		Heard: a.hear,
		Run:   a.Run,
		Unparked: func(context.Context, int64) { // a chat takes messages again: the readers look again
			a.mu.Lock()
			defer a.mu.Unlock()
			for _, t := range a.readers {
				t.look()
			}
		},
		Current: func(_ context.Context, _ outbox.Conversation, id uuid.UUID) error {
			a.Follow(port.Session{ID: id})
			return nil
		},
		Shown: a.Follow, // it may have waited for a place where it may be shown
	}
}
