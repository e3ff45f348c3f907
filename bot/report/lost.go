package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/port/views"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/guard"
)

// sideBySide is how many sessions come back at once.
const sideBySide = 4

// wentDown reports whether a session was lost with the machine or with tmux, and is not back.
func wentDown(r views.Session) bool {
	down := r.Closed == views.ClosedReboot || r.Closed == views.ClosedTmux
	return down && (r.State == views.Lost || r.State == views.Failed)
}

// offered is what the options of a report are about.
type offered struct {
	Lost    []loss        `json:"lost,omitempty"`
	Windows []chat.Window `json:"windows,omitempty"`
}

// loss is one end of a session: what is lost again later is told in another report.
type loss struct {
	Session uuid.UUID `json:"session"`
	Ended   time.Time `json:"ended"`
}

// What the options about lost sessions do.
const (
	allOption  = "all"  // resume what is still lost
	pickOption = "pick" // show what is still lost, to choose from
)

// lostOptions resume what went down with the machine or with tmux, unless it comes back by itself.
func (p *Reports) lostOptions(one *report) (options [][]card.Option, lost []loss) {
	for _, r := range one.staying() {
		if wentDown(r) && p.ResumeOnStart != ResumeNever {
			lost = append(lost, loss{r.ID, r.EndedAt})
		}
	}
	switch len(lost) {
	case 0:
		return nil, nil
	case 1:
		return chat.Rows(1, p.Chat.Option(i18n.ButtonResume, allOption, outbox.Primary)), lost
	}
	return chat.Rows(2, p.Chat.Option(i18n.ButtonResumeAll, allOption, outbox.Primary),
		p.Chat.Option(i18n.ButtonPick, pickOption, "")), lost
}

// stillLost are those of the sessions that are not back, oldest first.
func (p *Reports) stillLost(lost []loss) (list []views.Session) {
	for _, r := range p.book.Records.List() {
		if wentDown(r) && slices.ContainsFunc(lost, func(l loss) bool { return l.Session == r.ID && l.Ended.Equal(r.EndedAt) }) {
			list = append(list, r)
		}
	}
	return list
}

// tap resumes the sessions that the report names, or shows them to choose from. The options stay
// while any of the sessions is lost.
func (p *Reports) tap(ctx context.Context, t chat.Tap, was offered) (chat.Answer, error) {
	_, window, isWindow := strings.Cut(t.Card.Option, ":")
	list := p.stillLost(was.Lost)
	switch {
	case isWindow:
		return p.Windows.Tap(t, was.Windows, func(ctx context.Context) error { return p.takeOff(ctx, t, ":"+window) })
	case len(list) == 0:
		return chat.Answer{Text: p.words.Say(i18n.RecoveredOver)}, p.takeOff(ctx, t, allOption, pickOption)
	case t.Card.Option == pickOption:
		return chat.Do(func(ctx context.Context) error { return p.Resumer.PostPick(ctx, t.To, list) })
	}
	text := p.words.Say(i18n.RecoveredComing, i18n.Args{"Count": len(list)})
	return chat.Answer{Text: text, Then: func(ctx context.Context) error {
		if err := p.resumeAll(ctx, t.To, t.From, list); err != nil || len(p.stillLost(was.Lost)) > 0 {
			return err
		}
		return p.takeOff(ctx, t, allOption, pickOption)
	}}, nil
}

// takeOff takes the options off a report whose values end in these words. The text stays.
func (p *Reports) takeOff(ctx context.Context, t chat.Tap, words ...string) error {
	c, ok := p.cards.Get(t.Card.Key)
	if !ok {
		return nil
	}
	c.Look.Options = slices.DeleteFunc(c.Look.Options, func(row []card.Option) bool {
		return slices.ContainsFunc(words, func(end string) bool { return strings.HasSuffix(row[0].Value, end) })
	})
	return p.cards.Redraw(ctx, c.Key, c.Look, c.Payload)
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
		g.Go(func() error {
			asker := cmp.Or(from, r.Owner, to.ChatID)
			err := guard.Call(func() error {
				_, err := p.Resumer.Resume(ctx, chat.Resume{Session: r, To: to, From: asker, Many: true})
				return err
			})
			if crash, crashed := errors.AsType[*guard.Panic](err); crashed {
				p.Chat.Log.Error("resume_crashed", "session_id", r.ID.String(), "panic", fmt.Sprint(crash.Value), "stack", crash.Stack)
				return fmt.Errorf("resume %s: it crashed", r.ID) // the panic itself is logged
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return p.book.SettleCurrent(ctx, to, list)
}
