package browse

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/guard"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/news"
	"ccbot/port/refusal"
)

// onNews asks about the work tree of an ended session, outside of the session's worker, because git
// may take seconds. It ignores a lost session, which usually returns.
func (b *Browser) onNews(_ context.Context, r port.Session, n news.News) error {
	switch n.(type) {
	case news.Stopped, news.Ended, news.Failed:
		b.group.Add(func(ctx context.Context) {
			b.left.Lock()
			defer b.left.Unlock()
			if err := guard.Call(func() error { return b.Left(ctx, r) }); err != nil {
				b.chat.Log.Error("worktree_not_asked", logkey.SessionID, r.ID.String(), logkey.Error, err)
			}
		})
	}
	return nil
}

// Left asks whether to remove the work tree of an ended session, or reports that it stays.
func (b *Browser) Left(ctx context.Context, r port.Session) error {
	w, found, err := b.Places.Find(ctx, cmp.Or(r.Start, r.Dir))
	if err != nil || !found || r.State == port.StateCleanupFailed {
		return err
	}
	if works, err := b.works(w.Dir, r.ID); err != nil || len(works) > 0 {
		return err
	}
	if w.Work != "" {
		return b.chat.Post(ctx, card.Content{To: r.Conversation, Session: r.ID, Text: b.stays(b.chat.In(r.Conversation), w)})
	}
	if b.OfLoop(ctx, w.Dir) {
		return nil
	}
	in := chat.Incoming{Message: conversation.Message{To: r.Conversation}, From: r.Owner}
	return b.chat.Pages.Open(ctx, in, worktree+"/"+w.Dir)
}

// works returns the names of the sessions that may write in a folder or below it, except one.
func (b *Browser) works(dir string, but uuid.UUID) (names []string, err error) {
	all, err := b.chat.Book.Records.List()
	for _, r := range all {
		in := folders.IsBelow(r.Dir, dir) || folders.IsBelow(r.Start, dir)
		if !r.State.HasEnded() && r.ID != but && in {
			names = append(names, chat.ShownName(r.Name))
		}
	}
	if on, _ := folders.Split(dir); !refusal.Lacks(err, on) {
		err = nil
	}
	return names, err
}

// removing asks whether to remove a work tree; only the asked person can confirm.
func (b *Browser) removing(ctx context.Context, v chat.Visit) (chat.Screen, error) {
	p, dir := b.chat.In(v.To), v.Rest
	w, found, err := b.Places.Find(ctx, dir)
	args := i18n.Args{"Dir": render.Code(p.Short(dir)), "Branch": render.Code(w.Branch)}
	back := at{View: folder, Dir: dir, Key: card.NewKey()}.String()
	switch {
	case err != nil && !refusal.Is(err, refusal.DirMissing): // unknown whether it exists
		again := card.Option{Text: p.Say(i18n.ButtonRefresh), Value: chat.ToPage(worktree + "/" + dir)}
		return chat.Screen{Text: p.Failure(port.Session{}, err).Text, Options: [][]card.Option{{again}}, Back: back}, nil
	case err != nil || !found:
		return chat.Screen{Text: p.Text(i18n.WorktreeGone, args)}, nil
	}
	works, err := b.works(w.Dir, uuid.Nil)
	if err != nil {
		return chat.Screen{}, err
	}
	if len(works) > 0 {
		text := p.Text(i18n.SharedFolder, i18n.Args{"Count": len(works), "Names": p.Some(works, p.Say(i18n.JoinNames))})
		return chat.Screen{Text: text, Back: back}, nil
	}
	if w.Work != "" {
		return chat.Screen{Text: b.stays(p, w), Back: back}, nil
	}
	yes := p.Option(i18n.ButtonRemoveWorktree, "remove", outbox.Danger)
	yes.For = v.By
	return chat.Screen{Text: p.Text(i18n.WorktreeAsk, args), Options: [][]card.Option{{yes}}, Back: back}, nil
}

// remove removes a work tree. If it has work or a session in it, the page reports that.
func (b *Browser) remove(_ context.Context, v chat.Visit, _ string) (chat.Answer, string, error) {
	return chat.Answer{Then: func(ctx context.Context) error {
		err := b.Places.Remove(ctx, v.Rest)
		if refusal.Is(err, refusal.HasWork, refusal.WrongState, refusal.DirMissing) {
			return nil
		}
		return err
	}}, "", nil
}

// stays reports that a work tree stays, and its unfinished work.
func (b *Browser) stays(p chat.Phrases, w folders.Worktree) render.Text {
	work := map[folders.Work]i18n.Key{folders.Uncommitted: i18n.WorktreeUncommitted, folders.Unmerged: i18n.WorktreeUnmerged,
		folders.Unfinished: i18n.WorktreeUnfinished, folders.Stashed: i18n.WorktreeStashed}[w.Work]
	return p.Text(i18n.WorktreeStays, i18n.Args{"Dir": render.Code(p.Short(w.Dir)), "Work": p.Say(work)})
}
