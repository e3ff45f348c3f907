package hub

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ccbot/internal/gauge"
	"ccbot/internal/pause"
)

const (
	// renewInterval is the least time between two starts of the server, because each of them ends all
	// connections.
	renewInterval = time.Minute
	// lookInterval is the time between two looks at the disk.
	lookInterval = 5 * time.Second
	// leastRoom is the free space with which a start is worth it.
	leastRoom = 4 << 20
)

// Run starts the server anew after an error of a write, as soon as the disk has room: the server
// keeps the first such error of a stream, and takes no more messages for it. Run returns when ctx
// ends, or with the error of a server that does not start.
func (h *Hub) Run(ctx context.Context) error {
	for again := time.Duration(0); ; again = renewInterval {
		select {
		case <-ctx.Done():
			return nil
		case <-h.broken:
		}
		if pause.For(ctx, again) != nil || !pause.Await(ctx, lookInterval, pause.Forever, h.settings.HasRoom) {
			return nil
		}
		end(h.front.server.Load())
		h.forget()
		running, err := h.start()
		if err != nil {
			return fmt.Errorf("hub: start the server again: %w", err)
		}
		h.front.server.Store(running)
		h.Warnf("the server was started again, because it could not write")
	}
}

// forget forgets the errors of a server that has ended: each of its streams reports the same fault.
func (h *Hub) forget() {
	select {
	case <-h.broken:
	default:
	}
}

// hasRoom reports whether the disk of the folder has room.
func (s Settings) hasRoom() bool {
	room, err := gauge.Disk(context.Background(), s.Folder)
	return err != nil || room.Free >= leastRoom
}

// Errorf implements server.Logger. The server says only in its log that it cannot write any more.
func (h *Hub) Errorf(format string, args ...any) {
	if words := strings.ToLower(format); strings.Contains(words, "critical write error") || strings.Contains(words, "will be disabled") {
		pause.Poke(h.broken)
	}
	if h.settings.Log != nil {
		h.settings.Log.Errorf(format, args...)
	}
}

// Warnf implements server.Logger.
func (h *Hub) Warnf(format string, args ...any) {
	if h.settings.Log != nil {
		h.settings.Log.Warnf(format, args...)
	}
}

// Fatalf implements server.Logger.
func (h *Hub) Fatalf(format string, args ...any) {
	if h.settings.Log != nil {
		h.settings.Log.Fatalf(format, args...)
	}
}

// Noticef implements server.Logger.
func (h *Hub) Noticef(string, ...any) {}

// Debugf implements server.Logger.
func (h *Hub) Debugf(string, ...any) {}

// Tracef implements server.Logger.
func (h *Hub) Tracef(string, ...any) {}
