package router

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/machine"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

const (
	// patience is how long a list waits for a machine that is not the chat's own.
	patience = 200 * time.Millisecond
	// unknownAfter is how long a machine may be silent before what it runs is unknown.
	unknownAfter = 7 * time.Second
	// lateAfter bounds a call that its list no longer waits for.
	lateAfter = 10 * time.Second
	// maxSessions is the number of sessions of another machine that the chat knows.
	maxSessions = 2000
)

// host is one machine. The chat's own has no id, and its sessions are not kept.
type host struct {
	*machine.Machine
	id, name string

	silent  atomic.Bool // a call took longer than patience: lists do not wait for it
	probing atomic.Bool // its sessions are being read in the background
	changed atomic.Bool // its link has changed since that began

	isForeign func(session uuid.UUID) bool // another machine has it
	onChange  func(id string)              // may be nil
	pace      pace                         // of what people read

	mu       sync.Mutex
	lost     bool              // its link reports no contact
	heard    time.Time         // the last contact, as its link has reported it
	reported bool              // away was the last report to onChange
	known    []port.Session    // oldest first, with addresses
	read     bool              // known was read at least once
	failed   error             // of the last read
	since    time.Time         // the begin of the read that probing makes
	bounds   *folders.Bounds   // nil: unknown
	turn     int               // rises with each read, and each session that the machine shows by itself
	latest   int               // the turn of the latest read whose result is known
	shown    map[uuid.UUID]int // the turn of sessions that were shown during a read
	spent    talk.Report       // the last known use
	spentAt  time.Time         // of spent; zero: none is known
}

// unreachable is the error of a call that the machine has not answered.
func (h *host) unreachable() error {
	return fmt.Errorf("machine %s: %w", h.name, &refusal.Error{Code: refusal.Unreachable, Machine: h.id})
}

// away returns why the machine's sessions are unknown; nil: they are known.
func (h *host) away() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.lost:
		return h.unreachable()
	case h.failed != nil:
		return h.upError(h.failed)
	case !h.read, h.probing.Load() && time.Since(h.since) >= unknownAfter:
		return h.unreachable()
	}
	return nil
}

// report calls onChange if the machine has ceased to answer, or answers again.
func (h *host) report() {
	away := h.away() != nil
	h.mu.Lock()
	changed := h.reported != away
	h.reported = away
	h.mu.Unlock()
	if changed && h.onChange != nil {
		h.onChange(h.id)
	}
}

func (h *host) link() (lost bool, heard time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost, h.heard
}

func (h *host) wasRead() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.read
}

// ask calls do and waits for it a moment, but not if the machine is silent. It reports whether do
// has ended.
func (h *host) ask(do func()) bool {
	if h.silent.Load() {
		h.probe()
		return false
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case <-done:
		return true
	case <-wait.C:
		h.silent.Store(true)
		h.probe()
		return false
	}
}

// probe reads the sessions in the background, unless that runs already. At its end the machine is
// waited for again.
func (h *host) probe() {
	if !h.probing.CompareAndSwap(false, true) {
		return
	}
	h.mu.Lock()
	h.since = time.Now()
	h.mu.Unlock()
	h.changed.Store(false)
	go func() {
		_ = h.readAll() // away has the error
		h.silent.Store(false)
		h.probing.Store(false)
		h.report()
		if h.changed.Load() {
			h.probe()
		}
	}()
}

// readAll reads the sessions and the bounds. Its result is dropped if a read that began later has
// ended.
func (h *host) readAll() error {
	h.mu.Lock()
	h.turn++
	begin := h.turn
	h.mu.Unlock()
	all, err := h.Records.List()
	all = slices.DeleteFunc(up(h, all), func(s port.Session) bool { return h.isForeign(s.ID) })
	in, unknown := h.Places.Bounds("")
	in = up(h, in)
	h.mu.Lock()
	defer h.mu.Unlock()
	if begin < h.latest {
		return err
	}
	h.latest = begin
	if unknown == nil {
		h.bounds = &in
	}
	if h.failed = err; err != nil {
		return err
	}
	for _, s := range h.known {
		if h.shown[s.ID] > begin { // it was shown since, as by its start
			all = with(all, s)
		}
	}
	maps.DeleteFunc(h.shown, func(_ uuid.UUID, at int) bool { return at <= begin })
	h.known, h.read = limited(all), true
	return nil
}

// limited returns at most maxSessions of a machine. Those that have ended are left out first, the
// oldest of them before the others.
func limited(all []port.Session) []port.Session {
	more := len(all) - maxSessions
	for _, leave := range []func(s port.Session) bool{func(s port.Session) bool { return !s.State.Live() }, func(port.Session) bool { return true }} {
		if more <= 0 {
			break
		}
		all = slices.DeleteFunc(all, func(s port.Session) bool {
			left := more > 0 && leave(s)
			if left {
				more--
			}
			return left
		})
	}
	return all
}

// with returns sessions with another one, or with its new content. The old slice may be in use.
func with(all []port.Session, s port.Session) []port.Session {
	all = slices.Clone(all)
	if i := slices.IndexFunc(all, func(one port.Session) bool { return one.ID == s.ID }); i >= 0 {
		all[i] = s
		return all
	}
	return append(all, s)
}

// list returns the sessions of another machine. With an error those that are known.
func (h *host) list() ([]port.Session, error) {
	h.ask(func() { _ = h.readAll() })
	away := h.away()
	h.mu.Lock()
	defer h.mu.Unlock()
	all := slices.Clone(h.known)
	for i := range all {
		all[i] = seen(all[i], away)
	}
	return all, away
}

// get returns a session that the machine has, or had when it last answered.
func (h *host) get(id uuid.UUID) (port.Session, bool) {
	h.ask(func() {
		switch s, ok := h.Records.Get(id); {
		case !ok:
			h.forget(id)
		case s.State == port.StateUnknown:
			h.mu.Lock()
			defer h.mu.Unlock()
			h.failed = h.unreachable()
		default:
			if up(h, s); h.away() != nil {
				h.probe() // it answers again
			}
		}
	})
	s, ok := h.kept(id)
	return seen(s, h.away()), ok
}

// seen is a session as it is known while its machine is away.
func seen(s port.Session, away error) port.Session {
	if away != nil && s.State.Live() {
		s.State = port.StateUnknown
	}
	return s
}

func (h *host) kept(id uuid.UUID) (port.Session, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.known {
		if s.ID == id {
			return s, true
		}
	}
	return port.Session{}, false
}

// keep keeps a session as the machine has shown it.
func (h *host) keep(s port.Session) {
	if h.id == "" || s.ID == uuid.Nil || h.isForeign(s.ID) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.turn++
	if h.shown == nil {
		h.shown = make(map[uuid.UUID]int)
	}
	h.shown[s.ID], h.known = h.turn, limited(with(h.known, s))
	if len(h.shown) > 2*maxSessions { // of sessions that were left out
		clear(h.shown)
	}
}

func (h *host) forget(id uuid.UUID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.shown, id)
	h.known = slices.DeleteFunc(slices.Clone(h.known), func(one port.Session) bool { return one.ID == id })
}

// gather makes a call on several machines at once. It waits for the chat's own, and for a machine
// that is the only one, as long as the call takes; for the others a moment. The error is of those
// that have failed; the results are of the rest.
func gather[T any](ctx context.Context, hosts []*host, do func(ctx context.Context, h *host) (T, error)) (all []T, err error) {
	if len(hosts) == 1 {
		v, err := do(ctx, hosts[0])
		return []T{up(hosts[0], v)}, hosts[0].upError(err)
	}
	results, errs := make([]T, len(hosts)), make([]error, len(hosts))
	var wait sync.WaitGroup
	for i, h := range hosts {
		wait.Go(func() {
			if h.id == "" {
				results[i], errs[i] = do(ctx, h)
				return
			}
			type result struct {
				v   T
				err error
			}
			got := make(chan result, 1)
			if !h.ask(func() {
				late, cancel := context.WithTimeout(context.WithoutCancel(ctx), lateAfter)
				defer cancel()
				v, err := do(late, h)
				got <- result{up(h, v), h.upError(err)}
			}) {
				errs[i] = h.unreachable()
				return
			}
			r := <-got
			results[i], errs[i] = r.v, r.err
		})
	}
	wait.Wait()
	for i := range hosts {
		if errs[i] == nil {
			all = append(all, results[i])
		}
	}
	return all, errors.Join(errs...)
}
