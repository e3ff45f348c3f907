package botapi

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// maxPoll is the longest long poll; longer ones are shortened like Telegram's
// (LONG_POLL_MAX_TIMEOUT).
const maxPoll = 50 * time.Second

// unasked are the update kinds that a bot gets only when allowed_updates names them.
var unasked = [...]string{"chat_member", "message_reaction", "message_reaction_count"}

// updateQueue holds what the bot has not confirmed.
type updateQueue struct {
	pending []queued
	next    int64    // id of the next update
	allowed []string // empty: everything but unasked
	poller  *poller  // the current waiter
	delivery
}

type queued struct {
	id  int64
	raw json.RawMessage
}

// poller is a getUpdates that waits; end is closed when a newer one takes its place.
type poller struct{ end chan struct{} }

func newUpdateQueue() updateQueue { return updateQueue{next: 500_001} }

// Inject sends the bot an arbitrary update: {"message": …}. Its update_id is set to the next one
// (an update_id in it is kept and moves the sequence) and allowed_updates is not applied. It
// returns the id.
func (s *Server) Inject(update json.RawMessage) (int64, error) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(update, &fields); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.queue.next
	if own, err := strconv.ParseInt(string(fields["update_id"]), 10, 64); err == nil {
		id = own
	}
	fields["update_id"] = mustJSON(id)
	s.pushLocked(id, mustJSON(fields))
	return id, nil
}

// Pending counts the updates that the bot has not confirmed yet.
func (s *Server) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue.pending)
}

func (s *Server) enqueueLocked(kind string, payload any) {
	if !s.queue.wants(kind) {
		return
	}
	id := s.queue.next
	s.pushLocked(id, mustJSON(map[string]any{"update_id": id, kind: payload}))
}

func (s *Server) pushLocked(id int64, raw json.RawMessage) {
	s.queue.pending = append(s.queue.pending, queued{id: id, raw: raw})
	s.queue.next = max(s.queue.next, id) + 1
	s.wakeLocked()
}

func (q *updateQueue) wants(kind string) bool {
	if len(q.allowed) == 0 {
		return !slices.Contains(unasked[:], kind)
	}
	return slices.Contains(q.allowed, kind)
}

// take confirms everything before offset and returns what comes from there, like Telegram's queue:
// an offset of 0 starts at the oldest, a negative one forgets all but the last, and one far in the
// future is taken for 0.
func (q *updateQueue) take(offset int64, limit int) []json.RawMessage {
	switch {
	case offset < 0:
		keep := min(-offset, int64(len(q.pending)))
		q.confirm(q.pending[:len(q.pending)-int(keep)])
	case offset > q.next+10: // tdlib's TQueue: "from_id is in the future"
	case offset > 0:
		q.confirm(slices.DeleteFunc(slices.Clone(q.pending), func(u queued) bool { return u.id >= offset }))
	}
	return q.answer(q.pending[:min(limit, len(q.pending))])
}

// confirm takes updates out of the queue.
func (q *updateQueue) confirm(done []queued) {
	if len(done) == 0 {
		return
	}
	gone := make(map[int64]bool, len(done))
	for _, u := range done {
		gone[u.id] = true
	}
	q.keep(done)
	q.pending = slices.DeleteFunc(slices.Clone(q.pending), func(u queued) bool { return gone[u.id] })
}

func (s *Server) getUpdates(ctx context.Context, p params) (any, *apiError) {
	offset := p.int64("offset")
	limit := clamp(p.intOr("limit", 100), 1, 100)
	wait := time.Duration(clamp(p.intOr("timeout", 0), 0, int(maxPoll/time.Second))) * time.Second
	allowed, given, bad := p.strings("allowed_updates")
	if bad != nil {
		return nil, bad
	}

	s.mu.Lock()
	if given {
		s.queue.allowed = allowed
	}
	updates := s.queue.take(offset, limit)
	if len(updates) > 0 || wait == 0 {
		s.mu.Unlock()
		return updates, nil
	}
	me := &poller{end: make(chan struct{})}
	if older := s.queue.poller; older != nil {
		close(older.end) // the one that waits longer is the one that fails
	}
	s.queue.poller = me
	s.mu.Unlock()
	defer s.leavePoll(me)
	return s.waitUpdates(ctx, me, max(offset, 0), limit, wait)
}

func (s *Server) waitUpdates(ctx context.Context, me *poller, offset int64, limit int, wait time.Duration) (any, *apiError) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		s.mu.Lock()
		changed := s.changed
		select {
		case <-me.end:
			s.mu.Unlock()
			return nil, errConflict()
		default:
		}
		updates := s.queue.take(offset, limit)
		s.mu.Unlock()
		if len(updates) > 0 {
			return updates, nil
		}
		select {
		case <-changed:
		case <-me.end:
		case <-timer.C:
			return updates, nil
		case <-s.closed:
			return nil, errCut
		case <-ctx.Done():
			return nil, errCut
		}
	}
}

func (s *Server) leavePoll(me *poller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue.poller == me {
		s.queue.poller = nil
	}
}

func clamp(v, low, high int) int { return max(low, min(v, high)) }

// Polling reports whether a long poll waits right now.
func (s *Server) Polling() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.poller != nil
}
