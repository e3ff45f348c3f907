package report

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/bot/chat"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/news"
	"ccbot/bot/port/views"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/guard"
)

// Resumer resumes sessions, and shows some of them to choose from.
type Resumer interface {
	Resume(ctx context.Context, q chat.Resume) (back bool, err error)
	PostPick(ctx context.Context, to address.Conversation, list []views.Session) error
}

// Windows are those that belong to no session.
type Windows interface {
	All(ctx context.Context) []desk.Window
	// Post shows some of them, unless there are none.
	Post(ctx context.Context, to address.Conversation, all []desk.Window) error
}

// Deps are what Reports work with.
type Deps struct {
	Chat          *chat.Chat
	Reported      func(ctx context.Context, id uuid.UUID) error // see control.Keeper
	Resumer       Resumer
	Windows       Windows
	Notices       desk.Notices
	StateDir      string // ccbot's own files
	ResumeOnStart string // ResumeAll, ResumeNever, or anything else to ask
}

// What becomes of sessions that were lost with the machine.
const (
	ResumeAsk   = "ask"
	ResumeAll   = "all"
	ResumeNever = "never"
)

// Reports tell what a start found and did.
type Reports struct {
	Deps
	cards chat.Cards[offered]
}

const kind = "report" // of the cards

// New returns the Reports of a chat.
func New(d Deps) *Reports { return &Reports{Deps: d, cards: chat.NewCards[offered](d.Chat, kind)} }

// Feature is what the roof knows of Reports.
func (p *Reports) Feature() chat.Feature {
	return chat.Feature{Name: "report", Cards: map[string]chat.OnTap{kind: p.cards.OnTap(p.tap)}}
}

// Tell tells each conversation what a start found and did, in one message and only if that matters
// to people. What was told is noted after the message is on disk, so that a crash in between
// repeats a message and loses none. Where ResumeOnStart says so, sessions that went down with the
// machine come back before Tell returns.
func (p *Reports) Tell(ctx context.Context, rep news.Start) error {
	private, err := p.Chat.Book.PrivateChats()
	if err != nil {
		return err
	}
	windows := p.Windows.All(ctx)
	if len(windows) > 0 {
		if windows, err = p.Notices.NewOrphans(ctx, windows); err != nil {
			p.Chat.Log.Warn("windows_unknown", "error", err.Error())
		}
	}
	c := &collector{of: p, private: private}
	errs := []error{c.addClosed(ctx)}
	c.addRepairs(rep)
	for _, to := range private {
		one := c.at(to)
		one.windows = windows
		one.names[i18n.RecoveredNewer] = make([]string, rep.Newer) // only counted
		one.names[i18n.RecoveredUnreadable] = make([]string, rep.Unreadable)
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
		if len(one.windows) > 0 {
			errs = append(errs, p.Notices.Told(ctx, one.windows))
		}
	}
	return errors.Join(errs...)
}

// tellOne gives one conversation its report, and resumes what comes back by itself. The windows are a
// message of their own.
func (p *Reports) tellOne(ctx context.Context, one *report) error {
	if look, lost := p.look(one); !look.Text.Blank() {
		if err := p.cards.Post(ctx, look, offered{lost}); err != nil {
			return err
		}
		p.Chat.At("report-posted")
	}
	if err := p.Windows.Post(ctx, one.to, one.windows); err != nil {
		return err
	}
	return p.resumeAll(ctx, one.to, 0, p.stillLost(one.returning))
}

// sideBySide is how many sessions come back at once.
const sideBySide = 4

// offered is what the options of a report are about.
type offered struct {
	Lost []uuid.UUID `json:"lost,omitempty"`
}

// What the options of a report do.
const (
	allOption  = "all"  // resume what is still lost
	pickOption = "pick" // show what is still lost, to choose from
)

// stillLost are those of the sessions that are not back, oldest first.
func (p *Reports) stillLost(lost []uuid.UUID) []views.Session {
	return slices.DeleteFunc(p.Chat.Book.Records.List(), func(r views.Session) bool {
		return !wentDown(r) || !slices.Contains(lost, r.ID)
	})
}

// tap resumes the sessions that the report names, or shows them to choose from. The options stay
// while any of the sessions is lost.
func (p *Reports) tap(ctx context.Context, t chat.Tap, was offered) (chat.Answer, error) {
	list := p.stillLost(was.Lost)
	switch {
	case len(list) == 0:
		return chat.Answer{Text: p.Chat.Words.Say(i18n.RecoveredOver)}, p.cards.End(ctx, t, "")
	case t.Card.Option == pickOption:
		return chat.Do(func(ctx context.Context) error { return p.Resumer.PostPick(ctx, t.To, list) })
	}
	text := p.Chat.Words.Say(i18n.RecoveredComing, i18n.Args{"Count": len(list)})
	return chat.Answer{Text: text, Then: func(ctx context.Context) error {
		if err := p.resumeAll(ctx, t.To, t.From, list); err != nil || len(p.stillLost(was.Lost)) > 0 {
			return err
		}
		return p.cards.End(ctx, t, "")
	}}, nil
}

// resumeAll resumes sessions, a few side by side. That they come was said of all at once; each says
// for itself when it is ready, or why it is not back. Without a person the questions that come of
// it are for the session's owner.
func (p *Reports) resumeAll(ctx context.Context, to address.Conversation, from int64,
	list []views.Session) error {
	if len(list) == 0 {
		return nil
	}
	var g errgroup.Group
	g.SetLimit(sideBySide)
	for _, r := range list {
		q := chat.Resume{Session: r, To: to, From: cmp.Or(from, r.Owner, to.ChatID), Many: true}
		g.Go(func() error {
			return guard.Call(func() error { _, err := p.Resumer.Resume(ctx, q); return err })
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return p.Chat.Book.SettleCurrent(ctx, to, list)
}
