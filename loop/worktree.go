package loop

import (
	"cmp"
	"context"
	"errors"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/session"
	"ccbot/internal/wording"
	"ccbot/port"
	"ccbot/port/refusal"
)

// Worktrees makes and removes the worktrees of loops.
type Worktrees interface {
	// InWorktree makes the worktree of a loop, and starts a session in it. It finds what an earlier
	// call has made, until the loop has that session. made is called in between, with the top folder
	// and the branch.
	InWorktree(ctx context.Context, l port.Loop, made func(top, branch string) error) (session.Record, error)
	// RemoveWorktree removes a worktree, or finds none. refusal.HasWork: something in it would be
	// lost. refusal.WrongState: a session may work there.
	RemoveWorktree(ctx context.Context, top string) error
}

// preparing reports whether the session in the worktree of a loop is not known yet.
func (l *Loop) preparing() bool { return l.Worktree != nil && l.Session == l.Worktree.From }

// hasWorktree reports whether there may be a worktree that was made for the loop.
func (l *Loop) hasWorktree() bool {
	return l.Worktree != nil && l.Worktree.Dir != "" && !l.Worktree.Removed
}

// noCommit is the reason for which a folder has no commit that a worktree could be made of.
func noCommit(repo string) refusal.Code {
	if repo == "" {
		return refusal.NoRepository
	}
	return refusal.NoCommit
}

// prepare makes the worktree of a loop. After an error the loop has ended, unless ctx has: then the
// next start continues. The caller holds h.running and k.starting.
func (k *Keeper) prepare(ctx context.Context, h *held) error {
	err := k.makeWorktree(ctx, h)
	if err == nil || ctx.Err() != nil {
		return err
	}
	h.mu.Lock()
	defer h.unlock()
	return errors.Join(err, k.carryOut(ctx, h, act{Do: doEnd, State: port.LoopStopped, Reason: port.WhyNoWorktree, Detail: err.Error()}))
}

// makeWorktree makes the worktree of a loop, and starts a session in it. Each step finds what an
// earlier ccbot has made.
func (k *Keeper) makeWorktree(ctx context.Context, h *held) error {
	l := h.copy()
	if !l.preparing() {
		return nil
	}
	r, err := k.Engine.InWorktree(ctx, l.Loop, func(top, branch string) error {
		k.at("loop-worktree-made")
		err := h.save(k.store, func(l *Loop) { l.Worktree.Dir, l.Tree, l.Feature = top, top, cmp.Or(l.Feature, branch) })
		if err == nil {
			err = holder(k.all(), h.copy())
		}
		k.at("loop-worktree-saved")
		return err
	})
	if err != nil {
		return err
	}
	k.at("loop-session-begun")
	baseline := k.Engine.Snapshot(ctx, r.ID)
	return h.save(k.store, func(l *Loop) { l.Session, l.Name, l.Baseline = r.ID, r.Name, baseline })
}

// save changes a loop on disk.
func (h *held) save(s store, do func(l *Loop)) error {
	h.mu.Lock()
	defer h.unlock()
	was := h.loop.Clone()
	do(&h.loop)
	if err := s.put(h.loop); err != nil {
		h.loop = was
		return err
	}
	return nil
}

// removeWorktrees removes the worktrees of loops that have ended. It may be called again.
func (k *Keeper) removeWorktrees(ctx context.Context) {
	for _, h := range k.all() {
		if ctx.Err() == nil && h.running.TryLock() {
			k.removeWorktree(ctx, h)
			h.running.Unlock()
		}
	}
}

// removeWorktree removes the worktree of a loop if the loop and its session have ended, and nothing
// in it would be lost; otherwise it notes the reason. The caller holds h.running.
func (k *Keeper) removeWorktree(ctx context.Context, h *held) {
	l := h.copy()
	if l.State.Live() || !l.hasWorktree() || !l.preparing() && !l.isOver(k.Engine, k.Now()) {
		return
	}
	err := k.Engine.RemoveWorktree(ctx, l.Worktree.Dir)
	if ctx.Err() != nil || refusal.Is(err, refusal.WrongState) {
		return
	}
	k.at("loop-worktree-removed")
	log := k.Log.With(logkey.LoopID, l.ID.String(), logkey.SessionID, l.Session.String(), logkey.Dir, wording.Path(l.Worktree.Dir))
	now := port.LoopWorktree{From: l.Worktree.From, Dir: l.Worktree.Dir, Removed: err == nil}
	switch work := refusal.In(err); {
	case err == nil:
		log.Info("loop_worktree_removed")
	case work.Code == refusal.HasWork:
		if now.Stays = work.Reason; now != *l.Worktree {
			log.Info("loop_worktree_stays", logkey.Reason, now.Stays)
		}
	default:
		now.Stays = err.Error()
		log.Warn("loop_worktree_not_removed", logkey.Error, err)
	}
	if k.Cleaned != nil && (now.Removed || !refusal.Is(err, refusal.HasWork)) {
		k.Cleaned(now.Removed)
	}
	if now == *l.Worktree {
		return
	}
	if err := h.save(k.store, func(l *Loop) { l.Worktree = &now }); err != nil {
		h.warn(k.Log, errors.Join(errors.New("save the removal of the worktree"), err))
	}
}

// isOver reports whether the session of a loop has ended, and no person may bring it back at once.
func (l *Loop) isOver(e Engine, now time.Time) bool {
	r, known := e.Session(l.Session)
	if !known {
		return !e.Unread(l.Session)
	}
	return IsOver(r, now)
}

// IsOver reports whether a session has ended, and no person may bring it back at once.
func IsOver(r session.Record, now time.Time) bool {
	over := r.State.EndedOnPurpose() || r.State == session.Abandoned || r.State == session.Failed
	return over && !now.Before(r.EndedAt.Add(orphanGrace))
}
