package lifecycle

import (
	"errors"
	"io/fs"

	"ccbot/internal/session"
)

// usage is what the bound agent's last status line told; nil: nothing is known.
func (s *Service) usage(r session.Record) *session.Usage {
	if s.Hooks.Status == nil || r.Binding == nil {
		return nil
	}
	st, err := s.Hooks.Status(r.ID)
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
