package report

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/recovery"
)

// report is what one conversation is told of a recovery.
type report struct {
	to         session.Conversation
	private    bool             // a private chat: it is told what belongs to no conversation, too
	closed     []session.Record // by the recovery, and not told yet
	returning  []session.Record // the closed sessions that come back by themselves
	resumes    []session.Record // the returning sessions that come back in this conversation: each in one only
	restored   []string         // names of sessions, as are the next three lists
	waiting    []string
	trouble    []string
	unclear    []string
	newer      int                // records that were left alone
	unreadable int                // records that were set aside
	windows    []lifecycle.Window // of which nobody was told yet
}

// staying are the closed sessions that do not come back by themselves.
func (one *report) staying() []session.Record {
	return slices.DeleteFunc(slices.Clone(one.closed), func(r session.Record) bool {
		return slices.ContainsFunc(one.returning, func(k session.Record) bool { return k.ID == r.ID })
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
	private []session.Conversation

	all     []*report
	unseen  []session.Record   // closed sessions that are told in every private chat
	quiet   []session.Record   // closed sessions of which there is nothing to say any more
	windows []lifecycle.Window // that are told in every private chat
}

func (p *Reports) collect(ctx context.Context, rep recovery.Report) (*collector, error) {
	private, err := p.book.PrivateChats()
	if err != nil {
		return nil, err
	}
	c := &collector{of: p, private: private}
	for _, to := range private {
		c.reportOf(to).private = true
	}
	c.addClosed()
	c.addResults(rep.Results)
	c.addNotices(rep.Notices)
	c.addWindows(ctx)
	slices.SortFunc(c.all, func(a, b *report) int { return conversation.Compare(a.to, b.to) })
	return c, nil
}

// lookFor bounds the looks at terminals for one report.
const lookFor = 3 * time.Second

// waitingIn names the sessions of a conversation that wait for a person: the terminal asks
// something, or it is unknown whether a prompt was typed, so that a person has to say what becomes
// of the prompt.
func (p *Reports) waitingIn(ctx context.Context, to session.Conversation) (names []string) {
	looking, stop := context.WithTimeout(ctx, lookFor)
	defer stop()
	for _, r := range p.book.Records.List() {
		if r.Conversation != to || r.State != session.Running {
			continue
		}
		asks := looking.Err() == nil && p.Lifecycle.Look(looking, r).Phase.Waiting()
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
func (c *collector) reportOf(to session.Conversation) *report {
	i := slices.IndexFunc(c.all, func(one *report) bool { return one.to == to })
	if i < 0 {
		i = len(c.all)
		c.all = append(c.all, &report{to: to})
	}
	return c.all[i]
}

// add notes something in the report of a session's conversation: where the session has none, in the
// report of every private chat.
func (c *collector) add(r session.Record, note func(*report)) {
	places := c.private
	if !c.of.isUnseen(r) {
		places = []session.Conversation{r.Conversation}
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
		case !r.Resumable():
			c.quiet = append(c.quiet, r)
			continue
		case c.of.isUnseen(r):
			c.unseen = append(c.unseen, r)
		}
		returns := c.of.ResumeOnStart == ResumeAll && r.Closed == session.ClosedReboot && wentDown(r)
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

// addResults adds what was done. What failed is told; what is open is restored.
func (c *collector) addResults(all []recovery.Result) {
	var seen []uuid.UUID
	list := c.of.book.Records.List()
	for _, done := range all {
		r, known := c.of.book.Records.Get(done.Action.Record)
		if !known {
			r = session.Record{ID: done.Action.Record, Name: done.Action.Record.String()[:8]}
		}
		if r = conversation.SuccessorIn(list, r); slices.Contains(seen, r.ID) {
			continue
		}
		switch {
		case done.Err != nil:
			c.add(r, func(one *report) { one.trouble = append(one.trouble, r.Name) })
		case r.State.Live() && r.State != session.Stopping:
			c.add(r, func(one *report) { one.restored = append(one.restored, r.Name) })
		default:
			continue
		}
		seen = append(seen, r.ID)
	}
}

// addNotices adds what nothing could be done about.
func (c *collector) addNotices(all []recovery.Notice) {
	newer, unreadable := 0, 0
	for _, n := range all {
		switch n.Kind {
		case recovery.Unclear:
			if r, ok := c.of.book.Records.Get(n.Record); ok {
				c.add(r, func(one *report) { one.unclear = append(one.unclear, r.Name) })
			}
		case recovery.Newer:
			newer++
		case recovery.Unreadable:
			unreadable++
		}
	}
	for _, to := range c.private {
		one := c.reportOf(to)
		one.newer, one.unreadable = newer, unreadable
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
