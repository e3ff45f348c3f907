package lifecycle

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/process"
)

// writers judges every process that may write the conversation, by all the
// evidence there is at this moment.
func (s *Service) writers(ctx context.Context, claudeID uuid.UUID) ([]process.Verdict, error) {
	snap, err := s.Processes.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for writers: %w", err)
	}
	verdicts := process.Judge(snap, s.claims(ctx, snap), s.agents(), claudeID)
	return slices.DeleteFunc(verdicts, func(v process.Verdict) bool { return v.Writer == process.No }), nil
}

// claims collects what presence files and hook bindings say. A file of a
// process that is gone, or of an earlier bearer of its pid, matches nothing in
// the snapshot.
func (s *Service) claims(ctx context.Context, snap process.Snapshot) []process.Claim {
	var claims []process.Claim
	files, errs := s.Presences.List(ctx)
	for _, f := range files {
		if p, ok := snap.Find(f.PID); ok {
			id := process.Identity{PID: f.PID, Start: f.ProcStart, Boot: p.Boot}
			claims = append(claims, process.Claim{Process: id, SessionID: f.SessionID, Source: process.SourcePresence})
		}
	}
	bindings, more := s.Bindings()
	for _, b := range bindings {
		id, err := uuid.Parse(b.SessionID)
		if err != nil {
			more = append(more, fmt.Errorf("hook binding of pid %d: %w", b.PID, err))
			continue
		}
		claims = append(claims, process.Claim{SessionID: id, Source: process.SourceHook,
			Process: process.Identity{PID: b.PID, Start: b.Start, Boot: b.Boot}})
	}
	for _, err := range append(errs, more...) {
		s.Log.Warn("evidence_unreadable", "error", err.Error())
	}
	return claims
}

func (s *Service) agents() process.AgentNames {
	return process.AgentNames{Names: []string{"claude", "claude.exe", filepath.Base(s.Command)}}
}

// refuseWriters is the gate before every resume (P1): a process that writes the
// conversation, or may, refuses it.
func (s *Service) refuseWriters(ctx context.Context, claudeID uuid.UUID) error {
	verdicts, err := s.writers(ctx, claudeID)
	if err != nil {
		return err
	}
	if len(verdicts) > 0 {
		return &WriterError{Verdict: verdicts[0]}
	}
	return nil
}
