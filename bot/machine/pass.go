package machine

import (
	"context"
	"time"
)

// passTimeout is how long one pass waits for a machine that is not the chat's own.
const passTimeout = 10 * time.Second

// Pass is one pass over the sessions of all machines. A machine that answers slowly, or never,
// does not hold up what the pass does for the others. The caller ends it.
type Pass struct {
	ctx  context.Context
	of   map[string]context.Context
	ends []context.CancelFunc
}

// NewPass begins a pass.
func NewPass(ctx context.Context) *Pass {
	return &Pass{ctx: ctx, of: make(map[string]context.Context)}
}

// On returns the context of calls on a machine, which ends passTimeout after the first one.
func (p *Pass) On(id string) context.Context {
	if id == "" {
		return p.ctx
	}
	if p.of[id] == nil {
		ctx, end := context.WithTimeout(p.ctx, passTimeout)
		p.of[id], p.ends = ctx, append(p.ends, end)
	}
	return p.of[id]
}

// End ends the contexts.
func (p *Pass) End() {
	for _, end := range p.ends {
		end()
	}
}
