package engine

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/pause"
)

// Listen implements loop.Engine: each answer is a line of the conversation, or of a subagent's. The
// conversation is the one that the record names at that time.
func (e *loopEngine) Listen(ctx context.Context, id uuid.UUID, heard func()) {
	var all sync.WaitGroup
	defer all.Wait()
	path, stop := "", func() {}
	for ctx.Err() == nil {
		r, _ := e.Store.Get(id)
		if now := e.Observer.TranscriptPath(r); now != "" && now != path { // it has none until its first prompt
			stop()
			path = now
			var listens context.Context
			listens, stop = context.WithCancel(ctx)
			all.Go(func() { e.listenTo(listens, now, heard) })
		}
		_ = pause.For(ctx, time.Second)
	}
	stop()
}

// listenTo calls heard after each line of a transcript, or of a subagent's.
func (e *loopEngine) listenTo(ctx context.Context, path string, heard func()) {
	ending := filepath.Ext(path)
	var all sync.WaitGroup
	for dir, is := range map[string]func(name string) bool{
		filepath.Dir(path): func(name string) bool { return name == filepath.Base(path) },
		filepath.Join(strings.TrimSuffix(path, ending), "subagents"): func(name string) bool { return filepath.Ext(name) == ending },
	} {
		all.Go(func() {
			written := e.Watch.Watch(dir, func(name string, _ bool) bool { return is(name) })
			defer written.Close()
			for {
				if _, err := written.Wait(ctx); err != nil {
					return
				}
				heard()
			}
		})
	}
	all.Wait()
}
