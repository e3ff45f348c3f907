package outbox

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/pause"
)

// diskInterval is the pause before work that the disk has refused is tried again.
const diskInterval = 5 * time.Second

// leftWork is work on the files of posts that the disk has refused: without it the next start would
// send a message again, or only then send it. Each work begins from the files as they are then.
type leftWork struct {
	log  *slog.Logger
	wake chan struct{}

	mu  sync.Mutex
	all []func() error
}

// do works now, and again later if that fails.
func (l *leftWork) do(work func() error) {
	if err := work(); err != nil {
		l.failed(err, work)
	}
}

func (l *leftWork) failed(err error, work func() error) {
	l.log.Error("outbox_disk_refused", logkey.Error, err)
	l.mu.Lock()
	l.all = append(l.all, work)
	l.mu.Unlock()
	pause.Poke(l.wake)
}

// run tries the work again until ctx ends, and once more then.
func (l *leftWork) run(ctx context.Context) {
	for ctx.Err() == nil {
		wait := pause.Forever
		if l.isLeft() {
			wait = diskInterval
		}
		if pause.Until(ctx, wait, l.wake) {
			continue
		}
		l.mu.Lock()
		all := l.all
		l.all = nil
		l.mu.Unlock()
		for _, work := range all {
			l.do(work)
		}
	}
}

func (l *leftWork) isLeft() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.all) > 0
}
