package engine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"ccbot/host"
	"ccbot/internal/git"
	"ccbot/internal/naming"
	"ccbot/internal/session"
	"ccbot/loop"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/refusal"
)

// InWorktree implements loop.Engine. The session is named after the loop's feature or the branch,
// and has the mode and the model of the session that the loop was started for. It becomes the
// current one only if no open session is.
func (e *loopEngine) InWorktree(ctx context.Context, l port.Loop, made func(top, branch string) error) (r session.Record, err error) {
	from, known := e.Store.Get(l.Worktree.From)
	if !known {
		return r, session.ErrNotFound
	}
	by := e.Coding.Of(from.AgentName)
	if by.Starter.Bypasses(by.Launch, "") && !host.View(e.Coding, from).Bypasses { // no person was warned
		return r, errors.New("since a change of the settings, a new session would ask for no permissions: restart this session first")
	}
	key := "loop-" + l.ID.String()
	defer func() { _ = e.Places.Done(ctx, "", key) }()
	dir, err := e.Places.AddAt(ctx, from.Dir, l.Commit, key)
	if err != nil {
		return r, err
	}
	w, err := git.FindWorktree(dir)
	if err == nil && w == nil {
		err = &refusal.Error{Code: refusal.DirMissing, Dir: dir}
	}
	if err == nil {
		err = made(w.Dir, w.Branch)
	}
	if err != nil {
		return r, err
	}
	with := port.ModeChange{Mode: port.Mode(from.Progress.PermissionMode), Model: from.Progress.RequestedModel}
	if !by.Abilities.HasMode(with.Mode) || with.Mode == port.ModeAcceptEdits { // that was allowed to the other session
		with.Mode = ""
	}
	started, err := e.Sessions.Start(ctx, port.Start{Agent: from.AgentName, Name: naming.Typed(cmp.Or(l.Feature, w.Branch)), Dir: dir,
		Conversation: from.Conversation, Owner: from.Owner, Origin: key, With: with})
	if err != nil {
		return r, err
	}
	ReportOpened(ctx, e.Engine, started.ID, false)
	if r, known = e.Store.Get(started.ID); !known {
		return r, session.ErrNotFound
	}
	return r, nil
}

// ignoredTimeout is how long git may take to look for ignored files.
const ignoredTimeout = time.Minute

// RemoveWorktree implements loop.Engine. A person who removes one is told that ignored files go too;
// nobody is asked here, so that they stay.
func (e *loopEngine) RemoveWorktree(ctx context.Context, top string) error {
	for _, r := range e.Store.Shared() { // also one of a person
		if (folders.IsBelow(r.Dir, top) || folders.IsBelow(r.Folder(), top)) && !loop.IsOver(r, time.Now()) {
			return &refusal.Error{Code: refusal.WrongState, Dir: top}
		}
	}
	w, err := git.FindWorktree(top)
	if err == nil && w != nil {
		asked, cancel := context.WithTimeout(ctx, ignoredTimeout)
		defer cancel()
		var has bool
		if has, err = w.HasIgnored(asked, e.Places.GitEnv); has {
			err = &refusal.Error{Code: refusal.HasWork, Dir: top, Reason: string(folders.Ignored)}
		}
	}
	if err == nil {
		err = e.Places.Remove(ctx, top)
	}
	if refusal.Is(err, refusal.DirMissing) {
		return nil
	}
	return err
}
