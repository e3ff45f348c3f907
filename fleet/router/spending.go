package router

import (
	"cmp"
	"context"
	"slices"
	"time"

	"ccbot/port/talk"
)

// Spent adds up what the machines have used. Of one that does not answer, what was known today
// counts, so that a cap of the day is not forgotten. The error is of the chat's own.
func (r spendingRouter) Spent(ctx context.Context, budget time.Duration) (talk.Report, error) {
	if r.single() {
		return r.own.Sessions.Spent(ctx, budget)
	}
	type spent struct {
		talk.Report
		host *host
		err  error
	}
	hosts := r.hosts()
	all, _ := gather(ctx, hosts, func(ctx context.Context, h *host) (s spent, _ error) {
		s.Report, s.err = h.Sessions.Spent(ctx, budget)
		s.host = h
		return s, nil
	})
	sum := ofMachine(all[0].Report, hosts[0].name)
	if all[0].err != nil {
		return sum, all[0].err
	}
	now := time.Now()
	for _, h := range hosts[1:] {
		i := slices.IndexFunc(all, func(s spent) bool { return s.host == h && s.err == nil })
		if i < 0 {
			sum.Silent++
			sum = plus(sum, ofMachine(h.lastSpent(now), h.name))
			continue
		}
		h.noteSpent(all[i].Report, now)
		sum = plus(sum, ofMachine(all[i].Report, h.name))
	}
	return sum, nil
}

func (h *host) noteSpent(r talk.Report, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.spent, h.spentAt = r, now
}

// lastSpent returns the last known report. One of another day says nothing about today.
func (h *host) lastSpent(now time.Time) talk.Report {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now.Local().Format(time.DateOnly) != h.spentAt.Local().Format(time.DateOnly) {
		return talk.Report{}
	}
	return h.spent
}

// ofMachine returns a report that names its machine in each span with any use.
func ofMachine(r talk.Report, name string) talk.Report {
	r.Spans = slices.Clone(r.Spans)
	for i, span := range r.Spans {
		if span.All.Tokens() > 0 {
			r.Spans[i].Machines = []talk.Line{{Name: name, Sum: span.All}}
		}
	}
	return r
}

// plus adds up two reports, with the prices of the first.
func plus(a, b talk.Report) talk.Report {
	a.Spans, a.Days, a.Unread = slices.Clone(a.Spans), slices.Clone(a.Days), a.Unread+b.Unread
	a.Incomplete = a.Incomplete || b.Incomplete
	for i := range min(len(a.Spans), len(b.Spans)) {
		of, with := a.Spans[i], b.Spans[i]
		a.Spans[i] = talk.Span{All: added(of.All, with.All), Models: slices.Clone(of.Models), Sessions: slices.Concat(of.Sessions, with.Sessions),
			Machines: slices.Concat(of.Machines, with.Machines)}
		for _, line := range with.Models {
			models := a.Spans[i].Models
			if at := slices.IndexFunc(models, func(l talk.Line) bool { return l.Name == line.Name }); at >= 0 {
				models[at].Sum = added(models[at].Sum, line.Sum)
			} else {
				a.Spans[i].Models = append(models, line)
			}
		}
		for _, lines := range [][]talk.Line{a.Spans[i].Models, a.Spans[i].Sessions, a.Spans[i].Machines} {
			slices.SortStableFunc(lines, func(a, b talk.Line) int { return cmp.Compare(b.Cost, a.Cost) })
		}
	}
	for i := range min(len(a.Days), len(b.Days)) {
		a.Days[i] += b.Days[i]
	}
	return a
}

func added(a, b talk.Sum) talk.Sum {
	return talk.Sum{Input: a.Input + b.Input, Output: a.Output + b.Output, CacheRead: a.CacheRead + b.CacheRead,
		CacheWrite: a.CacheWrite + b.CacheWrite, Cost: a.Cost + b.Cost, Unpriced: a.Unpriced || b.Unpriced}
}

// Limits returns the limits of the account of the chat's own machine. If it knows none, those that
// another machine knows.
func (r spendingRouter) Limits(ctx context.Context) ([]talk.Limit, error) {
	own, err := r.own.Sessions.Limits(ctx)
	if r.single() || len(own) > 0 || err != nil {
		return own, err
	}
	all, _ := gather(ctx, r.hosts(), func(ctx context.Context, h *host) ([]talk.Limit, error) { return h.Sessions.Limits(ctx) })
	for _, one := range all {
		if len(one) > 0 {
			return one, nil
		}
	}
	return nil, nil
}

// LimitsChange waits for the chat's own machine.
func (r spendingRouter) LimitsChange(ctx context.Context) error {
	return r.own.Sessions.LimitsChange(ctx)
}
