package engine

import (
	"context"

	"ccbot/cmd/ccbot/config"
	"ccbot/host"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/port"
	"ccbot/port/refusal"
)

// Restores brings sessions back.
type Restores interface {
	Restore(ctx context.Context, q port.Restore) (lifecycle.Restored, error)
}

// BringBack restores a session in a folder where sessions may be opened.
func BringBack(ctx context.Context, c config.Config, sessions Restores, r session.Record) (lifecycle.Restored, error) {
	for _, dir := range []string{r.Folder(), r.Dir} { // it begins in the second one if the first is gone
		if !host.InRoots(c.RootFolders, dir) {
			return lifecycle.Restored{}, &refusal.Error{Code: refusal.DirOutside, Dir: dir}
		}
	}
	return sessions.Restore(ctx, port.Restore{Session: r.ID})
}
