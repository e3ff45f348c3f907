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

// aliveFile has no content: its time says when ccbot was last there.
const aliveFile = "alive"

// alivePace is how often that is noted, and so how much longer than it was an absence may look.
const alivePace = time.Minute

// Absence is how long no ccbot was there, and since when; both are zero also where
// that is not known, as at the first start or when the clock was set back. It is
// read once, before the file is touched: all who go by it go by the same.
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

// KeepAlive notes that ccbot is there, until it is not. It belongs behind the look at how long it was
// away.
func KeepAlive(ctx context.Context, dir string, log *slog.Logger) error {
	failing := false
	for over := error(nil); over == nil; over = pause.For(ctx, alivePace) {
		err := touch(filepath.Join(dir, aliveFile), time.Now())
		if err != nil && !failing {
			log.Warn("presence_not_noted", logkey.Error, err.Error(), logkey.Consequence, "after a restart old prompts are asked about")
		}
		failing = err != nil
	}
	_ = touch(filepath.Join(dir, aliveFile), time.Now()) // a failure was told
	return ctx.Err()
}
