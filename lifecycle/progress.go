package lifecycle

import (
	"context"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/port/news"
	"ccbot/bot/port/phase"
	"ccbot/internal/git"
	"ccbot/internal/logkey"
	"ccbot/internal/session"
)

// told is how long the last lines of a turn may take once the agent is idle: the
// transcript's come up to 0.2 s later, the status line's 0.3 s (2.1.328).
const told = time.Second

// noteState keeps with the record what the agent is doing and how far it is, at
// each change of that and at each end of a turn: a restore, or a person who looks
// at the record, finds it when the agent is gone. One such moment is one save, and
// nothing is saved when nothing has changed. again is when to look once more, 0
// when not: an agent is idle before all is told of its turn, and nobody watches
// what that writes.
func (w *work) noteState(ctx context.Context) (again time.Duration, err error) {
	p := w.view.Phase()
	if w.r.State != session.Running || p == PhaseUnknown {
		return 0, nil // a torn read says nothing: what was seen last stays
	}
	seen := w.seePhase(p)
	if seen.fresh && w.Git != nil {
		w.agenda.wantGit(w.r.ID)
	}
	if seen.left > 0 {
		return seen.left, nil
	}
	news := w.keepGit()
	if seen.changed || seen.due || Noted(*w.r).Phase != doing(w.view, w.r.Progress.Failed).Phase {
		news = w.keepProgress() || news
	}
	now := doing(w.view, w.r.Progress.Failed)
	if err := tellRetrying(ctx, w, now); err != nil {
		return 0, err
	}
	news = keepDoing(w, now, seen) || news
	if p == PhaseIdle {
		news = w.keepUsage() || news
	}
	if news {
		err = w.save()
	}
	if err == nil && p == PhaseIdle {
		w.remember(func(m *memory) { m.turn.toldBy = time.Time{} })
	}
	return 0, err
}

// sameEnd is how far two ends may lie apart that are the same: the end of a pause is
// reckoned anew at each look, from a screen that counts whole seconds.
const sameEnd = 2 * time.Second

// keepDoing puts what the agent does into the record, and says whether it is
// something else than before; saving is the caller's.
func keepDoing(w *work, now phase.Now, seen turnNews) (news bool) {
	before := Noted(*w.r)
	if seen.changed || before.Phase != now.Phase {
		at := w.view.Now
		if seen.since.After(w.r.PhaseAt) {
			at = seen.since // it is known since then
		}
		w.r.PhaseAt, news = at.UTC(), true
	}
	until := now.Until.Truncate(time.Second)
	if until.Sub(before.Until).Abs() < sameEnd {
		until = before.Until
	}
	w.r.Phase, w.r.PhaseWhat, w.r.PhaseUntil = string(now.Phase), now.What, until
	return news || before.What != now.What || !before.Until.Equal(until)
}

// unheard is when to look at what nothing tells of: a request that fails while the
// agent works, and the end of a limit. 0: never.
func unheard(w *work) time.Duration {
	now := doing(w.view, w.r.Progress.Failed)
	switch {
	case w.r.State != session.Running:
	case now.Works():
		return slow
	case now.Phase == phase.Limited && !now.Until.IsZero():
		return now.Until.Sub(w.view.Now)
	}
	return 0
}

// retryTold is the pause before another try of a request from which on it is told:
// shorter ones are over before anybody has read of them.
const retryTold = 10 * time.Second

// tellRetrying tells once in a turn that the agent's requests fail and are made again.
func tellRetrying(ctx context.Context, w *work, now phase.Now) error {
	long := now.Phase == phase.APIError && now.Works() && !now.Until.Before(w.view.Now.Add(retryTold))
	if !long || w.recall().turn.retrying {
		return nil
	}
	if err := w.tell(ctx, *w.r, news.Retrying{Now: now}); err != nil {
		return err
	}
	w.remember(func(m *memory) { m.turn.retrying = true })
	return nil
}

// turnNews is what one look at the phase adds to the looks before.
type turnNews struct {
	changed bool          // it was another one at the look before
	fresh   bool          // a turn has ended, as far as this look can tell
	since   time.Time     // since when it is this one
	left    time.Duration // how long more may come of the turn
	due     bool          // the turn is told, and not yet kept
}

// seePhase remembers the phase. A turn that was too short to be seen has left a
// new presence file.
func (w *work) seePhase(p Phase) (seen turnNews) {
	now, by := w.view.Now, w.view.Presence.UpdatedAt
	w.remember(func(m *memory) {
		seen.changed = m.turn.phase != "" && m.turn.phase != p
		seen.fresh = p == PhaseIdle && (m.turn.phase != p || !m.turn.idleBy.Equal(by))
		if m.turn.phase != p {
			m.turn.phase, m.turn.since = p, now
		}
		seen.since = m.turn.since
		if p != PhaseIdle {
			return
		}
		m.turn.retrying = false
		if m.turn.idleBy = by; seen.fresh {
			m.turn.toldBy = now.Add(told)
		}
		if seen.due = !m.turn.toldBy.IsZero(); seen.due {
			seen.left = max(0, min(m.turn.toldBy.Sub(now), told)) // or the clock was set back
		}
	})
	return seen
}

// keepProgress reads on in the transcript and says whether that tells anything
// new; saving is the caller's.
func (w *work) keepProgress() bool {
	next, err := w.r.Progress.Advance(w.Observer.transcriptPath(*w.r))
	if err != nil {
		w.Log.Debug("transcript_unreadable", logkey.SessionID, w.r.ID.String(), logkey.Error, err.Error())
		return false
	}
	news := !next.Same(w.r.Progress)
	w.r.Progress = next
	return news
}

// keepUsage puts what the status line said into the record, and says whether
// that is news; saving is the caller's.
func (w *work) keepUsage() bool {
	now := w.Observer.usage(*w.r)
	if now == nil || w.r.Usage != nil && now.Same(*w.r.Usage) {
		return false
	}
	w.r.Usage = now
	return true
}

// gitLook is one look at a session's repository.
type gitLook struct{ state *git.State }

// keepGit puts the newest look at the repository into the record, and says
// whether it is another than before; saving is the caller's.
func (w *work) keepGit() bool {
	look := w.recall().git
	if look == nil || sameGit(look.state, w.r.GitNow) {
		return false
	}
	w.r.GitNow = look.state
	return true
}

// sameGit says whether two looks saw the same, whenever that was.
func sameGit(a, b *git.State) bool {
	if a == nil || b == nil {
		return a == b
	}
	one, other := *a, *b
	one.At, other.At = time.Time{}, time.Time{}
	return one == other
}

func (s *Service) lookAtGits(ctx context.Context, ids []uuid.UUID) {
	for _, id := range ids {
		r, ok := s.kit.Store.Get(id)
		if !ok || ctx.Err() != nil {
			continue
		}
		state, known := s.kit.lookAtGit(ctx, r)
		if !known {
			continue
		}
		s.kit.memories.remember(id, func(m *memory) { m.git = &gitLook{state: state} })
		if !sameGit(state, r.GitNow) {
			s.Wake(id) // a step keeps it
		}
	}
	s.kit.agenda.note(func() { s.kit.agenda.gits.looking = false })
}

// lookAtGit tells the state of a session's repository; known is false where git
// did not say.
func (k *kit) lookAtGit(ctx context.Context, r session.Record) (state *git.State, known bool) {
	if k.Git == nil {
		return nil, false
	}
	state, err := k.Git(ctx, r.Dir)
	if err != nil {
		k.Log.Debug("git_unknown", logkey.SessionID, r.ID.String(), logkey.Error, err.Error())
		return nil, false
	}
	return state, true
}
