package outbox

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"ccbot/bot/alias"
	"ccbot/internal/address"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/spool"
)

// API is the part of the Bot API that the outbox uses; *tgbot.Bot implements it.
type API interface {
	SendMessage(ctx context.Context, params *tgbot.SendMessageParams) (*models.Message, error)
	SendRichMessage(ctx context.Context, params *tgbot.SendRichMessageParams) (*models.Message, error)
	SendDocument(ctx context.Context, params *tgbot.SendDocumentParams) (*models.Message, error)
	SendPhoto(ctx context.Context, params *tgbot.SendPhotoParams) (*models.Message, error)
	EditMessageText(ctx context.Context, params *tgbot.EditMessageTextParams) (*models.Message, error)
	EditMessageMedia(ctx context.Context, params *tgbot.EditMessageMediaParams) (*models.Message, error)
	EditMessageReplyMarkup(ctx context.Context, params *tgbot.EditMessageReplyMarkupParams) (*models.Message, error)
	SendChatAction(ctx context.Context, params *tgbot.SendChatActionParams) (bool, error)
	SetMessageReaction(ctx context.Context, params *tgbot.SetMessageReactionParams) (bool, error)
	AnswerCallbackQuery(ctx context.Context, params *tgbot.AnswerCallbackQueryParams) (bool, error)
	GetMe(ctx context.Context) (*models.User, error)
}

// Outbox sends through one bot. Its methods may be called from any goroutine, also before Run; the
// calls that they ask for are made while Run runs. Places and message numbers, in arguments and in
// results, are the internal ones, see package alias.
type Outbox struct {
	// Aliases, replaced before Run, knows which groups have become which chats.
	Aliases *alias.Table

	// OnSent, when set before Run, is called with the id of each message that has reached the chat,
	// before the sender gets that id. m.To is the message's place. OnSent must be quick.
	OnSent func(m Message, messageID int)

	// MayShow, when set before Run, reports whether a place may be shown anything. A chat that may not
	// is suspended at its next turn, and when it has none yet.
	MayShow func(to address.Conversation) bool

	// Named, set before Run, knows the messages that have a name.
	Named Owner

	// OnMigrate, when set before Run, is called when a group has become another chat and Aliases
	// has recorded that. It must not wait.
	OnMigrate func()

	// OnShut, when set before Run, is called when a chat has refused a message, and when it takes
	// messages again. It must not wait.
	OnShut func()

	// OnClosed, when set before Run, is called when a message found General closed, and its topic too
	// if it was for one. It must not wait. See IsClosed.
	OnClosed func()
	// OnNoReactions, when set before Run, is called when a chat has refused a reaction for the first time. After an error it is
	// called again at the next refusal.
	OnNoReactions func(chat int64) error

	// OnTopicGone, when set before Run, is called when a topic no longer exists. It must not wait.
	// From then on the outbox sends messages for the topic to its chat, until the program ends or a
	// person writes there.
	OnTopicGone func(gone address.Conversation)

	// Elsewhere, when set before Run, adds the session's name to a message or file that is sent
	// outside its topic.
	Elsewhere func(m Message) Message

	// Repeated, when set before Run, adds to a message that it is perhaps in the chat already.
	Repeated func(m Message) Message

	api    API
	log    *slog.Logger
	jitter func() float64
	wake   chan struct{}
	began  time.Time // about when this run began
	posts  postStore
	notes  notes
	left   leftWork

	mu     sync.Mutex // taken after the one in posts
	queues queues
}

// New makes an outbox that keeps posts in dir (made when missing), and the facts for the next run
// next to dir. Posts refused for good go to quarantine/ there. server is the address that api
// speaks to, without a token.
func New(api API, server, dir string, log *slog.Logger) *Outbox {
	home := spool.Folder{Path: filepath.Dir(dir), MaxSize: maxPost, Fsync: true}
	o := &Outbox{
		Aliases: &alias.Table{}, api: api, log: log, jitter: rand.Float64, wake: make(chan struct{}, 1), began: time.Now(),
		posts: postStore{folder: spool.Folder{Path: dir, MaxSize: maxPost, Fsync: true}, log: log, named: map[string]string{},
			side: spool.Loader{Quarantine: filepath.Join(home.Path, quarantineFolder), Report: true, Log: log}},
		notes: openNotes(home, server, log),
	}
	o.left = leftWork{log: log, wake: make(chan struct{}, 1)}
	o.queues, o.posts.queue, o.posts.left = newQueues(o.chatQueue), o.queuePosts, &o.left
	return o
}

const quarantineFolder = "quarantine"

// shutdownGrace is how long calls under way may take after the end of Run's context. Telegram may
// have carried out a call that is cut off, and then the next run sends its message a second time.
const shutdownGrace = time.Second

// Run sends until ctx ends (nil). It begins with the posts of an earlier run. When Run returns
// nothing is under way, callers that wait have an error, and edits not yet sent are lost.
func (o *Outbox) Run(ctx context.Context) error {
	if err := o.Load(); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var running sync.WaitGroup
	running.Go(func() { o.left.run(ctx) })
	for ctx.Err() == nil {
		work, wait := o.begin(calls)
		if work != nil {
			running.Go(work)
			continue
		}
		pause.Until(ctx, cmp.Or(wait, pause.Forever), o.wake) // without a wait only news wakes this loop
	}
	grace := time.AfterFunc(shutdownGrace, cancel)
	defer grace.Stop()
	running.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queues.end()
	return nil
}

// begin asks the schedule for the next turn, and takes its cost from the budgets. The returned
// function makes the call.
func (o *Outbox) begin(calls context.Context) (work func(), wait time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	q := &o.queues
	if len(q.dropped) > 0 {
		all := q.dropped
		q.dropped = nil
		return func() {
			for _, j := range all {
				if j.message.Name != "" {
					_ = o.reportOutcome(calls, j, 0, verdict{answer: refused, err: ErrDropped}) // of a refusal there is no error
				}
			}
		}, 0
	}
	now := time.Now()
	for _, l := range q.order {
		o.bar(l)
		l.queue.unpark(now)
		q.tryShut(now, l)
		l.sideCalls = slices.DeleteFunc(l.sideCalls, func(one *sideCall) bool { return !now.Before(one.expires) })
	}
	switch t := next(now, q.order, q.all, q.flying, q.booked); {
	case t.lane == nil:
		if q.flying == 0 {
			for _, done := range q.flushes {
				close(done)
			}
			q.flushes = nil
		}
		return nil, t.wait
	case t.side != nil:
		to := q.beginSide(now, t.lane, t.side)
		return func() { o.deliverSide(calls, t.lane, t.side, to) }, 0
	default:
		idle := q.begin(now, t.lane, t.job)
		attempt := *t.job
		return func() { o.deliver(calls, t.lane, t.job, attempt, idle) }, 0
	}
}

// bar suspends a chat that may not be shown anything.
func (o *Outbox) bar(l *chatQueue) {
	if l.suspended || o.MayShow == nil || o.MayShow(address.Conversation{ChatID: l.chat}) {
		return
	}
	o.queues.suspend(l)
	o.log.Info("chat_barred", logkey.ChatID, l.chat, logkey.Why, "no person there is allowed")
}

func (o *Outbox) with(change func(q *queues)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(&o.queues)
	pause.Poke(o.wake)
}

// again returns when a call is made again after some failures in a row.
func again(o *Outbox) func(failures int) time.Time {
	return func(failures int) time.Time { return time.Now().Add(backoff(failures, o.jitter())) }
}

// Stats holds send statistics.
type Stats struct {
	Errors  int           // calls that failed or were refused, since the start
	Last    string        // why Telegram refused the last of them; empty: it did not answer
	LastAt  time.Time     // of the last error
	Waits   int           // times that Telegram made a chat wait, since the start
	Waiting int           // messages and edits in the queues
	Wait    time.Duration // the rest of the longest wait
	Failing bool          // the queue of a chat was not taken at its last try, or a message waits because its answer was lost
}

// GoingOf returns how sending is going now.
func GoingOf(o *Outbox) (g Stats) {
	now := time.Now()
	o.with(func(q *queues) {
		g = q.going
		for _, l := range q.order {
			g.Waiting += l.queue.count
			g.Wait = max(g.Wait, l.until.Sub(now))
			g.Failing = g.Failing || l.failures > 0 && l.queue.count > 0 || l.queue.hasUnsure()
		}
	})
	return g
}

// count counts the result of a call to a chat. A call that was answered ends the waits there.
func (q *queues) count(l *chatQueue, v verdict, err error) {
	if v.isAnswer() {
		l.queue.hurry(time.Now())
	}
	switch {
	case err == nil, v.answer == taken:
	case v.answer == paused:
		q.going.Waits++
	default:
		q.going.Errors++
		q.going.Last, q.going.LastAt = "", time.Now()
		if v.answer == refused || v.answer == vanished || v.answer == blocked {
			q.going.Last = err.Error() // Telegram's words
		}
	}
}

// Flush waits until nothing is under way and nothing may be sent at once. It leaves messages that a
// chat's pace holds back: posts are on disk.
func Flush(ctx context.Context, o *Outbox) {
	done := make(chan struct{})
	o.with(func(q *queues) { q.flushes = append(q.flushes, done) })
	select {
	case <-done:
	case <-ctx.Done():
	}
}

func (q *queues) end() {
	q.closed = ErrClosed
	for _, l := range q.order {
		for j := range l.queue.all() {
			j.finish(result{err: j.doubt(q.closed)})
		}
	}
	q.order, q.chats, q.edits = nil, map[int64]*chatQueue{}, map[ref]*job{}
}
