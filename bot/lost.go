package bot

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

// wentDown says whether a session was lost with the machine or with tmux, and is
// not back.
func wentDown(r session.Record) bool {
	down := r.Closed == session.ClosedReboot || r.Closed == session.ClosedTmux
	return down && (r.State == session.Lost || r.State == session.Failed)
}

// lostButtons bring back what went down with the machine or with tmux, unless it
// comes back by itself. They name times and no sessions, of which a button has no
// room for many: from the first end to the last of those that the message names.
// So they mean the same after a restart, whatever of them is still lost, and
// nothing that is lost later.
func (b *Bot) lostButtons(a *account) [][]outbox.Button {
	offered := slices.DeleteFunc(a.staying(), func(r session.Record) bool { return !wentDown(r) })
	if b.ResumeOnStart == ResumeNever || len(offered) == 0 {
		return nil
	}
	byEnd := func(a, c session.Record) int { return a.EndedAt.Compare(c.EndedAt) }
	from, until := slices.MinFunc(offered, byEnd).EndedAt.UnixMilli(), slices.MaxFunc(offered, byEnd).EndedAt.UnixMilli()
	all := b.Button(i18n.ButtonResumeAll, fmt.Sprintf("rall:%d:%d", from, until), outbox.Primary)
	if len(offered) == 1 {
		all.Text = b.words.Say(i18n.ButtonResume)
		return chat.Rows(1, all)
	}
	return chat.Rows(2, all, b.Button(i18n.ButtonPick, fmt.Sprintf("rpick:%d:%d", from, until), ""))
}

// lostSince are the sessions of a conversation that a button is about, oldest
// first; false: it is no button of ours. What has no conversation is in every
// home.
func (b *Bot) lostSince(t chat.Tap) (list []session.Record, ok bool) {
	if len(t.Args) != 2 {
		return nil, false
	}
	from, err1 := strconv.ParseInt(t.Args[0], 10, 64)
	until, err2 := strconv.ParseInt(t.Args[1], 10, 64)
	if err1 != nil || err2 != nil {
		return nil, false
	}
	for _, r := range b.Records.List() {
		here := r.Conversation == t.To || b.isHomeless(r) && b.IsPrivate(t.To)
		if at := r.EndedAt.UnixMilli(); here && wentDown(r) && from <= at && at <= until {
			list = append(list, r)
		}
	}
	return list, true
}

// whileLost is a tap about what is still lost, and says so where nothing is.
func (b *Bot) whileLost(do func(t chat.Tap, list []session.Record) (chat.Answer, error)) tap {
	return func(_ context.Context, t chat.Tap) (chat.Answer, error) {
		list, ok := b.lostSince(t)
		switch {
		case !ok:
			return b.stale(t)
		case len(list) == 0:
			return chat.Answer{Text: b.words.Say(i18n.RecoveredOver), Then: func(ctx context.Context) error {
				return b.takeOff(ctx, t, isLostButton)
			}}, nil
		}
		return do(t, list)
	}
}

// tapResumeAll brings back all that is still lost. The buttons stay while there is any.
func (b *Bot) tapResumeAll(t chat.Tap, list []session.Record) (chat.Answer, error) {
	return chat.Answer{Text: b.words.Say(i18n.RecoveredComing, i18n.Args{"Count": len(list)}), Then: func(ctx context.Context) error {
		if err := b.bringAllBack(ctx, t.To, t.From, list); err != nil {
			return err
		}
		if rest, _ := b.lostSince(t); len(rest) > 0 {
			return nil
		}
		return b.takeOff(ctx, t, isLostButton)
	}}, nil
}

func isLostButton(verb, _ string) bool { return verb == "rall" || verb == "rpick" }

// tapPick shows what is still lost, to choose from.
func (b *Bot) tapPick(t chat.Tap, list []session.Record) (chat.Answer, error) {
	return chat.Do(func(ctx context.Context) error { return b.postPick(ctx, t.To, list) })
}

// bringAllBack brings sessions back, a few side by side. That they come was said
// of all at once; each says for itself when it is ready, or why it is not back.
// Without a person the questions that come of it are for the session's owner.
func (b *Bot) bringAllBack(ctx context.Context, to session.Conversation, from int64, list []session.Record) error {
	if len(list) == 0 {
		return nil
	}
	var g errgroup.Group
	g.SetLimit(sideBySide)
	for _, r := range list {
		g.Go(func() error {
			asker := cmp.Or(from, r.Owner, to.ChatID)
			_, err := b.bringBack(ctx, comeback{wish: wish{session: r.ID}, r: r, to: to, from: asker, many: true})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return b.settleCurrent(ctx, to, list)
}

// settleCurrent makes one of the sessions that came back the current one, where
// no open session is.
func (b *Bot) settleCurrent(ctx context.Context, to session.Conversation, back []session.Record) error {
	now, ok, err := b.CurrentSession(to)
	if err != nil || ok && now.State.Live() {
		return err
	}
	for _, r := range slices.Backward(back) {
		if r, ok := b.Records.Get(r.ID); ok && r.State.Live() {
			return b.MakeCurrent(ctx, to, r.ID)
		}
	}
	return nil
}
