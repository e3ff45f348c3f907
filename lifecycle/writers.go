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

// writers judges every process that may write the conversation. Where the
// evidence contradicts itself it is looked at again for a moment.
func (s *Service) writers(ctx context.Context, claudeID uuid.UUID) (verdicts []process.Verdict, err error) {
	decided := await(ctx, contradiction/8, contradiction, func() bool {
		verdicts, err = s.judge(ctx, claudeID)
		return err != nil || !slices.ContainsFunc(verdicts, func(v process.Verdict) bool { return v.Writer == process.Maybe })
	})
	if !decided && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return verdicts, err
}

// judge weighs all the evidence there is at this moment; who is proven not to
// write is left out. Evidence that cannot be read is no evidence of absence:
// its process may be a writer.
func (s *Service) judge(ctx context.Context, claudeID uuid.UUID) ([]process.Verdict, error) {
	snap, err := s.Processes.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for writers: %w", err)
	}
	presences, err := s.presenceClaims(ctx, snap, claudeID)
	if err != nil {
		return nil, fmt.Errorf("look for writers: %w", err)
	}
	bindings, err := s.bindingClaims(snap, claudeID)
	if err != nil {
		return nil, fmt.Errorf("look for writers: %w", err)
	}
	verdicts := process.Judge(snap, append(presences, bindings...), s.agents(), claudeID)
	return slices.DeleteFunc(verdicts, func(v process.Verdict) bool { return v.Writer == process.No }), nil
}

// presenceClaims are what presence files say. A file of a process that is gone,
// or of an earlier bearer of its pid, matches nothing in the snapshot. An error
// is of the folder: then nothing is known of anybody.
func (s *Service) presenceClaims(ctx context.Context, snap process.Snapshot, claudeID uuid.UUID) ([]process.Claim, error) {
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
		s.Log.Warn("evidence_unreadable", "error", err.Error())
		claims = append(claims, perhaps(unreadable.PID, claudeID, process.SourcePresence))
	}
	return claims, nil
}

// bindingClaims are what hooks recorded.
func (s *Service) bindingClaims(snap process.Snapshot, claudeID uuid.UUID) ([]process.Claim, error) {
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
		claims = append(claims, perhaps(unreadable.PID, claudeID, process.SourceHook))
	}
	return claims, nil
}

// perhaps is the claim of a file that cannot be read: its identity is
// incomplete, so the verdict on a living process of that pid is "unknown".
func perhaps(pid int, claudeID uuid.UUID, source process.Source) process.Claim {
	return process.Claim{Process: process.Identity{PID: pid}, SessionID: claudeID, Source: source}
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
