package report

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/news"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/internal/address"
)

// Resumer resumes sessions, and shows some of them to choose from.
type Resumer interface {
	Resume(ctx context.Context, q chat.Resume) (back bool, err error)
	PostPick(ctx context.Context, to address.Conversation, list []views.Session) error
}

// Windows are those that belong to no session, as a part of a message.
type Windows interface {
	All(ctx context.Context) []desk.Window
	List(all []desk.Window) chat.WindowList
	// Tap does what an option about one of the windows says. redraw draws the message again, and
	// reports whether the message then shows the windows as they are.
	Tap(t chat.Tap, was []chat.Window, redraw func(ctx context.Context) (listed bool, err error)) (chat.Answer, error)
}

// Deps are what Reports work with.
type Deps struct {
	Chat          *chat.Chat
	Reported      func(ctx context.Context, id uuid.UUID) error // notes that the chat was told of a session
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
	windows, err := p.Notices.NewOrphans(ctx, p.Windows.All(ctx))
	if err != nil {
		p.Chat.Log.Warn("windows_unknown", "error", err.Error())
	}
	c := &collector{of: p, private: private}
	errs := []error{c.addClosed(ctx)}
	c.addRest(rep, windows)

	untold := make(map[uuid.UUID]int) // the reports of a session that are not on disk
	for _, one := range c.all {
		for _, r := range one.closed {
			untold[r.ID]++
		}
	}
	everywhere := len(private) > 0 // whether all private chats were told, which are told of windows
	for _, one := range c.all {
		if err := p.tellOne(ctx, one); err != nil {
			errs, everywhere = append(errs, err), everywhere && !slices.Contains(private, one.to)
			continue
		}
		for _, r := range one.closed {
			if untold[r.ID]--; untold[r.ID] == 0 {
				errs = append(errs, p.noteReported(ctx, r))
			}
		}
	}
	if len(windows) > 0 && everywhere {
		errs = append(errs, p.Notices.Told(ctx, windows))
	}
	return errors.Join(errs...)
}

// tellOne gives one conversation its report, and resumes what comes back by itself.
func (p *Reports) tellOne(ctx context.Context, one *report) error {
	look, shown := p.look(one)
	if look.Text.Blank() {
		return nil
	}
	if err := p.cards.Post(ctx, look, shown); err != nil {
		return err
	}
	p.Chat.At("report-posted")
	return p.resumeAll(ctx, one.to, 0, p.stillLost(one.returning))
}

// noteReported notes that the chat was told of a session.
func (p *Reports) noteReported(ctx context.Context, r views.Session) error {
	err := p.Reported(ctx, r.ID)
	if err == nil || refusal.Is(err, refusal.NotFound) {
		return nil
	}
	return fmt.Errorf("note that %s was told: %w", r.ID, err)
}
