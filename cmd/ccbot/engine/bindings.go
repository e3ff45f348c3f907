package engine

import (
	"context"
	"time"

	"ccbot/hooks"
	"ccbot/internal/hookwire"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/process"
)

// pruneEvery is the interval at which the bindings of ended processes are removed: each Claude Code
// of this user leaves one, and each scan for writers reads all of them.
const pruneEvery = time.Hour

// pruneBindings removes the bindings of processes that have ended, now and every hour, until ctx
// ends.
func (e *Engine) pruneBindings(ctx context.Context) error {
	for {
		err := hooks.PruneBindings(e.Dir, func(b hookwire.Binding) bool {
			return e.Table.Liveness(process.Identity{PID: b.PID, Start: b.Start, Boot: b.Boot}) == process.Gone
		})
		if err != nil {
			e.Log.Warn("bindings_not_pruned", logkey.Error, err)
		}
		if err := pause.For(ctx, pruneEvery); err != nil {
			return err
		}
	}
}
