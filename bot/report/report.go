package report

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/each"
	"ccbot/internal/guard"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/news"
)

// Resumer resumes sessions.
type Resumer interface {
	Resume(ctx context.Context, q chat.Resume) (back bool, err error)
	// Again is Resume, which makes a session that is open the current one.
	Again(ctx context.Context, q chat.Resume) (back bool, err error)
	// Continue is Resume for a session whose work was cut short: its agent is asked to go on, once.
	Continue(ctx context.Context, q chat.Resume) (back bool, err error)
}

// Windows are those that belong to no session.
type Windows interface {
	All(ctx context.Context) []port.Window
	// Post shows some of them, unless there are none.
	Post(ctx context.Context, to address.Conversation, all []port.Window) error
}

// Deps are what Reports work with.
type Deps struct {
	Chat          *chat.Chat
	Reported      func(ctx context.Context, id uuid.UUID) error // see port.Keeper
	Resumer       Resumer
	Windows       Windows
	Notices       port.Notices
	StateDir      string // ccbot's own files
	ResumeOnStart string // ResumeAll, ResumeContinue, ResumeNever, or anything else to ask
	// Together shows in one message that sessions come back, with what is kept for each, and when each is ready. done notes
	// which of them do not.
	Together func(ctx context.Context, to address.Conversation, list []port.Session) (done func(failed []uuid.UUID) error, err error)
}

// What becomes of sessions that were lost with the machine.
const (
	ResumeAsk      = "ask"
	ResumeAll      = "all"
	ResumeContinue = "continue" // as ResumeAll, and those that may go on with their work do
	ResumeNever    = "never"
)

// Reports tell what a start found and did.
type Reports struct {
	Deps
	cards chat.Cards[offered]
	pick  func(ctx context.Context, to address.Conversation, a chat.Among) error // of a report, by the key of its card
}

const kind = "report" // of the cards

// New returns the Reports of a chat.
func New(d Deps) *Reports {
	return &Reports{Deps: d, cards: chat.NewCards[offered](d.Chat, kind).Asking()}
}

// Feature is what the roof knows of Reports.
func (p *Reports) Feature() chat.Feature {
	f := chat.Feature{Name: "report", Heard: p.hear, Cards: map[string]chat.OnTap{kind: p.cards.OnTap(p.tap)}}
	p.pick = p.Chat.AddChoice(&f, chat.Choice{Name: "lost", Question: i18n.ResumePick,
		Among: func(_ address.Conversation, a chat.Among) []port.Session {
			c, _ := p.cards.Get(a.Word)
			return chat.LatestEnd(p.stillLost(c.Payload.Lost))
		},
		Do: func(ctx context.Context, t chat.Tap, r port.Session, _ chat.Among) (back bool, err error) {
			return p.Resumer.Again(ctx, chat.Resume{Session: r, To: t.To, From: t.From})
		}})
	return f
}

// Tell tells each conversation what a start found and did, in one message and only if that matters
// to people. What was told is noted after the message is on disk, so that a crash in between
// repeats a message and loses none. Where ResumeOnStart says so, sessions that went down with the
// machine come back before Tell returns.
func (p *Reports) Tell(ctx context.Context, rep news.Start) error {
	private := p.Chat.Book.PrivateChats()
	windows := p.Windows.All(ctx)
	if len(windows) > 0 {
		var err error
		if windows, err = p.Notices.NewOrphans(ctx, windows); err != nil {
			p.Chat.Log.Warn("windows_unknown", logkey.Error, err)
		}
	}
	c := &collector{of: p, private: private, booted: rep.Booted}
	errs := []error{c.addClosed(ctx)}
	c.addRepairs(rep)
	for _, to := range private {
		one := c.at(to)
		one.windows = windows
		one.names[i18n.RecoveredNewer] = make([]string, rep.Newer) // only counted
		one.names[i18n.RecoveredUnreadable] = make([]string, rep.Unreadable)
		one.names[i18n.RecoveredMessages] = make([]string, rep.Messages)
	}
	for _, to := range p.Chat.Book.Damaged() {
		c.at(to).names[i18n.RecoveredChat] = make([]string, 1)
	}

	var told []*report
	for _, one := range c.all {
		if err := p.tellOne(ctx, one); err != nil {
			errs = append(errs, err)
		} else {
			told = append(told, one)
		}
	}
	for _, one := range told {
		for _, r := range one.closed {
			errs = append(errs, p.Reported(ctx, r.ID))
		}
		if len(one.names[i18n.RecoveredChat]) > 0 {
			errs = append(errs, p.Chat.Book.NoteDamageTold(one.to))
		}
		if len(one.windows) > 0 {
			errs = append(errs, p.Notices.Told(ctx, one.windows))
		}
	}
	return errors.Join(errs...)
}

// tellOne gives one conversation its report, and resumes what comes back by itself. The windows are a
// message of their own.
func (p *Reports) tellOne(ctx context.Context, one *report) error {
	if look, shown := p.look(one); !look.Text.Blank() {
		if err := p.cards.Post(ctx, look, shown); err != nil {
			return err
		}
		p.Chat.At("report-posted")
	}
	if err := p.Windows.Post(ctx, one.to, one.windows); err != nil {
		return err
	}
	alone := p.stillLost(one.ids(func(c closed) bool { return c.fate == goesOn }))
	others := p.stillLost(one.ids(func(c closed) bool { return c.fate == comesBack }))
	if err := p.bringBack(ctx, one.to, 0, alone, goingOn, p.Resumer.Continue); err != nil {
		return err
	}
	return p.bringBack(ctx, one.to, 0, others, sideBySide, p.Resumer.Resume)
}

// sideBySide is how many sessions come back at once, goingOn how many of those that go on with their
// work.
const (
	sideBySide = 4
	goingOn    = 2
)

// offered is what the options of a report are about.
type offered struct {
	Lost  []uuid.UUID `json:"lost,omitempty"`
	Cut   []uuid.UUID `json:"interrupted,omitempty"`
	Stays []uuid.UUID `json:"stays,omitempty"` // closed, and not resumed since
}

// Without implements card.Forgetter.
func (o offered) Without(session uuid.UUID) offered {
	is := func(id uuid.UUID) bool { return id == session }
	return offered{Lost: slices.DeleteFunc(slices.Clone(o.Lost), is), Cut: slices.DeleteFunc(slices.Clone(o.Cut), is),
		Stays: slices.DeleteFunc(slices.Clone(o.Stays), is)}
}

// What the options of a report do.
const (
	allOption      = "all"      // resume what is still lost
	pickOption     = "pick"     // show what is still lost, to choose from
	continueOption = "continue" // have those go on whose work was cut short
)

// recentLoss is the time in which a session that went down is offered with the others. Older ones are offered by name only.
const recentLoss = 3 * 24 * time.Hour

// Lost returns the sessions that have lately gone down with the machine or with tmux and are not back, oldest first.
func (p *Reports) Lost() []port.Session {
	return slices.DeleteFunc(p.Chat.Book.Records.List(), func(r port.Session) bool {
		return !wentDown(r) || p.Chat.Now().Sub(r.EndedAt) > recentLoss
	})
}

// ResumeAll resumes them where a person has tapped.
func (p *Reports) ResumeAll(ctx context.Context, to address.Conversation, from int64) error {
	list := p.Lost()
	if len(list) == 0 {
		return nil
	}
	if err := p.Chat.Say(ctx, to, p.Chat.In(to).Say(i18n.RecoveredComing, i18n.Args{"Count": len(list)})); err != nil {
		return err
	}
	return p.bringBack(ctx, to, from, list, sideBySide, p.Resumer.Resume)
}

// stillLost returns the sessions of a report that can be resumed now, oldest first. A session whose resume has failed is one
// of them.
func (p *Reports) stillLost(lost []uuid.UUID) []port.Session {
	return slices.DeleteFunc(p.Chat.Book.Records.List(), func(r port.Session) bool {
		return !r.Resumable || r.State != port.StateLost && r.State != port.StateFailed || !slices.Contains(lost, r.ID)
	})
}

// tap resumes the sessions that the report names, or shows them to choose from. The options stay
// while any of the sessions is lost.
func (p *Reports) tap(ctx context.Context, t chat.Tap, was offered) (chat.Answer, error) {
	list, most, bring := p.stillLost(was.Lost), sideBySide, p.Resumer.Resume
	if t.Card.Option == continueOption {
		list, most, bring = p.stillCut(was.Cut), goingOn, p.Resumer.Continue
	}
	switch {
	case len(list) == 0:
		return chat.Answer{Text: p.Chat.In(t.To).Say(i18n.RecoveredOver)}, p.tidy(ctx, t.Card.Key)
	case t.Card.Option == pickOption:
		return chat.Do(func(ctx context.Context) error { return p.pick(ctx, t.To, chat.Among{Word: t.Card.Key}) })
	}
	text := p.Chat.In(t.To).Say(i18n.RecoveredComing, i18n.Args{"Count": len(list)})
	return chat.Answer{Text: text, Then: func(ctx context.Context) error {
		return errors.Join(p.bringBack(ctx, t.To, t.From, list, most, bring), p.tidy(ctx, t.Card.Key))
	}}, nil
}

// tidy draws a report with what can be done now. The report closes when it can do nothing more for any of its sessions; a
// session that is on its way back may fail to come.
func (p *Reports) tidy(ctx context.Context, key string) error {
	defer p.cards.Hold()()
	c, ok := p.cards.Get(key)
	if !ok {
		return nil
	}
	was, words := c.Payload, p.Chat.In(c.Look.To)
	id := func(r port.Session) uuid.UUID { return r.ID }
	now := offered{Lost: each.As(p.stillLost(was.Lost), id), Cut: each.As(p.stillCut(was.Cut), id),
		Stays: slices.DeleteFunc(slices.Clone(was.Stays), func(id uuid.UUID) bool {
			r, _ := p.Chat.Book.Records.Get(id)
			return !r.Resumable
		})}
	kept := func(was, now []uuid.UUID) []uuid.UUID {
		return slices.DeleteFunc(slices.Clone(was), func(id uuid.UUID) bool {
			r, _ := p.Chat.Book.Records.Get(id)
			return r.State != port.StateRestoring && !slices.Contains(now, id)
		})
	}
	left := offered{Lost: kept(was.Lost, now.Lost), Cut: now.Cut, Stays: kept(was.Stays, now.Stays)}
	if len(left.Lost)+len(left.Cut)+len(left.Stays) == 0 {
		return p.cards.Close(ctx, c.Key, c.Look.Text)
	}
	c.Look.Options, c.Look.Hint = [][]card.Option{options(words, now)}, render.Text{}
	if len(now.Stays) > 0 {
		c.Look.Hint = p.hint(words, now)
	}
	return p.cards.Show(ctx, c.Key, c.Look, left)
}

// hear tidies the reports that name a session: it is back, in whichever way, its resume has failed, or what waits for it has
// changed.
func (p *Reports) hear(ctx context.Context, r port.Session, n news.News) error {
	switch n.(type) {
	case news.Ready, news.Failed, news.Stopped, news.Requeued:
	default:
		return nil
	}
	var errs []error
	for _, c := range p.cards.List() {
		if o := c.Payload; slices.Contains(slices.Concat(o.Lost, o.Cut, o.Stays), r.ID) {
			errs = append(errs, p.tidy(ctx, c.Key))
		}
	}
	return errors.Join(errs...)
}

// stillCut returns the sessions whose work is interrupted and has not been continued, oldest first.
func (p *Reports) stillCut(cut []uuid.UUID) []port.Session {
	return slices.DeleteFunc(p.Chat.Book.Records.List(), func(r port.Session) bool {
		return r.Interruption == nil || !r.Resumable && !r.Live || !slices.Contains(cut, r.ID) ||
			slices.Contains(r.Prompts, inbox.PromptKey(r.Interruption.Prompt))
	})
}

// bringBack brings sessions back, a few side by side. One message has a line for each of several; why one is not back is a
// message of its own. Without a person the questions that come of
// it are for the session's owner.
func (p *Reports) bringBack(ctx context.Context, to address.Conversation, from int64, list []port.Session,
	most int, bring func(context.Context, chat.Resume) (bool, error)) error {
	if len(list) == 0 {
		return nil
	}
	done := func([]uuid.UUID) error { return nil }
	if len(list) > 1 {
		var err error
		if done, err = p.Together(ctx, to, list); err != nil {
			return err
		}
	}
	var g errgroup.Group
	g.SetLimit(most)
	var mu sync.Mutex
	var failed []uuid.UUID
	for _, r := range list {
		q := chat.Resume{Session: r, To: to, From: cmp.Or(from, r.Owner, to.ChatID), Many: true}
		g.Go(func() error {
			back := false
			err := guard.Call(func() (err error) { back, err = bring(ctx, q); return err })
			if mu.Lock(); !back {
				failed = append(failed, r.ID)
			}
			mu.Unlock()
			return err
		})
	}
	if err := errors.Join(g.Wait(), done(failed)); err != nil {
		return err
	}
	return p.Chat.Book.SettleCurrent(ctx, to, list)
}
