package report

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/news"
	"ccbot/bot/port/views"
	"ccbot/internal/address"
)

// report is what one conversation is told of a recovery.
type report struct {
	to         address.Conversation
	private    bool            // a private chat: it is told what belongs to no conversation, too
	closed     []views.Session // by the recovery, and not told yet
	returning  []views.Session // the closed sessions that come back by themselves
	resumes    []views.Session // the returning sessions that come back in this conversation: each in one only
	restored   []string        // names of sessions, as are the next three lists
	waiting    []string
	trouble    []string
	unclear    []string
	newer      int           // records that were left alone
	unreadable int           // records that were set aside
	windows    []desk.Window // of which nobody was told yet
}

// staying are the closed sessions that do not come back by themselves.
func (one *report) staying() []views.Session {
	return slices.DeleteFunc(slices.Clone(one.closed), func(r views.Session) bool {
		return slices.ContainsFunc(one.returning, func(k views.Session) bool { return k.ID == r.ID })
	})
}

// matters reports whether there is anything to tell: what went well is not worth a message of its
// own.
func (one *report) matters() bool {
	return len(one.closed)+len(one.trouble)+len(one.unclear)+one.newer+one.unreadable+len(one.windows) > 0
}

// collector sorts what a recovery found and did by who is told of it.
type collector struct {
	of      *Reports
	private []address.Conversation

	all     []*report
	unseen  []views.Session // closed sessions that are told in every private chat
	quiet   []views.Session // closed sessions of which there is nothing to say any more
	windows []desk.Window   // that are told in every private chat
}

func (p *Reports) collect(ctx context.Context, rep news.Start) (*collector, error) {
	private, err := p.book.PrivateChats()
	if err != nil {
		return nil, err
	}
	c := &collector{of: p, private: private}
	for _, to := range private {
		c.reportOf(to).private = true
	}
	c.addClosed()
	c.addRepairs(rep.Repaired)
	c.addNotices(rep)
	c.addWindows(ctx)
	slices.SortFunc(c.all, func(a, b *report) int { return conversation.Compare(a.to, b.to) })
	return c, nil
}

// lookFor bounds the looks at terminals for one report.
const lookFor = 3 * time.Second

// waitingIn names the sessions of a conversation that wait for a person: the terminal asks
// something, or it is unknown whether a prompt was typed, so that a person has to say what becomes
// of the prompt.
func (p *Reports) waitingIn(ctx context.Context, to address.Conversation) (names []string) {
	looking, stop := context.WithTimeout(ctx, lookFor)
	defer stop()
	for _, r := range p.book.Records.List() {
		if r.Conversation != to || r.State != views.Running {
			continue
		}
		asks := looking.Err() == nil && p.Lifecycle.Look(looking, r.ID).Phase.Waiting()
		undecided := func(key string) bool {
			e, err := p.Entries.Load(key)
			return err == nil && e.State == inbox.Unproven
		}
		if asks || slices.ContainsFunc(r.Prompts, undecided) {
			names = append(names, r.Name)
		}
	}
	return names
}

// reportOf is the report of a conversation, a new one if there is none yet.
func (c *collector) reportOf(to address.Conversation) *report {
	i := slices.IndexFunc(c.all, func(one *report) bool { return one.to == to })
	if i < 0 {
		i = len(c.all)
		c.all = append(c.all, &report{to: to})
	}
	return c.all[i]
}

// add notes something in the report of a session's conversation: where the session has none, in the
// report of every private chat.
func (c *collector) add(r views.Session, note func(*report)) {
	places := c.private
	if !c.of.isUnseen(r) {
		places = []address.Conversation{r.Conversation}
	}
	for _, to := range places {
		note(c.reportOf(to))
	}
}

// addClosed adds the sessions that recovery closed. A session that is open again, or goes on as
// another, needs no word any more.
func (c *collector) addClosed() {
	for _, r := range c.of.book.Records.List() {
		switch {
		case !r.Unreported:
			continue
		case !r.Resumable:
			c.quiet = append(c.quiet, r)
			continue
		case c.of.isUnseen(r):
			c.unseen = append(c.unseen, r)
		}
		returns := c.of.ResumeOnStart == ResumeAll && r.Closed == views.ClosedReboot && wentDown(r)
		taken := !returns
		c.add(r, func(one *report) {
			one.closed = append(one.closed, r)
			if returns {
				one.returning = append(one.returning, r)
			}
			if !taken {
				one.resumes, taken = append(one.resumes, r), true
			}
		})
	}
}

// addRepairs adds what was done. What failed is told; what is open is restored.
func (c *collector) addRepairs(all []news.Repair) {
	var seen []uuid.UUID
	list := c.of.book.Records.List()
	for _, done := range all {
		r, known := c.of.book.Records.Get(done.Session)
		if !known {
			r = views.Session{ID: done.Session, Name: done.Session.String()[:8]}
		}
		if r = views.Successor(list, r); slices.Contains(seen, r.ID) {
			continue
		}
		switch {
		case done.Failed:
			c.add(r, func(one *report) { one.trouble = append(one.trouble, r.Name) })
		case r.Live && r.State != views.Stopping:
			c.add(r, func(one *report) { one.restored = append(one.restored, r.Name) })
		default:
			continue
		}
		seen = append(seen, r.ID)
	}
}

// addNotices adds what nothing could be done about.
func (c *collector) addNotices(rep news.Start) {
	for _, id := range rep.Unclear {
		if r, ok := c.of.book.Records.Get(id); ok {
			c.add(r, func(one *report) { one.unclear = append(one.unclear, r.Name) })
		}
	}
	for _, to := range c.private {
		one := c.reportOf(to)
		one.newer, one.unreadable = rep.Newer, rep.Unreadable
	}
}

// addWindows adds the windows that belong to nobody and that nobody was told of.
func (c *collector) addWindows(ctx context.Context) {
	all := c.of.Windows.All(ctx)
	if len(all) == 0 {
		return
	}
	fresh, err := c.of.ToldWindows.NewOrphans(ctx, all)
	if err != nil {
		c.of.Chat.Log.Warn("windows_unknown", "error", err.Error())
		return
	}
	c.windows = fresh
	for _, to := range c.private {
		c.reportOf(to).windows = fresh
	}
}
