package lifecycle

import (
	"context"
	"strings"
	"time"

	"ccbot/internal/git"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// reporter reports what the agent does and asks.
type reporter struct {
	*turn
	view   *view.View // of the terminal
	attach func(r session.Record) string
}

// terminalNews returns what the terminal shows and asks, from the view of this step.
func (w *reporter) terminalNews(screen string) news.Terminal {
	shown := news.Terminal{Screen: screen, Attach: w.attach(*w.r)}
	if d := view.DialogOf(*w.r, *w.view); d.Open {
		shown.Dialog = &d
	}
	return shown
}

// notifyDialog reports what the terminal asks, once for each dialog.
func (w *reporter) notifyDialog(ctx context.Context) error {
	m, screen := w.recall(), w.view.Screen.Text
	if d := w.view.Screen.Dialog; d != nil {
		screen = strings.Join(d.Lines, "\n")
	}
	return w.once(ctx, m.dialog.IsReported(*w.view), news.Dialog{Terminal: w.terminalNews(screen)}, func(m *stepState) { m.dialog.NoteReported(*w.view) })
}

// once reports n unless reported is set, and remembers that.
func (w *reporter) once(ctx context.Context, reported bool, n news.News, note func(*stepState)) error {
	if reported {
		return nil
	}
	if err := w.notify(ctx, n); err != nil {
		return err
	}
	w.remember(note)
	return nil
}

// noteOpen notes which dialog is open, and since when.
func (w *reporter) noteOpen() {
	early := w.view.Now.Sub(w.r.StartedAt) < StartNotice
	w.remember(func(m *stepState) { m.dialog.NoteOpen(*w.r, w.view, early) })
}

// noteGone reports once that the question in the terminal is no longer open: the dialog that was
// reported, or the dialog of a waiting request. again is when that may be known; 0 means that
// nothing is awaited.
func (w *reporter) noteGone(ctx context.Context) (again time.Duration, err error) {
	m := w.recall()
	end := m.dialog.End(*w.view)
	if !end.IsNews() {
		return end.Again, nil
	}
	if err := w.notify(ctx, news.DialogGone{}); err != nil {
		return 0, err
	}
	w.remember(func(m *stepState) { m.dialog.NoteEnd(end) })
	return 0, nil
}

// notifySilent reports that the agent has not reported in, once per launch and run of ccbot.
func (w *reporter) notifySilent(ctx context.Context) error {
	m, n := w.recall(), news.NotReporting{Waited: StartNotice, Terminal: w.terminalNews(w.view.Screen.Text)}
	return w.once(ctx, m.dialog.IsUnreadyReported(), n, func(m *stepState) { m.dialog.NoteUnreadyReported() })
}

// readAgain is how much of a transcript is read again at each look rather than saved.
const readAgain = 1 << 20

// noteState records the agent's activity and progress, at each change and each end of a turn, for a
// restore or a person after the agent's end. Each change costs one save; without a change nothing
// is saved. again is the time of another check, 0 if none is needed.
func (w *reporter) noteState(ctx context.Context) (again time.Duration, err error) {
	p := w.view.Phase()
	if w.r.State != session.Running {
		return 0, nil
	}
	if p == talk.PhaseUnknown && w.view.State.Attach == "" { // a torn read proves nothing: the last state stays
		if l := w.recall().turn.lines; !l.at.IsZero() {
			again = max(view.Soon, l.left(w.view.Now))
		}
		return again, nil
	}
	seen := w.seePhase(p)
	if seen.fresh && w.Git != nil {
		w.agenda.note(func() { w.agenda.gits.wanted[w.r.ID] = true })
	}
	left := seen.lines.left(w.view.Now)
	if left > 0 && seen.lines.pause == firstLines {
		return left, nil // nearly always all of it is there then
	}
	fresh := false
	if mode := w.view.Screen.Mode; w.r.InAuto && w.view.Captured && mode != "" && mode != string(port.ModeAuto) {
		w.r.InAuto, fresh = false, true // a person has chosen another one
	}
	if look := w.recall().git; look != nil && !sameGit(look.state, w.r.GitNow) {
		w.r.GitNow, fresh = look.state, true
	}
	due := !seen.lines.at.IsZero() && left == 0
	if seen.changed || due || view.Noted(*w.r).Phase != view.Doing(*w.view, w.r.Progress.Failed).Phase {
		fresh = w.keepProgress() || fresh
	} else if was := w.r.Progress; w.view.ByCall && p == talk.PhaseWorking { // its server has told of a goal, a moment before the transcript
		w.keepProgress()
		fresh = fresh || w.r.Progress.Pursues != was.Pursues || w.r.Progress.Offset-was.Offset > readAgain
	}
	w.view.Pursues = w.r.Progress.Pursues
	now := view.Doing(*w.view, w.r.Progress.Failed)
	if next := w.r.Budget.Next(); now.Works() && next != w.r.Budget {
		w.r.Budget, fresh = next, true
	}
	if err := w.notifyRetrying(ctx, now); err != nil {
		return 0, err
	}
	changed := w.keepDoing(now, seen)
	fresh = changed || fresh
	if p == talk.PhaseIdle {
		fresh = w.keepUsage() || fresh
	}
	if fresh {
		err = w.save()
	}
	if err == nil && due {
		seen.lines = seen.lines.next(w.view.Now, w.r.Progress)
		w.remember(func(m *stepState) { m.turn.lines = seen.lines })
	}
	if err == nil && changed { // the record has it already, so a lost news item loses nothing
		err = w.notify(ctx, news.Doing{})
	}
	return seen.lines.left(w.view.Now), err
}

// sameEnd is the maximal difference of two ends that count as the same: the end of a pause is
// computed at each check, from a screen with whole seconds.
const sameEnd = 2 * time.Second

// keepDoing puts what the agent does into the record, and reports whether that has changed. The
// caller saves.
func (w *reporter) keepDoing(now talk.Activity, seen turnNews) (news bool) {
	before := view.Noted(*w.r)
	if seen.changed || before.Phase != now.Phase {
		at := w.view.Now
		if seen.since.After(w.r.PhaseAt) {
			at = seen.since // the agent has been seen in this phase since then
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

// checkInterval returns the time of a check for changes without an event: a failing request of a
// working agent, and the end of a limit. 0 means never.
func (w *reporter) checkInterval() time.Duration {
	now := view.Doing(*w.view, w.r.Progress.Failed)
	switch {
	case w.r.State != session.Running:
	case now.Works():
		return view.Slow
	case now.Phase == talk.PhaseLimited && !now.Until.IsZero():
		return min(now.Until.Sub(w.view.Now), nap)
	}
	return 0
}

// nap is the interval of clock checks during a limit: a sleeping machine stops timers but not the
// clock.
const nap = time.Minute

// retryReported is the minimal pause before another try of a request that is reported: shorter
// pauses have ended before a person has read the report.
const retryReported = 10 * time.Second

// notifyRetrying reports, once in a turn, that the agent's requests fail and are tried again.
func (w *reporter) notifyRetrying(ctx context.Context, now talk.Activity) error {
	long := now.Phase == talk.PhaseAPIError && now.Works() && !now.Until.Before(w.view.Now.Add(retryReported))
	return w.once(ctx, !long || w.recall().turn.retrying, news.Retrying{Now: now}, func(m *stepState) { m.turn.retrying = true })
}

// turnNews is the difference of one reading of the phase from the previous ones.
type turnNews struct {
	changed bool      // the previous look saw another phase
	fresh   bool      // a turn has ended, as far as this look can tell
	since   time.Time // since when the agent has been in this phase
	lines   lateLines // that may come; the zero value while the agent is not idle
}

// seePhase remembers the phase. A turn that was too short to be seen is recognised by its new
// presence file.
func (w *reporter) seePhase(p talk.Phase) (seen turnNews) {
	now, by := w.view.Now, w.view.State.Since
	w.remember(func(m *stepState) {
		seen.changed = m.turn.phase != "" && m.turn.phase != p
		seen.fresh = p == talk.PhaseIdle && (m.turn.phase != p || !m.turn.idleBy.Equal(by))
		first := m.turn.phase == ""
		if m.turn.phase != p {
			m.turn.phase, m.turn.since = p, now
		}
		seen.since = m.turn.since
		if p != talk.PhaseIdle {
			return
		}
		m.turn.retrying = false
		if m.turn.idleBy = by; seen.fresh {
			m.turn.lines = lateLines{at: now.Add(firstLines), pause: firstLines, turns: w.r.Progress.Turns}
			if first { // the agent has had time for what it did before
				m.turn.lines.turns = -1
			}
		}
		seen.lines = m.turn.lines
	})
	return seen
}

// sameGit reports whether two readings have the same state, apart from their time.
func sameGit(a, b *git.State) bool {
	if a == nil || b == nil {
		return a == b
	}
	one, other := *a, *b
	one.At, other.At = time.Time{}, time.Time{}
	return one == other
}
