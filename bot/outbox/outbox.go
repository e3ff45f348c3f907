package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

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

	// Uptime, when set before Run, is how long the machine is up. With it the budgets of chats outlive
	// a clean stop; after any other end, and without it, a chat begins without a burst.
	Uptime func() time.Duration

	// Named, set before Run, knows the messages that have a name.
	Named Owner

	// OnMigrate, when set before Run, is told that Aliases knows more: a group became another chat.
	// It must not wait.
	OnMigrate func()

	// OnTopicGone, when set before Run, is told that a topic is not there any more. It must not
	// wait; the outbox itself sends to its chat from then on, until the program ends or somebody
	// writes there.
	OnTopicGone func(gone address.Conversation)

	api     API
	log     *slog.Logger
	jitter  func() float64
	wake    chan struct{}
	began   time.Time                // about when this run did
	full    map[string]time.Duration // how long after that budgets of the run before are full; nil: nothing is known
	budgets sync.Once                // takes what the run before has left
	posts   shelf
	notes   notes

	mu     sync.Mutex // after that of posts
	queues queues
}

// New makes an outbox that keeps posts in dir (made when missing), and beside it what it must know
// in the next run, too. Posts refused for good go to quarantine/ there. server is the address that
// api speaks to, without a token.
func New(api API, server, dir string, log *slog.Logger) *Outbox {
	home := spool.Folder{Path: filepath.Dir(dir), MaxSize: maxPost, Fsync: true}
	o := &Outbox{
		Aliases: &alias.Table{}, api: api, log: log, jitter: rand.Float64, wake: make(chan struct{}, 1), began: time.Now(),
		posts: shelf{folder: spool.Folder{Path: dir, MaxSize: maxPost, Fsync: true}, log: log, named: map[string]string{},
			aside: spool.Loader{Quarantine: filepath.Join(home.Path, quarantineFolder), Tell: true, Log: log}},
		notes: openNotes(home, server, log),
	}
	o.queues = newQueues(o.lane)
	return o
}

// quarantineFolder is beside the folder of posts.
const quarantineFolder = "quarantine"

// shutdownGrace is how long calls under way may take after the end of Run's context: a call that is
// cut off may have been carried out, and then its message comes twice.
const shutdownGrace = 5 * time.Second

// Run sends until ctx ends (nil) or the token turns out to be dead (ErrRevoked). It takes up what
// an earlier run left on disk. When it returns nothing is under way, callers that wait have an
// error, and edits not yet sent are lost.
func (o *Outbox) Run(ctx context.Context) error {
	if err := o.Load(); err != nil {
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
	if wait <= 0 { // only a wake-up changes anything
		wait = pause.Forever
	}
	pause.Until(ctx, wait, o.wake)
	return true
}

// begin asks the schedule, and takes from the budgets what the turn costs. The work it gives does the call.
func (o *Outbox) begin(calls context.Context) (work func(), wait time.Duration, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	q := &o.queues
	if q.fatal != nil {
		return nil, 0, q.fatal
	}
	now := time.Now()
	for _, l := range q.order {
		l.expire(now)
		l.ease(now)
	}
	switch t := next(now, q.order, q.all, q.flying); {
	case t.lane == nil:
		return nil, t.wait, nil
	case t.aside != nil:
		to := q.beginAside(now, t.lane, t.aside)
		return func() { o.deliverAside(calls, t.lane, t.aside, to) }, 0, nil
	default:
		idle := q.begin(now, t.lane, t.job)
		attempt := *t.job
		return func() { o.deliver(calls, t.lane, t.job, attempt, idle) }, 0, nil
	}
}

func (o *Outbox) end() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keepBudgets()
	o.queues.end()
	if errors.Is(o.queues.fatal, ErrRevoked) {
		return fmt.Errorf("outbox: %w", o.queues.fatal)
	}
	return nil
}

// with changes the queues, and has the schedule look at them.
func (o *Outbox) with(change func(q *queues)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(&o.queues)
	pause.Poke(o.wake)
}

// again is when to try what has failed so many times in a row.
func (o *Outbox) again(failures int) time.Time { return time.Now().Add(backoff(failures, o.jitter())) }
