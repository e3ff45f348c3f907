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
	snap, err := s.Processes.Snapshot(ctx)
	if err != nil {
		return evidence{}, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	presences, err := s.presenceClaims(ctx, snap, claudeIDs)
	if err != nil {
		return evidence{}, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	bindings, err := s.bindingClaims(snap, claudeIDs)
	if err != nil {
		return evidence{}, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	verdicts := process.Judge(snap, append(presences, bindings...), s.agents(), claudeIDs...)
	verdicts = slices.DeleteFunc(verdicts, func(v process.Verdict) bool { return v.Writer == process.No })
	return evidence{table: snap, verdicts: verdicts}, nil
}

// presenceClaims are what presence files say. A file of a process that is gone,
// or of an earlier bearer of its pid, matches nothing in the snapshot. An error
// is of the folder: then nothing is known of anybody.
func (s *Service) presenceClaims(ctx context.Context, snap process.Snapshot, claudeIDs []uuid.UUID) ([]process.Claim, error) {
	var claims []process.Claim
	files, errs := s.Presences.List(ctx)
	for _, f := range files {
		if p, ok := snap.Find(f.PID); ok {
			id := process.Identity{PID: f.PID, Start: f.ProcStart, Boot: p.Boot}
			claims = append(claims, process.Claim{Process: id, SessionID: f.SessionID, Source: process.SourcePresence})
		}
	}
	for _, err := range errs {
		unreadable := (*presence.FileError)(nil)
		if !errors.As(err, &unreadable) {
			return nil, err
		}
		if !s.maybeAgent(snap, unreadable.PID) {
			continue // left behind by an earlier bearer of the pid, or of another machine's process
		}
		s.Log.Warn("evidence_unreadable", "error", err.Error())
		claims = append(claims, perhaps(unreadable.PID, claudeIDs, process.SourcePresence)...)
	}
	return claims, nil
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

// bindingClaims are what hooks recorded.
func (s *Service) bindingClaims(snap process.Snapshot, claudeIDs []uuid.UUID) ([]process.Claim, error) {
	var claims []process.Claim
	bindings, errs := s.Bindings()
	for _, b := range bindings {
		id, err := uuid.Parse(b.SessionID)
		if err != nil {
			errs = append(errs, &hooks.BindingError{Name: b.Name(), PID: b.PID, Start: b.Start, Boot: b.Boot, Err: err})
			continue
		}
		claims = append(claims, process.Claim{SessionID: id, Source: process.SourceHook,
			Process: process.Identity{PID: b.PID, Start: b.Start, Boot: b.Boot}})
	}
	for _, err := range errs {
		unreadable := (*hooks.BindingError)(nil)
		if !errors.As(err, &unreadable) {
			return nil, err
		}
		if p, ok := snap.Find(unreadable.PID); !ok || p.Start != unreadable.Start || p.Boot != unreadable.Boot {
			continue // of a process that is gone
		}
		s.Log.Warn("evidence_unreadable", "error", err.Error())
		claims = append(claims, perhaps(unreadable.PID, claudeIDs, process.SourceHook)...)
	}
	return claims, nil
}

// perhaps are the claims of a file that cannot be read: its identity is
// incomplete, so the verdict on a living process of that pid is "unknown".
func perhaps(pid int, claudeIDs []uuid.UUID, source process.Source) []process.Claim {
	var claims []process.Claim
	for _, id := range claudeIDs {
		claims = append(claims, process.Claim{Process: process.Identity{PID: pid}, SessionID: id, Source: source})
	}
	return claims
}

// agents are the names of Claude Code's command, and the programs that agents of
// ours were seen to be.
func (s *Service) agents() process.AgentNames {
	names := process.AgentNames{Names: []string{"claude", "claude.exe", filepath.Base(s.Command)}}
	for _, r := range s.Store.List() {
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
	found := w.strangers(all)
	fresh := evidence{table: all.table, verdicts: newSeconds(*w.r, all)}
	left := append(w.describe(ctx, found), w.unended(all)...)
	left = append(left, w.elsewhere(left)...)
	if len(fresh.verdicts) == 0 {
		return left, nil
	}
	return left, w.noteSeconds(fresh)
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
	for _, r := range w.Store.List() {
		if r.ID == w.r.ID || !r.State.Live() || r.ClaudeSessionID != w.r.ClaudeSessionID {
			continue
		}
		one := Writer{Proven: true, Standing: Second, Spared: ReasonOtherAgent, Session: r.Name, Why: "the agent of another session"}
		if r.Binding != nil {
			one.Process = process.Process{Identity: r.Binding.Agent}
		}
		if !slices.ContainsFunc(known, func(k Writer) bool { return k.Identity == one.Identity }) {
			left = append(left, one)
		}
	}
	return left
}

// unended are agents that this record bound earlier and that are not proven gone.
// Nothing else says that they write the conversation; but they did.
func (w *work) unended(found evidence) (left []Writer) {
	for _, id := range w.living(w.r.Bound) {
		known := slices.ContainsFunc(found.verdicts, func(v process.Verdict) bool { return v.Process.Identity == id })
		one := Writer{Process: process.Process{Identity: id}, Standing: Leftover, Why: "the record bound it, and it is not proven gone"}
		if p, err := w.Processes.Inspect(id.PID); err == nil && p.Identity == id {
			one.Process = p
		}
		own := w.r.Binding != nil && w.r.Binding.Agent == id
		if known || own || w.agentOf(found.table, one.Process) != "" {
			continue
		}
		left = append(left, one)
	}
	return left
}
