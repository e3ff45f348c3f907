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
	"ccbot/bot/conversation"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/each"
	"ccbot/internal/guard"
	"ccbot/internal/logkey"
	"ccbot/internal/sysfault"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// Resumer resumes sessions.
type Resumer interface {
	Resume(ctx context.Context, q chat.Resume) (back bool, err error)
	// Again is Resume, but makes an open session the current one.
	Again(ctx context.Context, q chat.Resume) (back bool, err error)
	// Continue is Resume for an interrupted session; it also asks the agent to continue, once.
	Continue(ctx context.Context, q chat.Resume) (back bool, err error)
}

// Windows are the windows without a session.
type Windows interface {
	All(ctx context.Context) []port.Window
	// Post shows windows, if there are any.
	Post(ctx context.Context, to address.Conversation, all []port.Window) error
}

// Deps holds the dependencies of Reports.
type Deps struct {
	Chat          *chat.Chat
	Reported      func(ctx context.Context, id uuid.UUID) error // see port.Keeper
	Resumer       Resumer
	Windows       Windows
	Notices       port.Notices
	ResumeOnStart string // ResumeAll, ResumeContinue, ResumeNever, or anything else to ask
	// Together shows in one message that sessions are being resumed, with their held prompts, and
	// updates it when each is ready. done marks the failed ones.
	Together func(ctx context.Context, to address.Conversation, list []port.Session) (done func(failed []uuid.UUID) error, err error)
}

// Values of ResumeOnStart: the treatment of sessions that a reboot ended.
const (
	ResumeAsk      = "ask"
	ResumeAll      = "all"
	ResumeContinue = "continue" // as ResumeAll; sessions that may continue by themselves also continue
	ResumeNever    = "never"
)

// Reports posts the reports of a start.
type Reports struct {
	Deps
	cards chat.Cards[offered]
	pick  func(ctx context.Context, to address.Conversation, a chat.Among) error // among the lost sessions of a report, by its card's key
}

const (
	// FeatureName is the name of the feature.
	FeatureName = "report"
	kind        = "report" // of the cards
)

// errNoChat is returned if no chat can get the report.
var errNoChat = errors.New("no chat is known")

// New returns the Reports of a chat.
func New(d Deps) *Reports {
	return &Reports{Deps: d, cards: chat.NewCards[offered](d.Chat, kind).Asking()}
}

// Feature describes the feature to the dispatcher.
func (p *Reports) Feature() chat.Feature {
	f := chat.Feature{Name: FeatureName, OnNews: p.onNews, Cards: map[string]chat.OnTap{kind: p.cards.OnTap(p.tap)}}
	p.pick = p.Chat.AddChoice(&f, chat.Choice{Name: "lost", Question: i18n.ResumePick,
		Among: func(_ address.Conversation, a chat.Among) []port.Session {
			c, _ := p.cards.Get(a.Word)
			return conversation.LatestEnd(p.stillLost(c.Payload.Lost))
		},
		Do: func(ctx context.Context, t chat.Tap, r port.Session, _ chat.Among) (back bool, err error) {
			return p.Resumer.Again(ctx, chat.Resume{Session: r, To: t.To, From: t.From})
		}})
	return f
}

// report posts the report of a machine's start to each conversation that needs one. It marks
// contents as reported after the message is on disk: a crash in between repeats a message and loses
// none. If ResumeOnStart asks for it, the sessions that a reboot ended are resumed before report
// returns. posted means that a message is on disk.
func (p *Reports) report(ctx context.Context, machine string, rep news.Start) (posted bool, err error) {
	private := p.Chat.Book.PrivateChats()
	windows := p.Windows.All(ctx)
	if len(windows) > 0 {
		var err error
		if windows, err = p.Notices.NewOrphans(ctx, windows); err != nil {
			p.Chat.Log.Warn("windows_unknown", logkey.Error, err)
		}
	}
	c := &collector{reports: p, machine: machine, private: private, Start: rep}
	errs := []error{c.addClosed(ctx)}
	if len(private) == 0 && rep.Unreadable+rep.Messages > 0 {
		errs = append(errs, errNoChat)
	}
	c.addRepairs()
	for _, to := range private {
		one := c.reportOf(to)
		one.windows = windows
		one.names[i18n.RecoveredUnreadable] = make([]string, rep.Unreadable+rep.Newer) // only counted
		one.names[i18n.RecoveredMessages] = make([]string, rep.Messages)
	}
	for _, to := range p.Chat.Book.Damaged() {
		c.reportOf(to).names[i18n.RecoveredChat] = make([]string, 1)
	}

	var reported []*report
	for _, one := range c.all {
		if err := p.reportOne(ctx, one); err != nil {
			errs = append(errs, err)
		} else {
			reported = append(reported, one)
		}
		posted = posted || one.posted
	}
	for _, one := range reported {
		for _, r := range one.closed {
			errs = append(errs, p.Reported(ctx, r.ID))
		}
		if len(one.names[i18n.RecoveredChat]) > 0 {
			errs = append(errs, p.Chat.Book.NoteDamageReported(one.to))
		}
		if len(one.windows) > 0 {
			errs = append(errs, p.Notices.MarkReported(ctx, one.windows))
		}
	}
	return posted, errors.Join(errs...)
}

// reportOne posts one report, and resumes the sessions that return by themselves. The windows have
// a separate message.
func (p *Reports) reportOne(ctx context.Context, one *report) error {
	if content, shown := p.content(one); !content.Text.Blank() {
		if err := p.cards.Post(ctx, content, shown); err != nil {
			return err
		}
		one.posted = true
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

// sideBySide is the number of sessions resumed at once, goingOn that of sessions that also continue
// their work.
const (
	sideBySide = 4
	goingOn    = 2
)

// offered is the payload of a report's card.
type offered struct {
	Lost        []uuid.UUID `json:"lost,omitempty"`
	Interrupted []uuid.UUID `json:"interrupted,omitempty"`
	Stays       []uuid.UUID `json:"stays,omitempty"` // closed, and not resumed since
}

// Without implements card.Forgetter.
func (o offered) Without(session uuid.UUID) offered {
	is := func(id uuid.UUID) bool { return id == session }
	return offered{Lost: slices.DeleteFunc(slices.Clone(o.Lost), is), Interrupted: slices.DeleteFunc(slices.Clone(o.Interrupted), is),
		Stays: slices.DeleteFunc(slices.Clone(o.Stays), is)}
}

// Options of a report.
const (
	allOption      = "all"      // resume what is still lost
	pickOption     = "pick"     // show what is still lost, to choose from
	continueOption = "continue" // continue interrupted work
)

// recentLoss is the time in which a lost session is offered with the others. Older ones are offered
// by name only.
const recentLoss = 3 * 24 * time.Hour

// Lost returns the sessions that were recently lost with the machine or tmux and are not back,
// oldest first.
func (p *Reports) Lost() []port.Session {
	return slices.DeleteFunc(p.Chat.Book.Known(), func(r port.Session) bool {
		return !wentDown(r) || p.Chat.Now().Sub(r.EndedAt) > recentLoss
	})
}

// ResumeAll resumes the sessions of Lost after a person's tap.
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

// stillLost returns the sessions of a report that can be resumed now, oldest first. They include
// sessions whose resume has failed.
func (p *Reports) stillLost(lost []uuid.UUID) []port.Session {
	return slices.DeleteFunc(p.Chat.Book.Known(), func(r port.Session) bool {
		return !r.Resumable || r.State != port.StateLost && r.State != port.StateFailed || !slices.Contains(lost, r.ID)
	})
}

// tap resumes the sessions of the report, or offers a choice. The options stay while a session is
// lost.
func (p *Reports) tap(ctx context.Context, t chat.Tap, was offered) (chat.Answer, error) {
	list, most, bring := p.stillLost(was.Lost), sideBySide, p.Resumer.Resume
	if t.Card.Option == continueOption {
		list, most, bring = p.stillCut(was.Interrupted), goingOn, p.Resumer.Continue
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

// tidy redraws a report with its current options. It closes a report without options for any of its
// sessions; a session that is being restored may still fail.
func (p *Reports) tidy(ctx context.Context, key string) error {
	defer p.cards.Hold()()
	c, ok := p.cards.Get(key)
	if !ok {
		return nil
	}
	was, words := c.Payload, p.Chat.In(c.Content.To)
	id := func(r port.Session) uuid.UUID { return r.ID }
	now := offered{Lost: each.As(p.stillLost(was.Lost), id), Interrupted: each.As(p.stillCut(was.Interrupted), id),
		Stays: slices.DeleteFunc(slices.Clone(was.Stays), func(id uuid.UUID) bool {
			r, _ := p.Chat.Book.Records.Get(id)
			return !r.Resumable && r.State != port.StateUnknown
		})}
	kept := func(was, now []uuid.UUID) []uuid.UUID {
		return slices.DeleteFunc(slices.Clone(was), func(id uuid.UUID) bool {
			r, _ := p.Chat.Book.Records.Get(id)
			return r.State != port.StateRestoring && r.State != port.StateUnknown && !slices.Contains(now, id)
		})
	}
	for _, id := range was.Interrupted {
		if r, _ := p.Chat.Book.Records.Get(id); r.State == port.StateUnknown {
			now.Interrupted = append(now.Interrupted, id)
		}
	}
	left := offered{Lost: kept(was.Lost, now.Lost), Interrupted: now.Interrupted, Stays: kept(was.Stays, now.Stays)}
	if len(left.Lost)+len(left.Interrupted)+len(left.Stays) == 0 {
		return p.cards.Close(ctx, c.Key, c.Content.Text)
	}
	c.Content.Options, c.Content.Hint = [][]card.Option{options(words, now)}, render.Text{}
	if len(now.Stays) > 0 {
		c.Content.Hint = p.hint(words, now)
	}
	return p.cards.Show(ctx, c.Key, c.Content, left)
}

// onNews updates the reports of a session that is back, has ended, whose resume has failed, or
// whose held prompts have changed.
func (p *Reports) onNews(ctx context.Context, r port.Session, n news.News) error {
	switch n := n.(type) {
	case news.Start:
		posted, err := p.report(ctx, r.Machine, n)
		if err != nil && r.Machine != "" && (posted || sysfault.Of(err) == "") {
			// Its courier would repeat it at once, and post the same again. The next start of the
			// machine reports the sessions that are left.
			p.Chat.Log.Error("recovery_not_told", logkey.Name, r.Name, logkey.Error, err)
			return nil
		}
		return err
	case news.Ready, news.Failed, news.Stopped, news.Requeued:
	default:
		return nil
	}
	var errs []error
	for _, c := range p.cards.List() {
		if o := c.Payload; slices.Contains(slices.Concat(o.Lost, o.Interrupted, o.Stays), r.ID) {
			errs = append(errs, p.tidy(ctx, c.Key))
		}
	}
	return errors.Join(errs...)
}

// stillCut returns the sessions whose work is interrupted and has not been continued, oldest first.
func (p *Reports) stillCut(cut []uuid.UUID) []port.Session {
	return slices.DeleteFunc(p.Chat.Book.Known(), func(r port.Session) bool {
		return r.Interruption == nil || !r.Resumable && !r.State.Live() || !slices.Contains(cut, r.ID) ||
			slices.Contains(r.Prompts, talk.PromptKey(r.Interruption.Prompt))
	})
}

// bringBack resumes sessions, most at once. One message has a line for each of several; a failure
// has a separate message. Without a person, questions go to the session's owner.
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
	return p.Chat.Book.SettleCurrent(ctx, to, 0, list)
}
