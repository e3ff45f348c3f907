package report

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/news"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/i18n"
	"ccbot/internal/address"
)

// Lifecycle is asked what an agent is doing, and notes that the chat was told of a session.
type Lifecycle interface {
	Look(ctx context.Context, id uuid.UUID) desk.Look
	Reported(ctx context.Context, id uuid.UUID) error
}

// Resumer resumes sessions, and shows some of them to choose from.
type Resumer interface {
	Resume(ctx context.Context, q chat.Resume) (back bool, err error)
	PostPick(ctx context.Context, to address.Conversation, list []views.Session) error
}

// Windows are those that belong to no session, as a part of a message.
type Windows interface {
	All(ctx context.Context) []desk.Window
	List(all []desk.Window) chat.WindowList
	// Tap does what an option about one of the windows says. redraw draws the message again.
	Tap(t chat.Tap, was []chat.Window, redraw func(ctx context.Context) error) (chat.Answer, error)
}

// ToldWindows remembers of which windows the chat was told.
type ToldWindows interface {
	// NewOrphans are those of the windows of which the chat was not told yet.
	NewOrphans(ctx context.Context, of []desk.Window) ([]desk.Window, error)
	Told(ctx context.Context, all []desk.Window) error
}

// Entries are the prompts of people.
type Entries interface {
	Load(key string) (inbox.Entry, error)
}

// Deps are what Reports work with.
type Deps struct {
	Chat          *chat.Chat
	Lifecycle     Lifecycle
	Resumer       Resumer
	Windows       Windows
	ToldWindows   ToldWindows
	Entries       Entries
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
	book  *conversation.Book
	words i18n.Words
	cards chat.Cards[offered]
}

const kind = "report" // of the cards

// New returns the Reports of a chat.
func New(d Deps) *Reports {
	return &Reports{Deps: d, book: d.Chat.Book, words: d.Chat.Words, cards: chat.NewCards[offered](d.Chat, kind)}
}

// Feature is what the roof knows of Reports.
func (p *Reports) Feature() chat.Feature {
	return chat.Feature{Name: "report", Cards: map[string]chat.OnTap{kind: p.cards.OnTap(p.tap)}}
}

// Tell tells each conversation what a recovery found and did, in one message and only if that
// matters to people. What was told is noted after the message is on disk, so that a crash in
// between repeats a message and loses none. Where ResumeOnStart says so, sessions that went down
// with the machine come back before Tell returns.
func (p *Reports) Tell(ctx context.Context, rep news.Start) error {
	found, err := p.collect(ctx, rep)
	if err != nil {
		return err
	}
	var errs []error
	private, told := 0, 0
	for _, one := range found.all {
		err := p.tellOne(ctx, one)
		if one.private {
			private++
		}
		if one.private && err == nil {
			told++
		}
		if err == nil {
			err = p.noteReported(ctx, slices.DeleteFunc(one.closed, p.isUnseen))
		}
		errs = append(errs, err)
	}
	errs = append(errs, p.noteReported(ctx, found.quiet))
	if private > 0 && told == private {
		errs = append(errs, p.noteReported(ctx, found.unseen))
		if len(found.windows) > 0 {
			errs = append(errs, p.ToldWindows.Told(ctx, found.windows))
		}
	} else if private == 0 && len(found.unseen)+len(found.windows) > 0 {
		p.Chat.Log.Warn("recovery_untold", "sessions", len(found.unseen), "windows", len(found.windows),
			"why", "no allowed person has a chat yet")
	}
	return errors.Join(errs...)
}

// tellOne gives one conversation its report, and resumes what comes back by itself.
func (p *Reports) tellOne(ctx context.Context, one *report) error {
	if !one.matters() {
		return nil
	}
	one.waiting = p.waitingIn(ctx, one.to)
	look, shown := p.look(one)
	if err := p.cards.Post(ctx, look, shown); err != nil {
		return err
	}
	p.Chat.At("report-posted")
	return p.resumeAll(ctx, one.to, 0, one.resumes)
}

// noteReported notes that the chat was told of sessions.
func (p *Reports) noteReported(ctx context.Context, all []views.Session) error {
	var errs []error
	for _, r := range all {
		if err := p.Lifecycle.Reported(ctx, r.ID); err != nil && !refusal.Is(err, refusal.NotFound) {
			errs = append(errs, fmt.Errorf("note that %s was told: %w", r.ID, err))
		}
	}
	return errors.Join(errs...)
}

// isUnseen reports whether a session has no conversation that may still see it: none at all, or
// that of people who are not allowed any more.
func (p *Reports) isUnseen(r views.Session) bool { return !p.book.MayShow(r.Conversation) }
