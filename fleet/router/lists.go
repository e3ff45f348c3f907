package router

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/port"
	"ccbot/port/folders"
)

// Get returns a session. While a machine has never answered, a session that no other machine has is
// unknown.
func (r viewsRouter) Get(id uuid.UUID) (port.Session, bool) {
	if r.single() {
		return r.own.Records.Get(id)
	}
	unread := r.unread() // first: a machine may answer during the lookup
	if h, ok := r.has(id); ok {
		return h.get(id)
	}
	if s, ok := r.own.Records.Get(id); ok || id == uuid.Nil || id == uuid.Max || unread == nil {
		return s, ok
	}
	return port.Session{ID: id, Name: id.String()[:8], State: port.StateUnknown}, true
}

// List returns the sessions of all machines, oldest first.
func (r viewsRouter) List() (all []port.Session, err error) {
	if r.single() {
		return r.own.Records.List()
	}
	hosts := r.hosts()
	lists, errs := make([][]port.Session, len(hosts)), make([]error, len(hosts))
	var wait sync.WaitGroup
	for i, h := range hosts {
		wait.Go(func() {
			if h.id == "" {
				lists[i], errs[i] = h.Records.List()
			} else {
				lists[i], errs[i] = h.list()
			}
		})
	}
	wait.Wait()
	all = slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b port.Session) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return all, errors.Join(errs...)
}

// Inspect returns the state of the sessions of the machines that answer.
func (r screensRouter) Inspect(ctx context.Context, ids ...uuid.UUID) (map[uuid.UUID]port.Status, error) {
	by, unread := group(ids, r.of)
	all, err := gather(ctx, hostsOf(by), func(ctx context.Context, h *host) (map[uuid.UUID]port.Status, error) {
		all, err := h.Sessions.Inspect(ctx, by[h]...)
		maps.DeleteFunc(all, func(id uuid.UUID, _ port.Status) bool { return !slices.Contains(by[h], id) })
		return all, err
	})
	merged := make(map[uuid.UUID]port.Status)
	for _, one := range all {
		for id, status := range one {
			merged[id] = status
		}
	}
	return merged, errors.Join(err, unread)
}

// errAnswer is returned for an answer that does not fit its call.
var errAnswer = errors.New("the machine's answer does not fit the call")

// LastQuestions returns the last questions in sessions of the machines that answer.
func (r lastQuestionsRouter) LastQuestions(ctx context.Context, sessions []uuid.UUID) ([]string, error) {
	by, unread := group(sessions, r.of)
	all, err := gather(ctx, hostsOf(by), func(ctx context.Context, h *host) (map[uuid.UUID]string, error) {
		said, err := h.Transcripts.LastQuestions(ctx, by[h])
		if len(said) > len(by[h]) {
			return nil, errAnswer
		}
		of := make(map[uuid.UUID]string)
		for i := range said {
			of[by[h][i]] = said[i]
		}
		return of, err
	})
	merged := make([]string, len(sessions))
	for i, id := range sessions {
		for _, one := range all {
			merged[i] = cmp.Or(merged[i], one[id])
		}
	}
	return merged, errors.Join(err, unread)
}

// group returns some items by machine. The error is of those whose machine is not known.
func group[T any](items []T, of func(T) (*host, error)) (by map[*host][]T, err error) {
	by = make(map[*host][]T)
	for _, one := range items {
		h, failed := of(one)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		by[h] = append(by[h], one)
	}
	return by, err
}

// hostsOf returns the machines of some items, the chat's own first.
func hostsOf[T any](by map[*host][]T) (all []*host) {
	for h := range by {
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b *host) int { return strings.Compare(a.id, b.id) })
	return all
}

// Orphans returns the windows of all machines.
func (r windowsRouter) Orphans(ctx context.Context) ([]port.Window, error) {
	all, err := gather(ctx, r.hosts(), func(ctx context.Context, h *host) ([]port.Window, error) { return h.Sessions.Orphans(ctx) })
	return slices.Concat(all...), err
}

// NewOrphans returns the windows that are not reported yet.
func (r noticesRouter) NewOrphans(ctx context.Context, of []port.Window) ([]port.Window, error) {
	by, lost := group(of, func(w port.Window) (*host, error) { return r.at(w) })
	if len(by) == 0 && lost == nil { // it may also forget those that are gone
		by[r.own] = of
	}
	all, err := gather(ctx, hostsOf(by), func(ctx context.Context, h *host) ([]port.Window, error) {
		return h.Sessions.NewOrphans(ctx, down(h, by[h]))
	})
	fresh := slices.DeleteFunc(slices.Concat(all...), func(w port.Window) bool {
		return !slices.ContainsFunc(of, func(one port.Window) bool { return one.ID == w.ID })
	})
	return fresh, errors.Join(err, lost)
}

// MarkReported marks windows as reported.
func (r noticesRouter) MarkReported(ctx context.Context, of []port.Window) error {
	by, lost := group(of, func(w port.Window) (*host, error) { return r.at(w) })
	_, err := gather(ctx, hostsOf(by), func(ctx context.Context, h *host) (struct{}, error) {
		return struct{}{}, h.Sessions.MarkReported(ctx, down(h, by[h]))
	})
	return errors.Join(err, lost)
}

// All returns the loops of all machines, the newest last.
func (r loopsRouter) All(ctx context.Context) ([]port.Loop, error) {
	all, err := gather(ctx, r.hosts(), func(ctx context.Context, h *host) ([]port.Loop, error) { return h.Loops.All(ctx) })
	return inOrder(all, func(l port.Loop) time.Time { return l.CreatedAt }), err
}

// List returns the schedules of all machines, the oldest first.
func (r schedulesRouter) List(ctx context.Context) ([]port.Schedule, error) {
	all, err := gather(ctx, r.hosts(), func(ctx context.Context, h *host) ([]port.Schedule, error) { return h.Schedules.List(ctx) })
	return inOrder(all, func(s port.Schedule) time.Time { return s.CreatedAt }), err
}

// Rename gives a session another name, which need not begin with its machine.
func (r namerRouter) Rename(ctx context.Context, id uuid.UUID, name string) error {
	h, err := r.about(id)
	if err != nil {
		return err
	}
	if on, rest, ok := strings.Cut(name, ":"); ok && h.id != "" && strings.EqualFold(on, h.name) {
		name = rest
	}
	return h.upError(h.Sessions.Rename(ctx, id, name))
}

// inOrder merges lists by time. A single one keeps its order.
func inOrder[T any](lists [][]T, at func(T) time.Time) []T {
	if len(lists) == 1 {
		return lists[0]
	}
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b T) int { return at(a).Compare(at(b)) })
	return all
}

// Bounds returns what the machine of a folder last said.
func (r placesRouter) Bounds(dir string) (folders.Bounds, error) {
	h, err := r.at(place(dir))
	if err != nil {
		return folders.Bounds{}, err
	}
	if h.id == "" {
		return h.Places.Bounds(dir)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.bounds == nil {
		return folders.Bounds{Machine: h.name}, h.unreachable()
	}
	return *h.bounds, nil
}

// Resolve returns the address of a folder. A person writes the name of a machine in front of a path
// there, "tower:~/api"; otherwise the path is on the machine of base.
func (r placesRouter) Resolve(ctx context.Context, base, path string) (dir string, err error) {
	h, err := r.at(place(base))
	if to, there, ok := r.written(path); ok {
		if err != nil || to != h {
			base = ""
		}
		h, path, err = to, there, nil
	}
	if err != nil {
		return path, err
	}
	dir, err = h.Places.Resolve(ctx, h.local(base), path)
	return h.address(dir), h.upError(err)
}

// written splits a path that has the id or the name of a machine in front.
func (r *Router) written(path string) (h *host, there string, ok bool) {
	name, there, ok := strings.Cut(path, ":")
	if !ok || r.single() { // a folder may have such a name
		return nil, path, false
	}
	for _, h := range r.hosts() {
		if name != "" && (name == h.id || strings.EqualFold(name, h.name)) {
			return h, cmp.Or(there, "~"), true
		}
	}
	return nil, path, false
}
