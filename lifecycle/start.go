package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/google/uuid"

	coding "ccbot/agent"
	"ccbot/internal/session"
	"ccbot/internal/wording"
	"ccbot/lifecycle/ending"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/talk"
)

// Start opens a window with a new conversation. When it returns, the window exists and the session
// is starting; readiness is reported as news. After an error no window and no record remain, unless
// the window may exist: then a step or the next start looks for it. An existing conversation is
// continued only if no process writes it and no record has it.
func (s *Service) Start(ctx context.Context, q port.Start) (session.Record, error) {
	began := func(r session.Record) bool {
		return q.Origin != "" && r.Origin == q.Origin && r.State != session.Failed
	}
	if r, ok := s.core.find(began); ok { // this command has already started it
		return r, nil
	}
	q.Agent = s.core.agentName(q)
	if err := s.core.answers(ctx); err != nil {
		return session.Record{}, err
	}
	stays, err := s.core.enter(ctx, q.Dir)
	if err != nil {
		return session.Record{}, err
	}
	defer stays()
	id, err := uuid.NewV7()
	if err != nil {
		return session.Record{}, fmt.Errorf("start: %w", err)
	}
	now := s.core.Now().UTC()
	name, named := q.Name, session.Namer("")
	if name == "" {
		name, named = filepath.Base(filepath.Clean(q.Dir)), session.NamedByFolder
	}
	r := session.Record{ID: id, Name: name, NamedBy: named, Dir: filepath.Clean(q.Dir), Host: s.core.Host,
		AgentSessionID: uuid.New(), ForkOf: q.ForkOf, Conversation: q.Conversation, Owner: q.Owner, Origin: q.Origin,
		CreatedAt: now, Run: session.Run{StartedAt: now}, SinceMoment: s.core.Moment(), AgentName: q.Agent, Budget: port.Budget{State: q.Budget}}
	if q.With.Mode != "" && !s.core.Agents.Of(q.Agent).Abilities.HasMode(q.With.Mode) || strings.HasPrefix(q.With.Model, "-") {
		return session.Record{}, errors.New("start with a mode or a model that is not offered")
	}
	if r.Launch, err = s.core.launchOf(q); err != nil {
		return session.Record{}, err
	}
	if q.Continues != uuid.Nil {
		release, err := s.core.continues(ctx, &r, q.Continues)
		if err != nil {
			return session.Record{}, err
		}
		defer release()
	}
	if err := r.Become(session.Starting, now, ruleStart, "a new session was requested"); err != nil {
		return session.Record{}, err
	}
	if err := s.core.createNamed(r); err != nil {
		return session.Record{}, err
	}
	s.core.at("start-recorded")
	if err := s.core.do(ctx, id, func(w *work) error {
		w.opening.want = q.With
		return w.opening.start(ctx)
	}); err != nil {
		if !errors.Is(err, errWindowMayLive) { // otherwise a step or the next start looks for the window by its tag
			err = errors.Join(err, s.core.discard(context.WithoutCancel(ctx), id))
		}
		return session.Record{}, err
	}
	r, _ = s.core.Store.Get(id)
	return r, nil
}

// agentName returns the name that the record of a new session has of its agent: empty for the
// default one. Only its own agent can copy a conversation.
func (c *core) agentName(q port.Start) string {
	switch {
	case q.Agent == coding.Default:
		return ""
	case q.Agent == "" && q.ForkOf != uuid.Nil:
		of, _ := c.find(func(r session.Record) bool {
			return r.AgentSessionID == q.ForkOf || slices.Contains(r.EarlierSessionIDs, q.ForkOf)
		})
		return of.AgentName
	}
	return q.Agent
}

// launchOf returns the launch of a requested session. The requested mode is for the launch itself.
func (c *core) launchOf(q port.Start) (*session.Launch, error) {
	by := c.Agents.Of(q.Agent)
	if by.Starter == nil {
		return nil, fmt.Errorf("start: the agent %q is not known", q.Agent)
	}
	launch := configured(by)
	if q.With.Model != "" {
		*launch = by.Starter.WithModel(*launch, q.With.Model)
	}
	return launch, nil
}

// enter checks that a session can be opened in a directory, which stays until the returned function
// is called.
func (c *core) enter(ctx context.Context, dir string) (leave func(), err error) {
	leave, err = c.Store.Folders.Begin(ctx, filepath.Clean(dir))
	if err != nil {
		return nil, err
	}
	if err := CheckDir(dir); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// continues makes a new session continue a conversation of no record. Earlier text is history: the
// chat shows only later text. No other session uses the conversation until release.
func (c *core) continues(ctx context.Context, r *session.Record, conversation uuid.UUID) (release func(), err error) {
	release, err = c.agenda.holdConversation(ctx, conversation)
	if err != nil {
		return nil, err
	}
	_, owned := c.find(func(r session.Record) bool { return r.AgentSessionID == conversation })
	end, err := c.TranscriptEnd(*r, conversation)
	if owned || errors.Is(err, fs.ErrNotExist) {
		err = ErrChanged
	}
	if err != nil {
		release()
		return nil, fmt.Errorf("continue a conversation: %w", err)
	}
	r.AgentSessionID, r.Cursors = conversation, []talk.Cursor{end}
	return release, nil
}

// CheckDir returns why no session can be opened in dir. It is needed because tmux silently replaces
// a missing directory by the home directory.
func CheckDir(dir string) error {
	if !folders.IsText(dir) {
		return &DirError{Dir: dir, Why: DirNotText}
	}
	d, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	switch {
	case err == nil:
		return d.Close()
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.ELOOP): // no folder has such a path
		return &DirError{Dir: dir, Why: DirMissing}
	case errors.Is(err, syscall.ENOTDIR): // also where the path leads through a file
		return &DirError{Dir: dir, Why: DirNotADir}
	case errors.Is(err, fs.ErrPermission):
		return &DirError{Dir: dir, Why: DirNoAccess}
	}
	return wording.Errorf("directory %q: %w", wording.Path(dir), err)
}

// Restored is a session that came back.
type Restored struct {
	Record session.Record
	Ended  []ending.Ending // leftovers of its earlier life that still ran
}

// Restore brings a session back in its directory, or in the one that is asked for: the same
// conversation in a new window. Its leftovers are ended first. While any other process writes the
// conversation, or may write it, Restore refuses with a WriterError. A stop that was interrupted is
// finished first; a restore that was interrupted before its window was known is continued. While
// tmux does not answer, Restore refuses with view.ErrSilent.
func (s *Service) Restore(ctx context.Context, q port.Restore) (back Restored, err error) {
	if err := s.core.answers(ctx); err != nil {
		back.Record, _ = s.core.Store.Get(q.Session)
		return back, err
	}
	err = s.core.do(ctx, q.Session, func(w *work) error {
		if err := w.Observer.CheckUnread(*w.r); err != nil {
			return err
		}
		if w.r.State == session.Stopping {
			if err := w.closing.stop(ctx, &ending.Receipt{}); err != nil {
				return err
			}
		}
		if !w.r.State.HasEnded() && !w.r.Interrupted() {
			return &StateError{State: w.r.State, Want: "resumed"}
		}
		if found, err := w.opening.findLaunch(ctx); found || err != nil {
			return err
		}
		dir, now := w.r.Dir, w.r.NowDir
		if q.Dir != "" {
			dir, now = filepath.Clean(q.Dir), ""
		}
		stays, err := s.core.enter(ctx, cmp.Or(now, dir))
		if gone := new(DirError); now != "" && errors.As(err, &gone) && gone.Why == DirMissing {
			now = "" // as a worktree that was removed
			stays, err = s.core.enter(ctx, dir)
		}
		if err != nil {
			return err
		}
		defer stays()
		release, err := s.core.agenda.holdConversation(ctx, w.r.AgentSessionID)
		if err != nil {
			return err
		}
		defer release()
		if back.Ended, err = w.writers.alone(ctx); err != nil {
			return err
		}
		if err := w.opening.mend(q.Damaged); err != nil {
			return err
		}
		w.r.Dir, w.r.NowDir = dir, now
		return w.opening.restore(ctx)
	})
	back.Record, _ = s.core.Store.Get(q.Session)
	return back, err
}
