package inbox

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"

	"ccbot/internal/logkey"
	"ccbot/internal/pause"
)

// ErrRevoked is returned by Run if Telegram has not known the token for ten minutes, see
// tokenDoubt.
var ErrRevoked = errors.New("telegram refuses the bot token: ask @BotFather for the present one")

// quiet is the time without an update after which the offset is dropped: new ids may be smaller.
const quiet = time.Hour

// longestPause is the longest pause after an unanswered poll, so that polls continue within five
// seconds after an outage.
const longestPause = 4 * time.Second

// Config configures an Intake. Token is the bot's token, or a placeholder in the URL that Client's
// transport replaces. It is in no error or log line of this package.
type Config struct {
	Client   *http.Client
	Connect  func() *http.Client // returns a client with new connections, after a poll that hung; nil: Client again
	API      string              // https://api.telegram.org
	Token    string
	Store    *Store
	Handler  Handler
	Reporter Reporter
	Log      *slog.Logger
	// IsAuthorized reports whether an update is accepted: its person may speak in its chat, and it is
	// for this bot. It is called for each update in order, before the update is stored; refused ones
	// leave no trace. After an error the update and all later ones come again. nil accepts all.
	IsAuthorized func(kind string, person int64, chat models.Chat, update json.RawMessage) (bool, error)
	// Moves records that a group has become another chat, if it is one of ours: this news is
	// accepted from any person. After an error the news and all later updates come again. nil: the
	// news is handled like any other message.
	Moves func(from, to int64) (ours bool, err error)
	// Unkept is called with a message that the disk refuses, each time that the message comes. It
	// must be quick, and returns nil for a person who may not speak, or if the message needs the
	// disk. The returned function is called once, and the message is then finished.
	Unkept func(u *models.Update) (do func(ctx context.Context) error)
	Seen   time.Time // when an earlier run was last alive; zero: unknown
	Pulse  *Pulse    // records the state of the polls; may be nil
}

// Intake polls Telegram, stores the updates and hands them on.
type Intake struct {
	cfg      Config
	poller   *poller           // used only by the loop
	polls    []<-chan struct{} // each is closed when its poll has ended; used only by the loop
	queues   jobQueues
	parallel int           // maximum of busy conversations, and of busy tapped messages
	suspect  chan struct{} // one slot, see doLeft
	began    time.Time
}

// NewIntake returns an intake; Run, called once, starts it.
func NewIntake(cfg Config) *Intake {
	cfg.API = strings.TrimRight(cfg.API, "/")
	if cfg.Pulse == nil {
		cfg.Pulse = &Pulse{}
	}
	return &Intake{cfg: cfg, poller: newPoller(cfg), parallel: 16, queues: newJobQueues(), suspect: make(chan struct{}, 1), began: time.Now()}
}

// Run hands on the entries of an earlier run, then polls until polling or ctx ends (nil) or the
// token is refused (ErrRevoked). While ctx lasts it then finishes the running messages and all
// taps; the other messages are on disk, for the next start. When Run returns no handler is running,
// and no poll except one that hangs.
func (i *Intake) Run(ctx, polling context.Context) error {
	left, unread, err := i.cfg.Store.list()
	if err != nil {
		return fmt.Errorf("intake: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer i.queues.close()
	// A poll that hangs may outlive Run: only the end of the process ends a transport that ignores
	// its context, and its answer is not read.
	defer func() { await(context.Background(), slack, i.polls) }()
	defer stop()
	for _, e := range left {
		i.takeLeft(e)
	}
	for _, one := range unread {
		i.queues.add(queueKey{rest: one.key}, job{key: one.key, step: func() error { return i.readLeft(one.key) }})
	}
	i.queues.open(ctx, i.parallel, i.do)
	polls, end := context.WithCancel(ctx)
	defer end()
	defer context.AfterFunc(polling, end)()
	if err := i.pollOn(polls); err != nil {
		return err
	}
	i.queues.finish()
	return nil
}

// takeLeft hands on an entry of an earlier run.
func (i *Intake) takeLeft(e Entry) {
	if e.State == Accepted {
		j := jobOf(e.Key, e.Update)
		j.left = true
		i.queues.add(queueKey{where: e.Conversation}, j)
		return
	}
	i.queues.pass(e.Album)
}

// readLeft hands on an entry that could not be read at the start. Its conversation is unknown until
// then, so later messages do not wait.
func (i *Intake) readLeft(key string) error {
	e, err := i.cfg.Store.reread(key)
	switch {
	case err != nil:
		i.cfg.Log.Error("inbox_entry_not_read", logkey.Key, key, logkey.Error, err)
	case e.Key != "":
		i.takeLeft(e)
	}
	return err
}

// polling is the state of the poll loop. It starts without an offset: Telegram sends all
// unconfirmed updates again, and the store drops those that it has.
type polling struct {
	offset   int64
	handed   map[int64]bool             // handed on without the disk, unconfirmed: redelivered after a failed write
	nameless map[[sha256.Size]byte]bool // set aside: they cannot be confirmed
	newest   time.Time                  // time of the last update
	answered time.Time                  // when Telegram last answered; zero: unknown
	date     time.Time                  // date of Telegram's last answer, by its clock; zero: unknown
	clocks   clocks
	contact  contact
	late     bool // an update may be older than tapLife
	doubt    tokenDoubt
	rivalry  rivalry
	trouble  repeats
	failing  pause.Backoff
	away     pause.Backoff // for network and Telegram faults: a poll costs little
	rival    pause.Backoff // slower at first: two competing pollers get nothing at all
}

func (i *Intake) pollOn(ctx context.Context) error {
	p := &polling{
		handed:   make(map[int64]bool),
		nameless: make(map[[sha256.Size]byte]bool),
		newest:   time.Now(),
		answered: i.cfg.Seen,
		rivalry:  rivalry{trouble: repeats{log: i.cfg.Log}},
		trouble:  repeats{log: i.cfg.Log},
		clocks:   clocks{trouble: repeats{log: i.cfg.Log}},
		failing:  pause.Backoff{Min: 500 * time.Millisecond, Max: 10 * time.Second},
		away:     pause.Backoff{Min: 500 * time.Millisecond, Max: longestPause},
		rival:    pause.Backoff{Min: 5 * time.Second, Max: 10 * time.Second},
	}
	for ctx.Err() == nil {
		err := i.pollOnce(ctx, p)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			p.doubt = tokenDoubt{}
			p.trouble.end()
			p.failing.Reset()
			p.away.Reset()
			p.rival.Reset()
			continue
		}
		rest, final := i.explain(ctx, p, err)
		if final != nil {
			return final
		}
		if !errors.Is(err, errHung) { // after errHung the old poll has not ended
			i.cfg.Pulse.Rest(time.Now(), rest)
		}
		if pause.For(ctx, rest) != nil {
			return nil
		}
	}
	return nil
}

// explain logs a failure and returns how long to wait. If it returns an error, that error ends Run.
func (i *Intake) explain(ctx context.Context, p *polling, err error) (time.Duration, error) {
	p.rivalry.free = time.Time{}
	failed, ok := errors.AsType[*pollError](err)
	if ok && failed.cause != failing {
		i.reached(ctx, p)
	}
	if ok && failed.cause == revoked {
		return i.askWho(ctx, p, failed)
	}
	p.doubt = tokenDoubt{}
	if errors.Is(err, errHung) {
		p.trouble.warn(ctx, slog.LevelWarn, "poll_restarted", err)
		return p.away.Next(), nil
	}
	if !ok {
		p.trouble.warn(ctx, slog.LevelError, "inbox_write_failed", err)
		return min(p.failing.Next(), mostPause), nil
	}
	switch failed.cause {
	case conflict:
		p.trouble.warn(ctx, slog.LevelWarn, "polls_rival", failed)
		i.cfg.Pulse.Failed(conflict)
		if p.rivalry.conflict(time.Now()) {
			i.reportRival(ctx, &p.rivalry, true)
		}
		return p.rival.Next(), nil
	case webhook:
		p.trouble.warn(ctx, slog.LevelWarn, "webhook_set", failed)
		return p.rival.Next(), nil
	case limited:
		p.trouble.warn(ctx, slog.LevelWarn, "poll_limited", failed)
		i.cfg.Pulse.Failed(limited)
		return failed.retryAfter, nil
	}
	p.trouble.warn(ctx, slog.LevelWarn, "poll_failed", failed)
	if failed.cause == nothingNew {
		return p.failing.Next(), nil
	}
	return p.away.Next(), nil
}

// pollOnce polls once and moves the offset when all updates of the answer are safe.
func (i *Intake) pollOnce(ctx context.Context, p *polling) error {
	timeout, begun := i.pollTimeout(p), time.Now()
	answer, err := i.ask(ctx, timeout, func(ctx context.Context, from *poller) (reply, error) {
		return from.poll(ctx, p.offset, timeout)
	})
	if err != nil {
		return err
	}
	batch := answer.list
	i.reached(ctx, p)
	p.answered, p.date = time.Now(), answer.date
	i.compareClocks(ctx, &p.clocks, answer)
	if p.rivalry.hasEnded(p.answered) {
		i.reportRival(ctx, &p.rivalry, false)
	}
	defer func() { p.late = p.late && len(batch) >= fullAnswer }() // after a full answer Telegram may have more
	maps.DeleteFunc(p.handed, func(id int64, _ bool) bool { return id < p.offset })
	if err := i.cfg.Store.confirmed(p.offset); err != nil { // Telegram has answered, so it has forgotten these
		i.cfg.Log.Warn("inbox_markers_left", logkey.Error, err)
	}
	if len(batch) == 0 {
		if time.Since(p.newest) > quiet {
			p.offset = 0
		}
		if timeout > 0 && time.Since(begun) < time.Second { // the server does not wait as requested
			return errNothingNew
		}
		return nil
	}
	next, err := i.take(p, batch)
	if err != nil {
		return err
	}
	if next <= p.offset { // these updates were confirmed, or have no id and cannot be
		err = errNothingNew
	}
	if next > 0 {
		p.offset, p.newest = next, time.Now()
	}
	return err
}

// take stores a batch and hands it on; next is the offset that confirms it. After a failed write no
// message is written, because it would overtake the failed one; taps need no disk.
func (i *Intake) take(p *polling, batch []json.RawMessage) (next int64, err error) {
	var failed error
	for _, u := range byID(batch) {
		switch {
		case !u.hasID:
			if sum := sha256.Sum256(u.raw); !p.nameless[sum] { // once, even if it comes again
				p.nameless[sum] = true
				i.cfg.Store.setAsideRaw(fmt.Sprintf("no-id-%x", sum[:8]), u.raw, errors.New("an update without update_id"))
			}
			continue
		case u.tap():
			i.takeTap(p, i.cfg.Store.inside(u.seen), u.raw)
		case p.handed[u.id]:
		case failed == nil:
			failed = i.takeEntry(p, i.cfg.Store.inside(u.seen), u.raw) // after the earlier ones: they may report a move
			fallthrough
		default:
			i.takeUnkept(p, i.cfg.Store.inside(u.seen), u.raw, failed)
		}
		next = max(next, u.id+1)
	}
	if failed != nil {
		return 0, failed
	}
	return next, nil
}

type arrival struct {
	seen
	raw json.RawMessage
}

// byID sorts the updates of an answer, because a proxy, or a server with a backlog, may have mixed
// them.
func byID(batch []json.RawMessage) []arrival {
	var all []arrival
	for _, raw := range batch {
		all = append(all, arrival{glance(raw), raw})
	}
	slices.SortStableFunc(all, func(a, b arrival) int { return cmp.Compare(a.id, b.id) })
	return all
}

func (i *Intake) takeEntry(p *polling, g seen, raw json.RawMessage) error {
	ours := false
	if g.kind == models.AllowedUpdateMessage && g.was != 0 && i.cfg.Moves != nil {
		var err error
		if ours, err = i.cfg.Moves(g.was, g.is); err != nil {
			return err // messages of the new chat follow, and must be accepted
		}
	}
	if !ours {
		if heard, err := i.isAuthorized(g, raw); !heard || err != nil {
			return err
		}
	}
	fresh, err := i.cfg.Store.accept(UpdateKey(g.id), raw, p.date)
	if err == nil && fresh {
		i.queues.add(queueKey{where: g.where}, jobOf(UpdateKey(g.id), raw))
	}
	return err
}

// takeUnkept hands on a message that the disk refuses, if it can be handled without the disk.
func (i *Intake) takeUnkept(p *polling, g seen, raw json.RawMessage, failed error) {
	var u models.Update
	if failed == nil || i.cfg.Unkept == nil || json.Unmarshal(raw, &u) != nil {
		return
	}
	if do := i.cfg.Unkept(&u); do != nil {
		p.handed[g.id] = true
		i.queues.add(queueKey{where: g.where, taps: true, on: g.message}, job{key: UpdateKey(g.id), unkept: do})
	}
}

func (i *Intake) takeTap(p *polling, g seen, raw json.RawMessage) {
	if p.handed[g.id] || g.id < p.offset { // it comes again, although it was confirmed
		return
	}
	p.handed[g.id] = true
	if heard, _ := i.isAuthorized(g, raw); !heard { // for taps there is no error
		return
	}
	var u models.Update
	if err := json.Unmarshal(raw, &u); err != nil || u.CallbackQuery == nil {
		reason := errors.Join(errors.New("a tap that cannot be decoded"), err)
		i.cfg.Store.setAsideRaw(fmt.Sprintf("tap-%d", g.id), raw, reason)
		return
	}
	i.queues.add(queueKey{where: g.where, taps: true, on: g.message}, job{key: UpdateKey(g.id), tap: &u, late: p.late})
}
