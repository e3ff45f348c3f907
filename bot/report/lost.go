package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// sideBySide is how many sessions come back at once.
const sideBySide = 4

// wentDown reports whether a session was lost with the machine or with tmux, and is not back.
func wentDown(r session.Record) bool {
	down := r.Closed == session.ClosedReboot || r.Closed == session.ClosedTmux
	return down && (r.State == session.Lost || r.State == session.Failed)
}

// lostButtons resume what went down with the machine or with tmux, unless it comes back by itself.
// The buttons name times and no sessions, of which a button has no room for many: from the first
// end to the last of the sessions that the message names. So the buttons mean the same after a
// restart, whatever of the sessions is still lost, and nothing that is lost later.
func (p *Reports) lostButtons(one *report) [][]outbox.Button {
	offered := slices.DeleteFunc(one.staying(), func(r session.Record) bool { return !wentDown(r) })
	if p.ResumeOnStart == ResumeNever || len(offered) == 0 {
		return nil
	}
	byEnd := func(a, b session.Record) int { return a.EndedAt.Compare(b.EndedAt) }
	from := slices.MinFunc(offered, byEnd).EndedAt.UnixMilli()
	until := slices.MaxFunc(offered, byEnd).EndedAt.UnixMilli()
	all := p.Chat.Button(i18n.ButtonResumeAll, fmt.Sprintf("rall:%d:%d", from, until), outbox.Primary)
	if len(offered) == 1 {
		all.Text = p.words.Say(i18n.ButtonResume)
		return chat.Rows(1, all)
	}
	return chat.Rows(2, all, p.Chat.Button(i18n.ButtonPick, fmt.Sprintf("rpick:%d:%d", from, until), ""))
}

// lostSince are the sessions of a conversation that a button is about, oldest first; false: it is
// no button of ours. What has no conversation is in every private chat.
func (p *Reports) lostSince(t chat.Tap) (list []session.Record, ok bool) {
	if len(t.Args) != 2 {
		return nil, false
	}
	from, err1 := strconv.ParseInt(t.Args[0], 10, 64)
	until, err2 := strconv.ParseInt(t.Args[1], 10, 64)
	if err1 != nil || err2 != nil {
		return nil, false
	}
	for _, r := range p.book.Records.List() {
		here := r.Conversation == t.To || p.isUnseen(r) && p.book.IsPrivate(t.To)
		if at := r.EndedAt.UnixMilli(); here && wentDown(r) && from <= at && at <= until {
			list = append(list, r)
		}
	}
	return list, true
}

// onLost is a tap about what is still lost; the answer says so where nothing is.
func (p *Reports) onLost(do func(t chat.Tap, list []session.Record) (chat.Answer, error)) chat.OnTap {
	return func(_ context.Context, t chat.Tap) (chat.Answer, error) {
		list, ok := p.lostSince(t)
		switch {
		case !ok:
			return p.Chat.Stale(t)
		case len(list) == 0:
			return chat.Answer{Text: p.words.Say(i18n.RecoveredOver), Then: func(ctx context.Context) error {
				return p.Chat.TakeOff(ctx, t, isLostButton)
			}}, nil
		}
		return do(t, list)
	}
}

// tapResumeAll resumes all that is still lost. The buttons stay while there is any.
func (p *Reports) tapResumeAll(t chat.Tap, list []session.Record) (chat.Answer, error) {
	text := p.words.Say(i18n.RecoveredComing, i18n.Args{"Count": len(list)})
	return chat.Answer{Text: text, Then: func(ctx context.Context) error {
		if err := p.resumeAll(ctx, t.To, t.From, list); err != nil {
			return err
		}
		if rest, _ := p.lostSince(t); len(rest) > 0 {
			return nil
		}
		return p.Chat.TakeOff(ctx, t, isLostButton)
	}}, nil
}

func isLostButton(verb, _ string) bool { return verb == "rall" || verb == "rpick" }

// tapPick shows what is still lost, to choose from.
func (p *Reports) tapPick(t chat.Tap, list []session.Record) (chat.Answer, error) {
	return chat.Do(func(ctx context.Context) error { return p.Resumer.PostPick(ctx, t.To, list) })
}

// resumeAll resumes sessions, a few side by side. That they come was said of all at once; each says
// for itself when it is ready, or why it is not back. Without a person the questions that come of
// it are for the session's owner.
func (p *Reports) resumeAll(ctx context.Context, to session.Conversation, from int64,
	list []session.Record) error {
	if len(list) == 0 {
		return nil
	}
	var g errgroup.Group
	g.SetLimit(sideBySide)
	for _, r := range list {
		g.Go(func() error {
			asker := cmp.Or(from, r.Owner, to.ChatID)
			_, err := p.Resumer.Resume(ctx, chat.Resume{Session: r, To: to, From: asker, Many: true})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return p.book.SettleCurrent(ctx, to, list)
}
