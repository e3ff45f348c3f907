package answer

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

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

// Sender sends immediately: Send and SendFile return when Telegram has accepted or refused the
// message.
type Sender interface {
	Send(ctx context.Context, m outbox.Message) (int, error)
	SendFile(ctx context.Context, f outbox.File) (int, error)
}

// Limits describes what Telegram accepts now.
type Limits interface {
	IsSuspended(chat int64) bool // the chat accepts nothing until a person writes there
	TakesRich() bool             // the server is known to support rich messages
}

// Sessions is the interface to the agents' sessions.
type Sessions interface {
	talk.CursorStore
	Inspect(ctx context.Context, ids ...uuid.UUID) (map[uuid.UUID]port.Status, error)
}

// Outputs shows the outputs of terminal commands.
type Outputs interface {
	// Parts returns the chat's parts of an output. They leave [HeadingRoom] free.
	Parts(ctx context.Context, r port.Session, item talk.Item) []render.Part
	// Finish shows an output in the message that has grown with its command, and returns when the
	// chat has it. It returns false if there is no such message.
	Finish(ctx context.Context, r port.Session, item talk.Item, part render.Part) (bool, error)
}

// LongTexts shows texts that do not fit in memory.
type LongTexts interface {
	// Parts returns the chat's parts of an item with a Rest. They leave [HeadingRoom] free.
	Parts(r port.Session, item talk.Item) []render.Part
	// Offer posts a part of Parts that has a button. If the part has none, it posts nothing and
	// returns false.
	Offer(ctx context.Context, r port.Session, p render.Part, rank outbox.Rank) (is bool, err error)
}

// Stops handles the stops of people.
type Stops interface {
	// HasStopped reports whether a person has stopped a session after a time, and lately.
	HasStopped(session uuid.UUID, after time.Time) bool
	// StoppedBy returns who has stopped a session after a time, and lately; 0: nobody in the chat.
	StoppedBy(session uuid.UUID, after time.Time) int64
	// Stopped shows the effect of a stop in the list of texts that it took back; false: no list.
	Stopped(ctx context.Context, r port.Session, to outbox.Conversation, s chat.Stop) (shown bool, err error)
}

// Deps holds the dependencies of Answers.
type Deps struct {
	Chat   *chat.Chat
	Sender interface {
		Sender
		Limits
	}
	Sessions Sessions
	Outputs  Outputs
	Long     LongTexts
	Stops    Stops
	// Explain shows a text in the message of the request for a call that follows it, and waits until
	// the chat has it; false: it needs a message of its own.
	Explain func(ctx context.Context, to outbox.Conversation, session uuid.UUID, tool, text string) (shown bool, err error)
	// IsNext reports whether the next prompt of a session is typed as soon as a turn has ended.
	IsNext      func(r port.Session, end talk.Cursor) bool
	Transcripts interface {
		talk.Transcripts
		talk.Pictures
	}
	// OnItem is called with each item before the item is shown, possibly twice.
	OnItem   func(session uuid.UUID, item talk.Item)
	Rich     bool                              // rich messages if the server supports them
	Thinking bool                              // show the agent's thinking
	Signs    func(to outbox.Conversation) bool // whether the chat shows "typing" while the agent works
}

// Answers shows in the chat what agents write: one reader per session.
type Answers struct {
	Deps
	group guard.Group // runs the readers

	mu         sync.Mutex
	readers    map[uuid.UUID]*transcriptReader
	waiting    map[uuid.UUID]outbox.Conversation // where a session with an unsaved cursor was reported
	unreadable map[uuid.UUID]string              // transcripts whose readers wait to retry
}

// New returns Answers; Run starts the readers.
func New(d Deps) *Answers {
	return &Answers{Deps: d, readers: make(map[uuid.UUID]*transcriptReader), unreadable: make(map[uuid.UUID]string),
		waiting: make(map[uuid.UUID]outbox.Conversation)}
}

// Follow starts the reader of a session, or makes it check the session again: there is a new
// transcript, the session has ended, or it is shown elsewhere.
func (a *Answers) Follow(r port.Session) { a.Recall(r, outbox.Conversation{}) }

// Recall is Follow, and also shows the session's last answer in a conversation where a person opens
// the session. The session's reader shows it, because it knows the items that it is about to show.
func (a *Answers) Recall(r port.Session, to outbox.Conversation) { a.show(r, opening{to: to}) }

// Look is Recall for a person who only looks at a session that is shown elsewhere: the last answer is
// shown each time, and nothing is stored about what the conversation has of the session.
func (a *Answers) Look(r port.Session, to outbox.Conversation) { a.show(r, opening{to, true}) }

func (a *Answers) show(r port.Session, o opening) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t, ok := a.readers[r.ID]
	if !ok {
		t = &transcriptReader{answers: a, id: r.ID, left: make(chan struct{}), endPass: func() {}}
		a.readers[r.ID] = t
		a.group.Add(t.run)
	}
	if o.to != (outbox.Conversation{}) {
		t.opened = o
	}
	t.endPass() // with the lock held: the reader must not leave in between
}

// Unreadable returns the transcripts that cannot be read now, in order.
func (a *Answers) Unreadable() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Compact(slices.Sorted(maps.Values(a.unreadable)))
}

// Left returns a channel that is closed when the session has no reader.
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

// Run starts a reader for every session with cursors, and waits for ctx.
func (a *Answers) Run(ctx context.Context) error {
	a.group.Add(func(ctx context.Context) {
		a.Chat.Book.ReadAll(ctx, func(known []port.Session) {
			for _, r := range known {
				if len(r.Cursors) > 0 {
					a.Follow(r)
				}
			}
		})
	})
	return a.group.Run(ctx, func(p *guard.Panic) { a.logCrash(uuid.Nil, p) })
}

func (a *Answers) logCrash(id uuid.UUID, p *guard.Panic) {
	a.Chat.Log.Error("answer_crashed", logkey.SessionID, id.String(), logkey.Panic, p.Error(), logkey.Stack, p.Stack)
}

// note stores the position in a transcript up to which the chat has everything. The engine gets it
// first: if the chat's position is in a later transcript, the record no longer has the earlier one.
func (a *Answers) note(ctx context.Context, r port.Session, c talk.Cursor) error {
	switch err := a.Sessions.Advance(ctx, r.ID, c); {
	case refusal.Is(err, refusal.NotFound):
		return nil
	case err != nil:
		return err
	}
	return a.Chat.Book.Cursors().Note(r.Conversation, r.ID, c)
}

// onNews follows a transcript, and stores which prompts begin a turn.
func (a *Answers) onNews(_ context.Context, s port.Session, n news.News) error {
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

// onResumed is called when a chat accepts messages again: the readers check their sessions. Those of
// ended sessions have left if nobody there was allowed.
func (a *Answers) onResumed(_ context.Context, to int64) {
	a.mu.Lock()
	for _, t := range a.readers {
		t.endPass()
	}
	a.mu.Unlock()
	for _, r := range a.Chat.Book.Known() {
		if r.Conversation.ChatID == to && len(r.Cursors) > 0 {
			a.Follow(r)
		}
	}
}

// FeatureName is the name of the feature.
const FeatureName = "answers"

// Feature describes the feature to the dispatcher.
func (a *Answers) Feature() chat.Feature {
	return chat.Feature{Name: FeatureName,
		OnNews:    a.onNews,
		Run:       a.Run,
		OnResumed: a.onResumed,
		OnCurrent: func(_ context.Context, _ outbox.Conversation, id uuid.UUID) error {
			a.Follow(port.Session{ID: id})
			return nil
		},
		OnShown: a.Follow, // it may have waited for a place where it may be shown
	}
}
