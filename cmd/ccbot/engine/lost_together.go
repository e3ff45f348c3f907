package engine

import (
	"context"
	"time"

	"ccbot/internal/pause"
	"ccbot/recovery"
)

// losses says that sessions are lost, in one message about those that are lost at the same time
// because their tmux server has ended; the details are in their records.
type losses chan struct{}

// lossPause is how long ccbot waits for further sessions that are lost for the same reason.
const lossPause = 2 * time.Second

func (l losses) note() { pause.Poke(l) }

// reportLosses reports sessions that are lost while ccbot runs to the chat.
func (e *Engine) reportLosses(ctx context.Context) error {
	return e.losses.run(ctx, func(ctx context.Context, r recovery.Report) {
		e.recovering.Lock() // a recovery reports losses as well
		defer e.recovering.Unlock()
		e.report(ctx, r)
	})
}

// run reports losses until ctx ends. The next start reports the losses that run has not reported.
func (l losses) run(ctx context.Context, tell func(context.Context, recovery.Report)) error {
	for pause.Until(ctx, pause.Forever, l) && pause.For(ctx, lossPause) == nil {
		select {
		case <-l: // it is reported now
		default:
		}
		tell(ctx, recovery.Report{At: time.Now()})
	}
	return ctx.Err()
}
