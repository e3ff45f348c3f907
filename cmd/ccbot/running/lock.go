package running

import (
	"context"
	"errors"
	"fmt"
	"io"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/statefolder"
)

// Lock takes the lock for a verb that makes records or settings itself, if no bot runs and the
// caller is not an agent.
func Lock(ctx context.Context, c config.Config, environ []string, stderr io.Writer) (held io.Closer, err error) {
	_, held, err = statefolder.Take(ctx, c.Dir, "cli", c.KillGrace, c.QuietLog(stderr))
	if errors.Is(err, exit.ErrRunning) {
		return nil, fmt.Errorf("ccbot has the folder in use; stop it first: %w", err)
	}
	if err != nil {
		return nil, err
	}
	d, err := offline.Of(c, environ, io.Discard)
	if err == nil {
		err = offline.RefuseAgents(ctx, c.Dir, offline.Sources(c, "", d.Store, d.Table, nil, c.QuietLog(stderr)))
	}
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	return held, nil
}
