package chattest

import (
	"context"
	"sync"

	"ccbot/bot/port/spending"
)

// FakeSpending is what agents have used, as a test says.
type FakeSpending struct {
	*gate
	OnSpent func(ctx context.Context) (spending.Report, error)

	mu     sync.Mutex
	limits []spending.Limit
	news   chan struct{}
}

func newSpending(g *gate) *FakeSpending {
	return &FakeSpending{gate: g, news: make(chan struct{}, 1), OnSpent: func(context.Context) (spending.Report, error) {
		return spending.Report{Spans: make([]spending.Span, len(spending.Spans())), Days: make([]float64, spending.Days),
			Prices: "2026-05-01", Source: "a list"}, nil
	}}
}

// Tells says what status lines say of the limits from now on.
func (f *FakeSpending) Tells(all ...spending.Limit) {
	f.mu.Lock()
	f.limits = all
	f.mu.Unlock()
	select {
	case f.news <- struct{}{}:
	default:
	}
}

func (f *FakeSpending) Spent(ctx context.Context) (spending.Report, error) {
	f.wait()
	return f.OnSpent(ctx)
}

func (f *FakeSpending) Limits() []spending.Limit {
	f.wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.limits
}

func (f *FakeSpending) LimitsChange(ctx context.Context) error {
	select {
	case <-f.news:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
