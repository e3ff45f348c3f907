package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"golang.org/x/time/rate"

	"ccbot/bot/alias"
	"ccbot/internal/address"
	"ccbot/internal/pause"
	"ccbot/internal/spool"
)

// API is what the outbox uses of the Bot API; *tgbot.Bot has it.
type API interface {
	SendMessage(ctx context.Context, params *tgbot.SendMessageParams) (*models.Message, error)
	SendRichMessage(ctx context.Context, params *tgbot.SendRichMessageParams) (*models.Message, error)
	SendDocument(ctx context.Context, params *tgbot.SendDocumentParams) (*models.Message, error)
	SendPhoto(ctx context.Context, params *tgbot.SendPhotoParams) (*models.Message, error)
	EditMessageText(ctx context.Context, params *tgbot.EditMessageTextParams) (*models.Message, error)
	EditMessageReplyMarkup(ctx context.Context, params *tgbot.EditMessageReplyMarkupParams) (*models.Message, error)
	DeleteMessage(ctx context.Context, params *tgbot.DeleteMessageParams) (bool, error)
	SendChatAction(ctx context.Context, params *tgbot.SendChatActionParams) (bool, error)
	SetMessageReaction(ctx context.Context, params *tgbot.SetMessageReactionParams) (bool, error)
	AnswerCallbackQuery(ctx context.Context, params *tgbot.AnswerCallbackQueryParams) (bool, error)
	GetMe(ctx context.Context) (*models.User, error)
}

// Outbox sends through one bot. Its methods may be called from anywhere, also before Run; what they
// ask for is done while Run runs. They take and give the names of places and the numbers of
// messages inside, see package alias.
type Outbox struct {
	// Aliases, replaced before Run, knows which groups have become which chats.
	Aliases *alias.Table

	// OnSent, when set before Run, is told the id of each message that the chat has, before who
	// sent it hears of it. m.To is where it stands. It must be quick.
	OnSent func(m Message, messageID int)

	// Named, set before Run, knows the messages of named posts.
	Named Owner

	// OnMigrate, when set before Run, is told that Aliases knows more: a group became another chat.
	// It must not wait.
	OnMigrate func()

	// OnTopicGone, when set before Run, is told that a topic is not there any more. It must not
	// wait; the outbox itself sends to its chat from then on, until the program ends or somebody
	// writes there.
	OnTopicGone func(gone address.Conversation)

	api        API
	server     string
	folder     spool.Folder
	quarantine string
	log        *slog.Logger
	jitter     func() float64
	wake       chan struct{}
	parked     *facts[time.Time]
	rich       *facts[richFact]
	holds      *facts[hold]

	posting  sync.Mutex // held over disk writes, so that names and the queue have the same order; before mu
	loaded   bool       // what earlier runs left is in the queues
	lastName int64
	named    map[string]bool // names that wait; true: posted since the owner was asked

	began time.Time // about when this run did

	mu     sync.Mutex
	lanes  map[int64]*lane
	order  []*lane // the same, oldest first
	all    *rate.Limiter
	flying int
	turns  uint64
	edits  map[ref]*job // the one edit of a message that waits or flies
	known  memory
	gone   map[address.Conversation]bool // topics
	fatal  error                         // why Run must end
	closed error                         // why nothing can be sent any more
}

// New makes an outbox that keeps posts in dir (made when missing), and beside it what it must know
// in the next run, too. Posts refused for good go to quarantine/ there. server is the address that
// api speaks to, without a token.
func New(api API, server, dir string, log *slog.Logger) *Outbox {
	home := spool.Folder{Path: filepath.Dir(dir), MaxSize: maxPost, Fsync: true}
	return &Outbox{
		Aliases: &alias.Table{}, api: api, server: server, log: log, jitter: rand.Float64,
		folder:     spool.Folder{Path: dir, MaxSize: maxPost, Fsync: true},
		quarantine: filepath.Join(home.Path, "quarantine"),
		wake:       make(chan struct{}, 1),
		began:      time.Now(),
		parked:     openFacts[time.Time](home, parkedFile, log),
		rich:       openFacts[richFact](home, richFile, log),
		holds:      openFacts[hold](home, holdsFile, log),
		named:      map[string]bool{},
		lanes:      map[int64]*lane{}, edits: map[ref]*job{}, gone: map[address.Conversation]bool{},
		all: rate.NewLimiter(allRate, allBurst),
	}
}

// shutdownGrace is how long calls under way may take after the end of Run's context: a call that is
// cut off may have been carried out, and then its message comes twice.
const shutdownGrace = 5 * time.Second

// Run sends until ctx ends (nil) or the token turns out to be dead (ErrRevoked). It takes up what
// an earlier run left on disk. When it returns nothing is under way, callers that wait have an
// error, and edits not yet sent are lost.
func (o *Outbox) Run(ctx context.Context) error {
	if err := o.load(); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var running sync.WaitGroup
	for o.serve(ctx, calls, &running) {
	}
	grace := time.AfterFunc(shutdownGrace, cancel)
	defer grace.Stop()
	running.Wait()
	return o.end()
}

// serve does one turn; false ends Run.
func (o *Outbox) serve(ctx, calls context.Context, running *sync.WaitGroup) bool {
	if ctx.Err() != nil {
		return false
	}
	work, wait, err := o.begin(calls)
	switch {
	case err != nil:
		return false
	case work != nil:
		running.Go(work)
		return true
	}
	var timer <-chan time.Time // nil waits for ever
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-ctx.Done():
	case <-o.wake:
	case <-timer:
	}
	return true
}

// begin asks the schedule and takes from the budgets what the turn costs. The work it gives does the call.
func (o *Outbox) begin(calls context.Context) (work func(), wait time.Duration, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fatal != nil {
		return nil, 0, o.fatal
	}
	now := time.Now()
	for _, l := range o.order {
		l.expire(now)
	}
	t := next(now, o.order, o.all, o.flying)
	if t.lane == nil {
		return nil, t.wait, nil
	}
	o.all.AllowN(now, 1)
	o.flying++
	o.turns++
	if t.aside != nil {
		return o.beginAside(calls, t.lane, t.aside), 0, nil
	}
	l, j := t.lane, t.job
	l.budget.AllowN(now, 1)
	l.served, l.flying, j.flying = o.turns, true, true
	attempt := *j
	return func() { o.deliver(calls, l, j, attempt) }, 0, nil
}

func (o *Outbox) end() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = ErrClosed
	if o.fatal != nil {
		o.closed = o.fatal
	}
	for _, l := range o.order {
		for _, j := range l.queue {
			j.finish(result{err: j.doubt(o.closed)})
		}
	}
	o.order, o.lanes, o.edits = nil, map[int64]*lane{}, map[ref]*job{}
	if errors.Is(o.fatal, ErrRevoked) {
		return fmt.Errorf("outbox: %w", o.fatal)
	}
	return nil
}

// add puts a job at the end of its chat's queue.
func (o *Outbox) addLocked(j *job) {
	j.settleIn(o.placeLocked(j.to))
	l := o.laneLocked(j.to.ChatID)
	l.queue = append(l.queue, j)
	o.news()
}

// laneLocked is the lane of a chat.
func (o *Outbox) laneLocked(chat int64) *lane {
	l, ok := o.lanes[chat]
	if !ok {
		l = newLane(chat)
		if now := time.Now(); now.Sub(o.began) < chatBurst*chatEach {
			l.budget.AllowN(now, chatBurst-1) // an earlier run may have used its burst a moment ago
		}
		if d := o.heldFor(chat, time.Now()); d > 0 {
			l.until = time.Now().Add(d)
		}
		o.lanes[chat] = l
		o.order = append(o.order, l)
	}
	return l
}

// news wakes the schedule; one wake is enough for any number of news.
func (o *Outbox) news() {
	pause.Poke(o.wake)
}

// dropLocked takes a job out of its queue.
func (o *Outbox) dropLocked(j *job) {
	l := o.laneLocked(j.to.ChatID)
	l.queue = slices.DeleteFunc(l.queue, func(q *job) bool { return q == j })
	if j.kind == edit && o.edits[j.ref()] == j {
		delete(o.edits, j.ref())
	}
}

func refOf(to address.Conversation, messageID int) ref { return ref{to.ChatID, messageID} }
