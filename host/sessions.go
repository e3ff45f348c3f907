package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/internal/clip"
	"ccbot/internal/each"
	"ccbot/internal/git"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/news"
	"ccbot/port/refusal"
	"ccbot/port/talk"
	"ccbot/recovery"
	"ccbot/tmux"
)

// Lifecycle is the part of lifecycle.Service that this package uses. The ports that it names are
// implemented there as the chat needs them.
type Lifecycle interface {
	port.Namer
	port.Keys
	port.ModeSwitcher
	Start(ctx context.Context, q port.Start) (session.Record, error)
	Restore(ctx context.Context, q port.Restore) (lifecycle.Restored, error)
	Archive(ctx context.Context, id uuid.UUID, final session.State, cause port.Cause) error
	BeginEnd(ctx context.Context, id uuid.UUID, final session.State, cause port.Cause) error
	ArchiveQuiet(ctx context.Context, id uuid.UUID, q port.Silence) error
	Writers(ctx context.Context, id uuid.UUID) ([]evidence.Writer, error)
	EndWriters(ctx context.Context, id uuid.UUID, who []process.Identity) ([]ending.Ending, error)
	Adopt(ctx context.Context, q lifecycle.AdoptRequest) (session.Record, error)
	Reported(ctx context.Context, id uuid.UUID) error
	Move(ctx context.Context, id uuid.UUID, to session.Conversation, since port.MoveSince) error
	SetIdleAfter(ctx context.Context, id uuid.UUID, after *time.Duration) error
	SetBudget(ctx context.Context, id uuid.UUID, b port.Budget) error
	talk.CursorStore
	Interrupt(ctx context.Context, id uuid.UUID) (reported bool, err error)
	Attach(r session.Record) string
}

// Queues is lifecycle.Queues.
type Queues interface {
	talk.PromptQueue
	talk.PromptDecisions
	talk.PromptViews
	talk.PromptEdits
	talk.PromptOrder
	talk.TurnEnder
}

// Observer is the part of view.Observer that this package uses.
type Observer interface {
	Inspector(ctx context.Context) func(session.Record) view.Status
	PIDs(ctx context.Context, r session.Record) []int
	Usage(r session.Record) *port.Usage
	Output(ctx context.Context, r session.Record, command string) port.Output
}

// Orphans is the part of recovery.Recovery that this package uses.
type Orphans interface {
	Orphans(ctx context.Context) ([]evidence.Window, error)
	Ignore(ctx context.Context, w evidence.Window) error
	NewOrphans(ctx context.Context, of []evidence.Window) ([]evidence.Window, error)
	MarkReported(ctx context.Context, all []evidence.Window) error
}

// Terminals implements what a person at this machine can see and do. It implements the ports of
// port/terminal.go.
type Terminals struct {
	Lifecycle
	port.Panes
	Agents   agent.Agents
	Observer Observer
	Windows  Orphans
	Records  AllRecords
}

// Sessions are the sessions and windows of this machine. It implements the ports of
// package port about sessions, and those about prompts and changed files.
type Sessions struct {
	Terminals
	Queues
	// Git looks at the repository of a folder, and at what has changed in it since a commit, see
	// git.Compare.
	Git   func(ctx context.Context, dir, since string) (*git.State, *git.Changes, error)
	Roots []string // as [Machine.Roots]; git is not asked about a folder outside of them
	// Diffs returns the changes of each file, see [Diffs].
	folders.Diffs
	// Spending returns the use of agents, see [Spending].
	talk.Spending
	// Memory is the memory of several processes together, in bytes; 0: unknown. It may be nil.
	Memory func(ctx context.Context, pids ...int) uint64
	// Forgets removes a record and all copies of it, see archive.Keeper.
	Forgets func(ctx context.Context, id uuid.UUID) error
}

// maxAgentName is more than any agent's name has, in characters.
const maxAgentName = 20

// Installed implements [port.Agents].
func (s Sessions) Installed(context.Context, string) (all []port.Installed, err error) {
	for _, name := range slices.Sorted(maps.Keys(s.Agents)) {
		by := s.Agents[name]
		if _, missing := agent.Program(by.Launch.Command); missing == nil {
			all = append(all, port.Installed{Name: name, Product: cmp.Or(by.Product, "Claude Code")})
		}
	}
	return all, nil
}

// Abilities implements [port.Agents].
func (s Sessions) Abilities(_ context.Context, _, name string) (port.Abilities, error) {
	by := s.Agents.Of(name)
	if by.Starter == nil {
		name = clip.Runes(name, maxAgentName)
		return port.Abilities{}, &refusal.Error{Code: refusal.AgentUnfit, Reason: refusal.UnfitUnknown, Agent: name, Err: fmt.Errorf("ccbot has no agent %q", name)}
	}
	return by.Abilities, nil
}

// view is a record as the chat sees it.
func (s Sessions) view(r session.Record) port.Session {
	shown := View(s.Agents, r)
	shown.Attach = s.Lifecycle.Attach(r)
	return shown
}

// Start starts an agent in a new window.
func (s Sessions) Start(ctx context.Context, q port.Start) (port.Session, error) {
	r, err := s.Lifecycle.Start(ctx, q)
	return s.view(r), s.Refused(err)
}

// Restore brings a session back.
func (s Sessions) Restore(ctx context.Context, q port.Restore) (port.Restored, error) {
	back, err := s.Lifecycle.Restore(ctx, q)
	return port.Restored{Session: s.view(back.Record), Ended: each.As(back.Ended, endingOf)}, s.Refused(err)
}

// Adopt makes a session out of an agent that a person has started, at the request of a person in
// the chat.
func (s Sessions) Adopt(ctx context.Context, q port.Adopt) (port.Session, error) {
	r, err := s.Lifecycle.Adopt(ctx, lifecycle.AdoptRequest{Agent: process.ParseIdentity(string(q.Agent)), AgentSessionID: q.AgentSessionID, From: q.From, Confirmed: true,
		Conversation: q.Conversation, Owner: q.Owner, Rule: "chat.adopt", Why: q.Why})
	return s.view(r), s.Refused(err)
}

// Forget removes the record of an ended session and all copies of it.
func (s Sessions) Forget(ctx context.Context, id uuid.UUID) error { return s.Forgets(ctx, id) }

// EndWriters ends other writers of a session's conversation.
func (s Sessions) EndWriters(ctx context.Context, id uuid.UUID, who []port.ID) ([]port.Ending, error) {
	all := each.As(who, func(one port.ID) process.Identity { return process.ParseIdentity(string(one)) })
	ended, err := s.Lifecycle.EndWriters(ctx, id, all)
	return each.As(ended, endingOf), s.Refused(err)
}

// endingOf is a process that was ended, or left alone, as the chat sees it.
func endingOf(e ending.Ending) port.Ending {
	return port.Ending{Process: Process(e.Process, e.Age), How: string(e.How), Ended: e.Ended, Verified: e.Verified, Reason: e.Reason}
}

// Process is a process as the chat sees it.
func Process(p process.Process, age time.Duration) port.Process {
	return port.Process{ID: port.ID(p.Identity.Text()), PID: p.PID, Program: programOf(p), Terminal: p.Terminal(), Age: age}
}

func (m Terminals) paneOf(p tmux.Pane) port.Pane {
	attach := m.Lifecycle.Attach(session.Record{Name: p.WindowName, Run: session.Run{Binding: &session.Binding{Window: p.Window.String()}}})
	return port.Pane{Window: p.Window.String(), Name: p.WindowName, Attach: attach}
}

func (m Terminals) writerOf(w evidence.Writer) port.Writer {
	shown := port.Writer{Process: Process(w.Process, w.Age), Dir: w.Cwd, AgentSessionID: w.AgentSessionID, Proven: w.Proven,
		Endable: w.Endable(), Adoptable: w.Adoptable(), Source: string(w.Source), Kept: w.Spared, Session: w.Session}
	switch {
	case w.Session != "":
		shown.Kept = evidence.ReasonOtherAgent
	case !w.Proven:
		shown.Kept, shown.Source = evidence.ReasonUnclear, ""
	}
	if w.InTmux {
		pane := m.paneOf(w.Pane)
		shown.Window = &pane
	}
	return shown
}

// Refused puts writers into the terms of the chat, in an error of lifecycle. Its other errors are
// refusals by themselves.
func (m Terminals) Refused(err error) error {
	if e, ok := errors.AsType[*lifecycle.WriterError](err); ok {
		return &refusal.Error{Code: refusal.Writers, Writers: each.As(e.Writers, m.writerOf), Err: err}
	}
	return err
}

// Chat gets the news about sessions.
type Chat interface {
	SessionNews(ctx context.Context, s port.Session, n news.News) error
}

// News passes the news from lifecycle on to the chat.
type News struct {
	Sessions *Sessions
	Chat     Chat
	Moments  Moments // a session that was ended on purpose needs none
}

// Translate returns a piece of news as the chat understands it.
func (n News) Translate(r session.Record, x news.News) news.News { return n.Sessions.News(r, x) }

// View returns a session as the chat sees it.
func (n News) View(r session.Record) port.Session { return n.Sessions.view(r) }

// SessionNews passes on one piece of news.
func (n News) SessionNews(ctx context.Context, s port.Session, x news.News) error {
	err := n.Chat.SessionNews(ctx, s, x)
	if now, ok := n.Sessions.Records.Get(s.ID); ok && now.State.EndedOnPurpose() {
		_ = n.Moments.Forget(s.ID) // otherwise a start removes them
	}
	return err
}

// News is a piece of news as the chat understands it.
func (s Sessions) News(r session.Record, n news.News) news.News {
	switch n := n.(type) {
	case news.Ready:
		n.Answerers = answerersOf(s.Agents, r)
		return n
	case ending.Receipt:
		all := n.Others
		if n.Agent != nil {
			all = append([]ending.Ending{*n.Agent}, all...)
		}
		return news.Stopped{Endings: each.As(all, endingOf), Stays: n.Split || n.Adopted, Quiet: n.Quiet, By: askedBy(r), Together: n.Together}
	case lifecycle.OtherWriters:
		return news.OtherWriters(each.As(n, s.writerOf))
	}
	return n
}

// askedBy returns the person in the chat who has asked for the last end of a session; 0: none.
func askedBy(r session.Record) int64 {
	for _, c := range slices.Backward(r.History) {
		if c.To == session.Stopping {
			return c.By
		}
	}
	return 0
}

// StartOf returns the results of a recovery in the terms of the chat. It does not include the
// records that were set aside, because the report does not have them.
func StartOf(r recovery.Report) (s news.Start) {
	s.Booted = r.Booted
	s.Repaired = each.As(r.Results, func(done recovery.Result) news.Repair {
		return news.Repair{Session: done.Action.Record, Failed: done.Err != nil}
	})
	for _, n := range r.Notices {
		if n.Kind == recovery.Unclear {
			s.Unclear = append(s.Unclear, n.Record)
		}
	}
	return s
}
