package bot

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

// account is what one conversation is told of a recovery.
type account struct {
	to         session.Conversation
	home       bool             // it is told what belongs to no conversation, too
	closed     []session.Record // by the recovery, and not told yet
	returning  []session.Record // of those: they come back by themselves
	brings     []session.Record // of those: to here. What is told in several homes comes back in the first
	restored   []string         // names, as of all below
	waiting    []string
	trouble    []string
	unclear    []string
	newer      int                // records that were left alone
	unreadable int                // records that were set aside
	windows    []lifecycle.Window // of which nobody was told yet
}

// staying are the closed ones that do not come back by themselves.
func (a *account) staying() []session.Record {
	return slices.DeleteFunc(slices.Clone(a.closed), func(r session.Record) bool {
		return slices.ContainsFunc(a.returning, func(k session.Record) bool { return k.ID == r.ID })
	})
}

// matters says whether there is anything to tell: what went well is not worth a
// message of its own.
func (a *account) matters() bool {
	return len(a.closed)+len(a.trouble)+len(a.unclear)+a.newer+a.unreadable+len(a.windows) > 0
}

// accounts are those of all conversations after one recovery.
type accounts struct {
	all      []*account
	homeless []session.Record   // closed ones that are told in every home
	quiet    []session.Record   // closed ones of which there is nothing to say any more
	windows  []lifecycle.Window // that are told in every home
}

// accountsOf sorts what a recovery found and did by who is told of it.
func (b *Bot) accountsOf(ctx context.Context, rep recovery.Report) (accounts, error) {
	homes, err := b.PrivateChats()
	if err != nil {
		return accounts{}, err
	}
	g := gathering{Bot: b, homes: homes}
	for _, to := range homes {
		g.account(to).home = true
	}
	g.closed()
	g.results(rep.Results)
	g.notices(rep.Notices)
	g.orphans(ctx)
	slices.SortFunc(g.found.all, func(a, c *account) int { return conversation.Compare(a.to, c.to) })
	return g.found, nil
}

// lookFor bounds the looks at terminals for one account.
const lookFor = 3 * time.Second

// waitingIn names the sessions of a conversation that wait for a person: their
// terminal asks something, or a prompt of theirs needs a decision.
func (b *Bot) waitingIn(ctx context.Context, to session.Conversation) (names []string) {
	looking, stop := context.WithTimeout(ctx, lookFor)
	defer stop()
	for _, r := range b.Records.List() {
		if r.Conversation != to || r.State != session.Running {
			continue
		}
		asks := looking.Err() == nil && b.Sessions.Look(looking, r).Phase.Waiting()
		if asks || b.undecided(r) {
			names = append(names, r.Name)
		}
	}
	return names
}

// undecided says whether a prompt of the session may have been typed, so that a
// person has to say what becomes of it.
func (b *Bot) undecided(r session.Record) bool {
	return slices.ContainsFunc(r.Prompts, func(key string) bool {
		e, err := b.Entries.Load(key)
		return err == nil && e.State == inbox.Unproven
	})
}

// gathering sorts what there is to tell.
type gathering struct {
	*Bot
	homes []session.Conversation
	found accounts
}

// account is that of a conversation, a new one if there is none yet.
func (g *gathering) account(to session.Conversation) *account {
	i := slices.IndexFunc(g.found.all, func(a *account) bool { return a.to == to })
	if i < 0 {
		i = len(g.found.all)
		g.found.all = append(g.found.all, &account{to: to})
	}
	return g.found.all[i]
}

// tell notes something in the accounts of a session's conversation: where it has
// none, in every home.
func (g *gathering) tell(r session.Record, note func(*account)) {
	places := g.homes
	if !g.isHomeless(r) {
		places = []session.Conversation{r.Conversation}
	}
	for _, to := range places {
		note(g.account(to))
	}
}

// closed gathers the sessions that recovery closed. One that is open again, or
// goes on as another, needs no word any more.
func (g *gathering) closed() {
	for _, r := range g.Records.List() {
		switch {
		case !r.Unreported:
			continue
		case !resumable(r):
			g.found.quiet = append(g.found.quiet, r)
			continue
		case g.isHomeless(r):
			g.found.homeless = append(g.found.homeless, r)
		}
		returns := g.ResumeOnStart == ResumeAll && r.Closed == session.ClosedReboot && wentDown(r)
		taken := !returns
		g.tell(r, func(a *account) {
			a.closed = append(a.closed, r)
			if returns {
				a.returning = append(a.returning, r)
			}
			if !taken {
				a.brings, taken = append(a.brings, r), true
			}
		})
	}
}

// results gathers what was done. What failed is told; what is open is restored.
func (g *gathering) results(all []recovery.Result) {
	var seen []uuid.UUID
	list := g.Records.List()
	for _, done := range all {
		r, known := g.Records.Get(done.Action.Record)
		if !known {
			r = session.Record{ID: done.Action.Record, Name: done.Action.Record.String()[:8]}
		}
		if r = conversation.SuccessorIn(list, r); slices.Contains(seen, r.ID) {
			continue
		}
		switch {
		case done.Err != nil:
			g.tell(r, func(a *account) { a.trouble = append(a.trouble, r.Name) })
		case r.State.Live() && r.State != session.Stopping:
			g.tell(r, func(a *account) { a.restored = append(a.restored, r.Name) })
		default:
			continue
		}
		seen = append(seen, r.ID)
	}
}

// notices gathers what nothing could be done about.
func (g *gathering) notices(all []recovery.Notice) {
	newer, unreadable := 0, 0
	for _, n := range all {
		switch n.Kind {
		case recovery.Unclear:
			if r, ok := g.Records.Get(n.Record); ok {
				g.tell(r, func(a *account) { a.unclear = append(a.unclear, r.Name) })
			}
		case recovery.Newer:
			newer++
		case recovery.Unreadable:
			unreadable++
		}
	}
	for _, to := range g.homes {
		a := g.account(to)
		a.newer, a.unreadable = newer, unreadable
	}
}

// orphans gathers the windows that belong to nobody and that nobody was told of.
func (g *gathering) orphans(ctx context.Context) {
	all := g.Bot.orphans(ctx)
	if len(all) == 0 {
		return
	}
	fresh, err := g.Windows.NewOrphans(ctx, all)
	if err != nil {
		g.Log.Warn("windows_unknown", "error", err.Error())
		return
	}
	g.found.windows = fresh
	for _, to := range g.homes {
		g.account(to).windows = fresh
	}
}
