package statefolder

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"ccbot/internal/disk"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
)

// aliveFile has a moment of process.Clock: when ccbot was last alive. Its modification time says
// the same by the wall clock, for a moment that cannot be used: after a boot, and if the disk was
// full.
const aliveFile = "alive"

// alivePace is the interval at which ccbot notes that it is alive. An absence may look longer than
// it was by this much.
const alivePace = time.Minute

// Absence is how long no ccbot was alive, and since when. Both are zero when that is unknown, as at
// the first start or when the clock was set back. It is read once, before the file is touched, so
// that all its users see the same value.
func Absence(dir string, clock Clock, now time.Time) (away time.Duration, seen time.Time) {
	path := filepath.Join(dir, aliveFile)
	info, err := disk.Stat(path)
	if err != nil {
		return 0, time.Time{}
	}
	moment, err := disk.ReadFile(path)
	away, ok := clock.Since(string(moment))
	if err != nil || !ok {
		away = now.Sub(info.ModTime())
	}
	if away <= 0 {
		return 0, time.Time{}
	}
	return away, now.Add(-away)
}

// Clock measures how much time has passed, see process.Clock.
type Clock interface {
	Now() string
	Since(moment string) (time.Duration, bool)
}

// KeepAlive notes that ccbot is alive, until ctx ends. It must run after Absence was read.
func KeepAlive(ctx context.Context, dir string, clock Clock, log *slog.Logger) error {
	failing := false
	for over := error(nil); over == nil; over = pause.For(ctx, alivePace) {
		err := noteAlive(dir, clock)
		if err != nil && !failing {
			log.Warn("presence_not_noted", logkey.Error, err, logkey.Consequence, "after a restart ccbot asks about old prompts")
		}
		failing = err != nil
	}
	_ = noteAlive(dir, clock) // a failure was logged before
	return ctx.Err()
}

// noteAlive writes the moment, and without room for it only the time of the file.
func noteAlive(dir string, clock Clock) error {
	path := filepath.Join(dir, aliveFile)
	if disk.WriteFile(path, []byte(clock.Now()), 0o600) != nil {
		_ = disk.Truncate(path, 0) // an earlier moment would make an absence longer than it is
	}
	return touch(path, time.Now())
}
