package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/hooks"
	"ccbot/internal/presence"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// contradiction is how long two pieces of evidence may contradict each other:
// /clear and /resume reach the presence file and the hooks one after the other.
const contradiction = 2 * time.Second

// evidence is one look at all processes: the table, and what it says of those
// that write one of the conversations asked about, or may.
type evidence struct {
	table    process.Snapshot
	verdicts []process.Verdict
}

// writers judges every process that may write the conversation. Where the
// evidence contradicts itself it is looked at again for a moment.
func (s *Service) writers(ctx context.Context, claudeID uuid.UUID) (found evidence, err error) {
	decided := await(ctx, contradiction/8, contradiction, func() bool {
		found, err = s.judge(ctx, claudeID)
		return err != nil || !slices.ContainsFunc(found.verdicts, func(v process.Verdict) bool { return v.Writer == process.Maybe })
	})
	if !decided && ctx.Err() != nil {
		return evidence{}, ctx.Err()
	}
	return found, err
}

// judge weighs all the evidence there is at this moment; who is proven not to
// write is left out. Evidence that cannot be read is no evidence of absence:
// its process may be a writer.
func (s *Service) judge(ctx context.Context, claudeIDs ...uuid.UUID) (evidence, error) {
	t, err := s.testimony(ctx)
	if err != nil {
		return evidence{}, err
	}
	return s.weigh(t, claudeIDs...), nil
}

// testimony is what there is to judge on, read once: the process table, and what
// others say of its processes.
type testimony struct {
	table  process.Snapshot
	claims []process.Claim
	// doubts are claims of files that are there and cannot be read: they name a
	// process, and may mean any conversation.
	doubts []process.Claim
}

func (s *Service) testimony(ctx context.Context) (t testimony, err error) {
	if t.table, err = s.Processes.Snapshot(ctx); err != nil {
		return testimony{}, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	if err := s.readPresences(ctx, &t); err != nil {
		return testimony{}, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	if err := s.readBindings(&t); err != nil {
		return testimony{}, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	return t, nil
}

// weigh judges what was read for some conversations. The identity in a doubt is
// incomplete, so the verdict on a living process of that pid is "unknown".
func (s *Service) weigh(t testimony, claudeIDs ...uuid.UUID) evidence {
	claims := slices.Clone(t.claims)
	for _, doubt := range t.doubts {
		for _, id := range claudeIDs {
			doubt.SessionID = id
			claims = append(claims, doubt)
		}
	}
	verdicts := process.Judge(t.table, claims, s.agents(), claudeIDs...)
	verdicts = slices.DeleteFunc(verdicts, func(v process.Verdict) bool { return v.Writer == process.No })
	return evidence{table: t.table, verdicts: verdicts}
}

// readPresences takes what presence files say. A file of a process that is gone,
// or of an earlier bearer of its pid, matches nothing in the snapshot. An error
// is of the folder: then nothing is known of anybody.
func (s *Service) readPresences(ctx context.Context, t *testimony) error {
	files, errs := s.Presences.List(ctx)
	for _, f := range files {
		if p, ok := t.table.Find(f.PID); ok {
			id := process.Identity{PID: f.PID, Start: f.ProcStart, Boot: p.Boot}
			t.claims = append(t.claims, process.Claim{Process: id, SessionID: f.SessionID, Source: process.SourcePresence})
		}
	}
	for _, err := range errs {
		unreadable := (*presence.FileError)(nil)
		if !errors.As(err, &unreadable) {
			return err
		}
		if !s.maybeAgent(t.table, unreadable.PID) {
			continue // left behind by an earlier bearer of the pid, or of another machine's process
		}
		s.Log.Warn("evidence_unreadable", "error", err.Error())
		t.doubts = append(t.doubts, process.Claim{Process: process.Identity{PID: unreadable.PID}, Source: process.SourcePresence})
	}
	return nil
}

// maybeAgent says whether the process that has a pid now is an agent.
func (s *Service) maybeAgent(snap process.Snapshot, pid int) bool {
	p, ok := snap.Find(pid)
	if !ok {
		return false
	}
	if seen, err := s.Processes.Inspect(pid); err == nil && seen.Identity == p.Identity {
		p = seen // with its executable
	}
	return process.IsAgent(p, s.agents())
}

// readBindings takes what hooks recorded.
func (s *Service) readBindings(t *testimony) error {
	bindings, errs := s.Hooks.Bindings()
	for _, b := range bindings {
		id, err := uuid.Parse(b.SessionID)
		if err != nil {
			errs = append(errs, &hooks.BindingError{Name: b.Name(), PID: b.PID, Start: b.Start, Boot: b.Boot, Err: err})
			continue
		}
		t.claims = append(t.claims, process.Claim{SessionID: id, Source: process.SourceHook,
			Process: process.Identity{PID: b.PID, Start: b.Start, Boot: b.Boot}})
	}
	for _, err := range errs {
		unreadable := (*hooks.BindingError)(nil)
		if !errors.As(err, &unreadable) {
			return err
		}
		if p, ok := t.table.Find(unreadable.PID); !ok || p.Start != unreadable.Start || p.Boot != unreadable.Boot {
			continue // of a process that is gone
		}
		s.Log.Warn("evidence_unreadable", "error", err.Error())
		t.doubts = append(t.doubts, process.Claim{Process: process.Identity{PID: unreadable.PID}, Source: process.SourceHook})
	}
	return nil
}

// agents are the names of Claude Code's command, and the programs that agents of
// ours were seen to be.
func (s *Service) agents() process.AgentNames { return s.agentsOf(s.Store.Shared()) }

func (s *Service) agentsOf(records []session.Record) process.AgentNames {
	names := process.AgentNames{Names: []string{"claude", "claude.exe", filepath.Base(s.Command)}}
	for _, r := range records {
		if r.Exe != "" && !slices.Contains(names.Exes, r.Exe) {
			names.Exes = append(names.Exes, r.Exe)
		}
	}
	return names
}

// alone is the gate before every resume (P1): leftovers of the session
// are ended, and while anybody else writes its conversation, or may, it refuses.
func (w *work) alone(ctx context.Context) (ended []Ending, err error) {
	looked, _, err := w.endLeftovers(ctx)
	if err != nil {
		return nil, err
	}
	ended = slices.DeleteFunc(looked, func(e Ending) bool { return !e.Ended || e.How == process.HowAlreadyGone })
	_, _ = w.endBelow(ctx) // no tool of a leftover writes the conversation
	left, err := w.others(ctx)
	if err != nil {
		return ended, err
	}
	if len(left) > 0 {
		return ended, &WriterError{Writers: left}
	}
	return ended, nil
}

// unclaimed is the same gate for a new conversation: of an id that was made a
// moment ago evidence that cannot be read says nothing.
func (w *work) unclaimed(ctx context.Context) error {
	found, err := w.judge(ctx, w.r.ClaudeSessionID)
	if err != nil {
		return err
	}
	found.verdicts = slices.DeleteFunc(found.verdicts, func(v process.Verdict) bool { return v.Writer != process.Yes })
	if len(found.verdicts) > 0 {
		return &WriterError{Writers: w.describe(ctx, found)}
	}
	return nil
}

// others are all who keep this session from having its conversation to itself.
// They are about to be shown to a person, so from here on they count as told.
func (w *work) others(ctx context.Context) ([]Writer, error) {
	all, err := w.writers(ctx, w.r.ClaudeSessionID)
	if err != nil {
		return nil, err
	}
	return w.beside(ctx, all), w.noteShown(all)
}

// beside are all who write this session's conversation beside its agent, or may.
func (w *work) beside(ctx context.Context, all evidence) []Writer {
	c := w.scene(all.table, w.Store.Shared())
	found := strangers(*w.r, all)
	if len(found.verdicts) > 0 {
		c.lookAround(ctx)
	}
	left := append(c.describe(*w.r, found.verdicts), c.unended(*w.r, all.verdicts)...)
	return append(left, w.elsewhere(left)...)
}

// noteShown notes whom the person is about to be shown.
func (w *work) noteShown(all evidence) error {
	fresh := evidence{table: all.table, verdicts: newSeconds(*w.r, all)}
	if len(fresh.verdicts) == 0 {
		return nil
	}
	return w.noteSeconds(fresh)
}

// holdConversation keeps a conversation to one turn at a time, from the look at
// who writes it until a new agent of it is bound: two records may have the same
// one.
func (s *Service) holdConversation(ctx context.Context, claudeID uuid.UUID) (release func(), err error) {
	s.mu.Lock()
	slot, ok := s.held[claudeID]
	if !ok {
		slot = make(chan struct{}, 1)
		s.held[claudeID] = slot
	}
	s.mu.Unlock()
	select {
	case slot <- struct{}{}:
		return func() { <-slot }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for conversation %s: %w", claudeID, ctx.Err())
	}
}

// elsewhere are the open sessions that have the same conversation, as far as
// their agents are not among those known: one that has just been started shows
// nothing yet.
func (w *work) elsewhere(known []Writer) (left []Writer) {
	for _, r := range w.Store.Shared() {
		if r.ID == w.r.ID || !r.State.Live() || r.ClaudeSessionID != w.r.ClaudeSessionID {
			continue
		}
		one := Writer{ClaudeSessionID: r.ClaudeSessionID, Proven: true, Standing: Second, Spared: ReasonOtherAgent, Session: r.Name, Why: "the agent of another session"}
		if r.Binding != nil {
			one.Process = process.Process{Identity: r.Binding.Agent}
		}
		if !slices.ContainsFunc(known, func(k Writer) bool { return k.Identity == one.Identity }) {
			left = append(left, one)
		}
	}
	return left
}

// unended are agents that a record bound earlier and that are not proven gone.
// Nothing else says that they write the conversation; but they did.
func (c *scene) unended(r session.Record, known []process.Verdict) (left []Writer) {
	for _, id := range c.living(r.Bound) {
		one := Writer{Process: process.Process{Identity: id}, ClaudeSessionID: r.ClaudeSessionID, Standing: Leftover,
			Why: "the record bound it, and it is not proven gone"}
		if p, err := c.Processes.Inspect(id.PID); err == nil && p.Identity == id {
			one.Process = p
		}
		judged := slices.ContainsFunc(known, func(v process.Verdict) bool { return v.Process.Identity == id })
		own := r.Binding != nil && r.Binding.Agent == id
		if !judged && !own && c.agentOf(r.ID, one.Process) == "" {
			left = append(left, one)
		}
	}
	return left
}
