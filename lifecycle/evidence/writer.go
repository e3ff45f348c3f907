package evidence

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/agent/witness"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/tmux"
)

// Reasons to leave a process alone, in addition to those of package process.
const (
	ReasonOtherAgent = "other_agent" // the bound agent of another session
	ReasonUnclear    = "unclear"     // the evidence contradicts itself
)

// Writer is a process that writes a session's conversation, or may write it, in the form in which a
// person is shown it.
type Writer struct {
	process.Process           // with Cwd if readable
	AgentSessionID  uuid.UUID // the conversation
	Age             time.Duration
	Proven          bool
	Source          process.Source // of the evidence that decided
	Why             string         // English, for the log
	Standing        Standing
	Spared          string // the reason why no tap ends it; empty: a tap may end it
	Session         string // the name of the session that has it as its bound agent; empty: none
	Pane            tmux.Pane
	InTmux          bool // Pane, on ccbot's tmux server, is where it runs in the foreground
	Serverless      bool // its agent takes texts by a server, and it is none
}

// Endable reports whether a person may end the process: it is proven to write, and nothing protects
// it.
func (w Writer) Endable() bool { return w.Proven && w.Spared == "" }

// Adoptable reports whether ccbot can take the process over in the terminal where it runs. A
// process that no archive could end is not adopted, nor one that takes no text.
func (w Writer) Adoptable() bool { return w.Endable() && w.InTmux && !w.Serverless }

// Writers returns the processes that write the session's conversation at this moment, or may write
// it, apart from its own agent.
func (s *Sources) Writers(ctx context.Context, r session.Record) ([]Writer, error) {
	e, err := s.Settled(ctx, r.AgentSessionID)
	if err != nil {
		return nil, err
	}
	return e.Writers(ctx, r), nil
}

// Writers returns all writers that keep the session from having its conversation to itself.
func (e *Evidence) Writers(ctx context.Context, r session.Record) []Writer {
	found := e.known(ctx, r)
	return append(found, e.elsewhere(r, found)...)
}

// known returns the writers of a session's conversation for which there is evidence.
func (e *Evidence) known(ctx context.Context, r session.Record) []Writer {
	return append(e.Describe(ctx, r, e.OtherWriters(r)), e.unended(r)...)
}

// Describe turns verdicts into writers, described from the point of view of one session.
func (e *Evidence) Describe(ctx context.Context, r session.Record, verdicts []process.Verdict) (all []Writer) {
	if len(verdicts) > 0 {
		e.readDetails(ctx)
	}
	for _, v := range verdicts {
		seen := v.Process
		other, _ := e.agentOf(r.ID, seen)
		one := Writer{Process: seen, AgentSessionID: v.SessionID, Proven: v.Writer == process.Yes, Source: v.Source, Why: v.Why,
			Standing: StandingOf(r, v), Session: other.Name}
		one.Age, _ = seen.Age(e.now)
		if p, err := e.from.Processes.Inspect(seen.PID); err == nil && p.Identity == seen.Identity {
			one.Cwd, seen = p.Cwd, p // this reading includes the executable, which the table leaves out
		}
		if spare := e.SparedBy(r.ID, seen); spare != nil {
			one.Spared = spare.Reason
		}
		one.Pane, one.InTmux = paneOf(e.Table, v.Process, e.panes)
		one.InTmux = one.InTmux && (one.Pane.Tag == "" || e.from.Ours(one.Pane)) // otherwise its window belongs to another ccbot
		served, of := e.from.Agents.Of(e.from.AgentName(v.Process)).Witness.(witness.Served)
		one.Serverless = of && !served.IsServer(v.Process.Args)
		all = append(all, one)
	}
	return all
}

// unended returns the agents that a record bound earlier and that are not proven gone. No other
// evidence says that they write the conversation, but they did write it.
func (e *Evidence) unended(r session.Record) (left []Writer) {
	for _, id := range e.from.Living(r.Bound) {
		one := Writer{Process: process.Process{Identity: id}, AgentSessionID: r.AgentSessionID, Standing: Leftover,
			Why: "the record bound it, and it is not proven gone"}
		if p, err := e.from.Processes.Inspect(id.PID); err == nil && p.Identity == id {
			one.Process = p
		}
		judged := slices.ContainsFunc(e.Verdicts, func(v process.Verdict) bool {
			return v.SessionID == r.AgentSessionID && v.Process.Identity == id
		})
		_, others := e.agentOf(r.ID, one.Process)
		if !judged && !r.HasAgent(id) && !others {
			left = append(left, one)
		}
	}
	return left
}

// elsewhere returns the agents of other open sessions with the same conversation, unless they are
// among the known writers: an agent that has just been started leaves no evidence yet.
func (e *Evidence) elsewhere(of session.Record, known []Writer) (left []Writer) {
	for _, r := range e.records {
		if r.ID == of.ID || !r.State.Live() || r.AgentSessionID != of.AgentSessionID {
			continue
		}
		one := Writer{AgentSessionID: r.AgentSessionID, Proven: true, Standing: Second, Spared: ReasonOtherAgent, Session: r.Name, Why: "the agent of another session"}
		if r.Binding != nil {
			one.Process = process.Process{Identity: r.Binding.Writer()}
		}
		if !slices.ContainsFunc(known, func(k Writer) bool { return k.Identity == one.Identity }) {
			left = append(left, one)
		}
	}
	return left
}

// paneOf finds the pane in which the process runs in the foreground: the pane of the nearest
// ancestor that shares its terminal. It finds none for a process in the background, or in a
// terminal inside the pane (another tmux, script), or if tmux shows the shell's own name as the
// pane's command: then no check before a key could tell whether the shell is in front.
func paneOf(table process.Snapshot, p process.Process, panes []tmux.Pane) (tmux.Pane, bool) {
	if p.TTY == 0 || p.PGID != p.Foreground {
		return tmux.Pane{}, false
	}
	for _, above := range append([]process.Process{p}, table.Ancestors(p.PID)...) {
		if above.TTY != p.TTY {
			break
		}
		for _, pane := range panes {
			if pane.PID == above.PID && !pane.Dead {
				return pane, above.PID == p.PID || pane.Command != above.Comm
			}
		}
	}
	return tmux.Pane{}, false
}

// Written returns which of some conversations processes write at this moment, or may write. The
// agents of sessions count like any other process.
func (s *Sources) Written(ctx context.Context, conversations ...uuid.UUID) (map[uuid.UUID]bool, error) {
	e, err := s.Read(ctx, conversations...)
	if err != nil {
		return nil, err
	}
	written := make(map[uuid.UUID]bool)
	for _, v := range e.Verdicts {
		written[v.SessionID] = true
	}
	return written, nil
}

// Standing is the relation of a process that writes, or may write, to the session with the
// conversation.
type Standing int

const (
	Unclear  Standing = iota // it is unknown whether the process writes: it is neither ended nor ignored
	Agent                    // the session's bound agent, or its server
	Leftover                 // left over from the session's own life: it ends with the session
	Second                   // any other process: it is reported, and ended only by a person's tap
)

// StandingOf distinguishes a leftover of a session from a process that came later or from
// elsewhere. It is pure.
//
// A leftover is either an agent that the record itself bound, or a proven writer that was started
// for this conversation before the session's end and was never reported as a second writer. Three
// kinds of processes are not leftovers. A process that was there before the session came to the
// conversation (through /resume inside its window) belongs to another person. A process that came
// to the conversation later, through /resume inside another session, does not name it on its
// command line: it is not a leftover, whenever it started. And if a session was given up because
// nothing was known of it, the processes that it had bound are not leftovers: unknown ends nothing.
func StandingOf(r session.Record, v process.Verdict) Standing {
	who := v.Process.Identity
	end, over := EndOf(r)
	switch {
	case r.HasAgent(who):
		return Agent
	case r.Binding != nil && (r.Binding.Agent.Incomparable(who) || r.Binding.AgentServer.Incomparable(who)), slices.ContainsFunc(slices.Concat(r.Bound, r.SecondWriters), who.Incomparable),
		process.OtherClock(r.SinceMoment.Boot, who.Boot):
		return Unclear // ccbot noted the session in another time namespace
	case slices.Contains(r.Bound, who) && r.State != session.Abandoned:
		return Leftover
	case v.Writer != process.Yes:
		return Unclear
	case slices.Contains(r.Bound, who):
		return Second
	case slices.Contains(r.SecondWriters, who), !v.Named, who.StartedAfter(r.SinceMoment) == process.No:
		return Second
	case over && who.StartedAfter(end) != process.No:
		return Second
	}
	return Leftover
}

// EndOf returns the time from which a person who starts a process knows that the session has ended;
// over is false before that. A session that never had an agent counts as ended from its start: it
// leaves no processes. A stop counts from its request: the window closes immediately, but the agent
// may need many seconds, and a person may continue in a terminal during that time.
func EndOf(r session.Record) (end process.Moment, over bool) {
	switch {
	case r.State == session.Starting && r.Binding == nil:
		return r.SinceMoment, true
	case !r.State.Live(), r.Interrupted(): // a session that is being restored has no agent yet
		return r.EndedMoment, true
	case r.State == session.Stopping && r.Cleanup != nil: // another try of a cleanup
		return r.EndedMoment, true
	case r.State == session.Stopping:
		return r.RequestedMoment, true
	}
	return process.Moment{}, false
}
