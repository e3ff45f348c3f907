package process

import (
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
)

// Source is the origin of a claim, best evidence first.
type Source string

const (
	// SourceLock: the process holds the lock of the conversation, as the kernel notes it. An agent
	// that locks its conversations writes no other, and may hold several locks.
	SourceLock Source = "lock"
	// SourcePresence: the agent's own file about its process, with the kernel's start time.
	SourcePresence Source = "presence"
	// SourceHook: the hook's record, with pid and start time.
	SourceHook Source = "hook"
	// SourceArgv: the command line. It is out of date after /clear, an in-TUI /resume and
	// --continue. Judge finds it itself; callers never claim it.
	SourceArgv Source = "argv"
	// UntrustedArgv: the command line of a process that AgentNames.Untrusted reports. Its verdict
	// is No.
	UntrustedArgv Source = "untrusted"
)

// Claim says: this process runs that session. Callers make claims from locks, presence
// files and hook bindings.
type Claim struct {
	Process   Identity
	SessionID uuid.UUID
	Source    Source
}

// Verdict is the conclusion from the evidence about one process and one session.
type Verdict struct {
	Process   Process
	SessionID uuid.UUID
	Writer    Answer
	Named     bool   // the command line names the session, and no other
	Source    Source // of the evidence that decided
	Why       string // one English clause, for logs and /why
}

// Judge returns a verdict for every process that could write one of ids. It is pure.
//
// The evidence about a process, best first, is lock, presence, hook, argv; a weaker kind counts
// only where the stronger kinds are absent. A claim with another start or boot than the snapshot's
// is about another process and does not count. The answer is Maybe, on which callers neither start
// nor end a process, in three cases: presence and hook name different sessions, one kind names two
// sessions, or a claim cannot be checked because its identity is incomplete or of another clock.
// Such a contradiction may be a /clear that is just happening; callers ask again with a fresh
// snapshot and fresh claims for 2 s before they believe it.
//
// argv makes a writer only of an agent ([IsAgent]) whose command line is trusted. A claim makes a
// writer of any process: whether the process may be ended is for the guards to decide. Zombies
// write nothing. There is at most one verdict per process and id, in the order of the snapshot and
// then of ids; no verdict means no evidence.
func Judge(s Snapshot, claims []Claim, agents AgentNames, ids ...uuid.UUID) []Verdict {
	j := judgement{agents: agents, claims: make(map[int][]Claim, len(claims)), wanted: make(map[uuid.UUID]int, len(ids))}
	for _, c := range claims {
		j.claims[c.Process.PID] = append(j.claims[c.Process.PID], c)
	}
	// Backward, so that a repeated id keeps its first place.
	for i, id := range slices.Backward(ids) {
		j.wanted[id] = i
	}
	var verdicts []Verdict
	for _, p := range s.Processes {
		if !p.Gone() {
			verdicts = append(verdicts, j.judge(p)...)
		}
	}
	return withoutEchoes(s, agents, verdicts)
}

type judgement struct {
	agents AgentNames
	wanted map[uuid.UUID]int // the ids asked for, with their index in ids
	claims map[int][]Claim   // by pid
}

// evidence holds the evidence about one process: the sessions that each source names, and claims
// that cannot be checked.
type evidence struct {
	named     map[Source][]uuid.UUID
	unchecked []uuid.UUID
}

func (j *judgement) judge(p Process) []Verdict {
	named := func(id uuid.UUID) bool { _, ok := j.wanted[id]; return ok }
	if len(j.claims[p.PID]) == 0 && !slices.ContainsFunc(j.agents.conversations(p), named) {
		return nil // the common case by far: keep it free of allocations
	}
	e := j.gather(p)
	var verdicts []Verdict
	for _, id := range j.mentionedBy(e) {
		v := e.verdict(id)
		v.Process, v.SessionID, v.Named = p, id, j.agents.StartedFor(p, id)
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// mentionedBy returns the wanted ids that any evidence names, in the order of ids.
func (j *judgement) mentionedBy(e evidence) (ids []uuid.UUID) {
	for _, named := range append(slices.Collect(maps.Values(e.named)), e.unchecked) {
		for _, id := range named {
			if _, ok := j.wanted[id]; ok && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return j.wanted[a] - j.wanted[b] })
	return ids
}

func (j *judgement) gather(p Process) evidence {
	e := evidence{named: map[Source][]uuid.UUID{}}
	for _, c := range j.claims[p.PID] {
		known := slices.Contains([]Source{SourceLock, SourcePresence, SourceHook}, c.Source)
		switch {
		case c.Source == SourceArgv: // the snapshot itself shows it, in a newer state
		case !known || !c.Process.Valid() || !p.Valid(), p.Incomparable(c.Process):
			e.unchecked = append(e.unchecked, c.SessionID)
		case c.Process == p.Identity:
			e.add(c.Source, c.SessionID)
		}
	}
	source := sourceStranger
	if IsAgent(p, j.agents) {
		source = SourceArgv
		if j.agents.Untrusted != nil && j.agents.Untrusted(p) {
			source = UntrustedArgv
		}
	}
	for _, id := range j.agents.conversations(p) {
		e.add(source, id)
	}
	return e
}

// sourceStranger marks ids on the command line of a process that is not an agent.
const sourceStranger Source = "stranger"

func (e evidence) add(s Source, id uuid.UUID) {
	if !slices.Contains(e.named[s], id) {
		e.named[s] = append(e.named[s], id)
	}
}

// verdict decides about one session that some evidence names.
func (e evidence) verdict(id uuid.UUID) Verdict {
	if locked := e.named[SourceLock]; len(locked) > 0 {
		if slices.Contains(locked, id) {
			return Verdict{Writer: Yes, Source: SourceLock, Why: "it holds the lock"}
		}
		return Verdict{Writer: No, Source: SourceLock, Why: fmt.Sprintf("it holds the locks of %s", locked)}
	}
	presence, hook := e.named[SourcePresence], e.named[SourceHook]
	if len(presence) > 0 && len(hook) > 0 && !slices.Equal(presence, hook) {
		// Also of a session that only argv names nothing is known then.
		return Verdict{Writer: Maybe, Source: SourcePresence, Why: fmt.Sprintf("presence says %s, the hook says %s", presence, hook)}
	}
	for _, source := range []Source{SourcePresence, SourceHook} {
		if named := e.named[source]; len(named) > 0 {
			return e.decide(id, source, named)
		}
	}
	if len(e.unchecked) > 0 {
		return Verdict{Writer: Maybe, Why: "a claim cannot be checked: its identity is incomplete or of another clock"}
	}
	if named := e.named[SourceArgv]; len(named) > 0 {
		return e.decide(id, SourceArgv, named)
	}
	if len(e.named[UntrustedArgv]) > 0 {
		return Verdict{Writer: No, Source: UntrustedArgv, Why: "the command line of another user's process does not count"}
	}
	return Verdict{Writer: No, Source: SourceArgv, Why: "names the session but is not an agent"}
}

// decide answers from the one source that counts.
func (e evidence) decide(id uuid.UUID, source Source, named []uuid.UUID) Verdict {
	if len(named) > 1 {
		return Verdict{Writer: Maybe, Source: source, Why: fmt.Sprintf("%s names %d sessions", source, len(named))}
	}
	if named[0] != id {
		return Verdict{Writer: No, Source: source, Why: fmt.Sprintf("%s says it runs %s", source, named[0])}
	}
	return Verdict{Writer: Yes, Source: source, Why: fmt.Sprintf("%s says so", source)}
}

// withoutEchoes changes a Yes that is based on argv alone into No where the command line is only a
// copy of another process's. Both cases are real; without this function they would look like a
// second writer that comes and goes:
//   - a child that an agent has forked and that has not yet executed its tool still shows the
//     agent's command line, which may name a session that the agent itself left long ago;
//   - a launcher script hands its arguments to the agent that it starts and waits for.
func withoutEchoes(s Snapshot, agents AgentNames, verdicts []Verdict) []Verdict {
	// The pid of a writer, by its parent and session.
	children := make(map[writerKey]int, len(verdicts))
	for _, v := range verdicts {
		if v.Writer == Yes && v.Process.PPID != v.Process.PID {
			children[writerKey{v.Process.PPID, v.SessionID}] = v.Process.PID
		}
	}
	for i, v := range verdicts {
		if v.Writer != Yes || v.Source != SourceArgv {
			continue
		}
		if why := echoes(s, agents, children, v); why != "" {
			verdicts[i].Writer, verdicts[i].Why = No, why
		}
	}
	return verdicts
}

type writerKey struct {
	parent int
	id     uuid.UUID
}

// echoes returns the reason for which a command line is only a copy of another process's, or "".
func echoes(s Snapshot, agents AgentNames, children map[writerKey]int, v Verdict) string {
	p := v.Process
	if parent, ok := s.Find(p.PPID); ok && IsAgent(parent, agents) && slices.Equal(parent.Args, p.Args) {
		return fmt.Sprintf("a fork of the agent %d that has not become its own program yet", parent.PID)
	}
	if scriptPlace(program(p.Args)) == "" {
		return ""
	}
	if child, ok := children[writerKey{p.PID, v.SessionID}]; ok {
		return fmt.Sprintf("a launcher of the agent %d", child)
	}
	return ""
}
