package statefolder

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/pause"
)

// aliveFile has no content: its modification time says when ccbot was last alive.
const aliveFile = "alive"

// alivePace is how often ccbot notes that it is alive. An absence may look longer than it was by
// this much.
const alivePace = time.Minute

// Absence is how long no ccbot was alive, and since when. Both are zero when that is unknown, as at
// the first start or when the clock was set back. It is read once, before the file is touched, so
// that all its users see the same value.
func Absence(dir string, now time.Time) (away time.Duration, seen time.Time) {
	info, err := os.Stat(filepath.Join(dir, aliveFile))
	if err != nil {
		return 0, time.Time{}
	}
	if away = now.Sub(info.ModTime()); away <= 0 {
		return 0, time.Time{}
	}
	return away, now.Add(-away)
}

// KeepAlive notes that ccbot is alive, until ctx ends. It must run after Absence was read.
func KeepAlive(ctx context.Context, dir string, log *slog.Logger) error {
	failing := false
	for over := error(nil); over == nil; over = pause.For(ctx, alivePace) {
		err := touch(filepath.Join(dir, aliveFile), time.Now())
		if err != nil && !failing {
			log.Warn("presence_not_noted", logkey.Error, err.Error(), logkey.Consequence, "after a restart old prompts are asked about")
		}
		failing = err != nil
	}
	_ = touch(filepath.Join(dir, aliveFile), time.Now()) // a failure was logged before
	return ctx.Err()
}
