package lifecycle

import ()

// keepUsage puts what the status line told into the record, and says whether
// that is news; saving is the caller's.
func (w *work) keepUsage() bool {
	now := w.Observer.usage(*w.r)
	if now == nil || w.r.Usage != nil && now.Same(*w.r.Usage) {
		return false
	}
	w.r.Usage = now
	return true
}
