package lifecycle

import (
	"errors"
	"io/fs"
	"time"

	"ccbot/internal/session"
)

// usage is what the bound agent's last status line told; nil: nothing is known.
func (s *Service) usage(r session.Record) *session.Usage {
	if s.Status == nil || r.Binding == nil {
		return nil
	}
	st, err := s.Status(r.ID)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.Log.Debug("status_unreadable", "session_id", r.ID.String(), "error", err.Error())
		}
		return nil
	}
	if a := r.Binding.Agent; st.ClaudePID != a.PID || st.ClaudeStart != a.Start || st.Boot != a.Boot {
		return nil // of a launch before, or of a nested agent
	}
	return &session.Usage{Model: st.Model, Context: st.ContextPercent, Cost: st.CostUSD, At: st.At.UTC()}
}

// noteUsage keeps what the status line told with the record, for when the agent
// is gone: at idle, and only when it says something else than before. again is
// when to look once more, 0 when not: the agent is idle before the status line
// tells of its turn, and nobody watches what that writes.
func (w *work) noteUsage() (again time.Duration, err error) {
	if w.r.State != session.Running || w.Status == nil {
		return 0, nil
	}
	again = w.usageDue()
	if w.view.Phase() != PhaseIdle || !w.keepUsage() {
		return again, nil
	}
	return again, w.save()
}

// told is how long the status line may take after a turn; 2.1.328 takes 0.3 s.
const told = time.Second

// usageDue is how long the last turn's status line may still take: it is counted
// from the first look at each time of idleness. A turn too short to be seen has
// left a new presence file.
func (w *work) usageDue() (left time.Duration) {
	idle, since := w.view.Phase() == PhaseIdle, w.view.Presence.UpdatedAt
	w.remember(w.r.ID, func(m *memory) {
		if idle && (!m.idle || !m.idleSince.Equal(since)) {
			m.toldBy = w.view.Now.Add(told)
		}
		m.idle, m.idleSince = idle, since
		if idle {
			left = min(m.toldBy.Sub(w.view.Now), told) // or the clock was set back
		}
	})
	return max(left, 0)
}

// keepUsage puts what the status line told into the record, and says whether
// that is news; saving is the caller's.
func (w *work) keepUsage() bool {
	now := w.usage(*w.r)
	if now == nil || w.r.Usage != nil && now.Same(*w.r.Usage) {
		return false
	}
	w.r.Usage = now
	return true
}
