package loop

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/disk"
	"ccbot/internal/logkey"
	"ccbot/internal/spool"
	"ccbot/port"
)

const (
	// copySuffix is the ending of the copy of a removed loop.
	copySuffix = ".loop"
	// copiesFor is how long a copy stays.
	copiesFor = 7 * 24 * time.Hour
	// purgeInterval is the time between two looks for loops that are due.
	purgeInterval = time.Hour
)

// Purge removes the loops that ended longer ago than PurgeAfter, and old copies. It may be called
// again.
func (k *Keeper) Purge(ctx context.Context) {
	for _, h := range k.all() {
		l := h.copy()
		if l.Removed() && !l.stays() {
			if err := k.remove(h); err != nil {
				h.warn(k.Log, err)
			}
			continue
		}
		age := k.Now().Sub(l.UpdatedAt)
		if ctx.Err() != nil || k.PurgeAfter <= 0 || age < k.PurgeAfter || l.State.Live() || l.unreported() || l.stays() {
			continue
		}
		if err := put(k.Copies, l, copySuffix); err != nil {
			h.warn(k.Log, err)
			continue
		}
		k.at("loop-copied")
		if err := k.remove(h); err != nil {
			h.warn(k.Log, err)
			continue
		}
		k.Log.Info("loop_purged", logkey.LoopID, l.ID.String(), logkey.SessionID, l.Session.String(), logkey.State, string(l.State), logkey.Age, age.Round(time.Second))
		if k.Purged != nil {
			k.Purged(l.State, age)
		}
	}
	err := removeCopies(k.Copies, func(path string, _ Loop) (bool, error) {
		info, err := disk.Lstat(path)
		return err == nil && k.Now().Sub(info.ModTime()) >= copiesFor, err
	})
	if err != nil {
		k.Log.Warn("purged_loops_not_removed", logkey.Error, err)
	}
}

// Removed reports whether a person or its age has removed a loop: its file has only what ccbot must
// still remove.
func (l *Loop) Removed() bool { return l.Task == "" && !l.State.Live() }

// stays reports whether a process of a loop's check is not proven gone, or its worktree stands.
func (l *Loop) stays() bool { return len(l.Processes) > 0 || l.hasWorktree() }

// remove removes a loop, and ends its check. While a process of the check is not proven gone, or
// the worktree stands, the file stays, with nothing else. Then the end of the check, the next look,
// or the next start removes it.
func (k *Keeper) remove(h *held) error {
	h.mu.Lock()
	defer h.unlock()
	l := &h.loop
	bare := Loop{Version: Version, Loop: port.Loop{ID: l.ID, Session: l.Session, State: port.LoopOrphaned, Step: port.LoopCheck, CreatedAt: l.CreatedAt, UpdatedAt: l.UpdatedAt},
		Processes: l.Processes, Reported: port.LoopOrphaned}
	if l.Worktree != nil && !l.Worktree.Removed {
		bare.Worktree = &port.LoopWorktree{From: l.Worktree.From, Dir: l.Worktree.Dir}
	}
	if err := k.store.putOrRemove(bare); err != nil {
		return err
	}
	if h.loop, h.unsaved = bare, false; h.cut != nil {
		h.cut()
	}
	if !bare.hasWorktree() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.loops, bare.ID)
	}
	return nil
}

// Forget removes the loops of a session that has ended and all copies, because a person has asked
// for it.
func (k *Keeper) Forget(session uuid.UUID) (err error) {
	for _, h := range k.all() {
		if l := h.copy(); l.Session == session {
			err = errors.Join(err, k.remove(h))
		}
	}
	return errors.Join(err, removeCopies(k.Copies, func(_ string, l Loop) (bool, error) { return l.Session == session, nil }))
}

// removeCopies removes the copies for which goes is true. A copy that cannot be read counts as
// absent.
func removeCopies(from spool.Folder, goes func(path string, l Loop) (bool, error)) error {
	names, err := from.List()
	for _, name := range names {
		var l Loop
		if !strings.HasSuffix(name, copySuffix) {
			continue
		}
		data, _ := from.Read(name)
		_ = json.Unmarshal(data, &l)
		is, failed := goes(filepath.Join(from.Path, name), l)
		if is {
			failed = from.Remove(name)
		}
		if !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}
