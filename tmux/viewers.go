package tmux

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	viewerNumbers = 4
	viewerStrings = 2
)

// Viewers returns the attached terminals. It leaves out control-mode clients: our own, and
// terminals that speak control mode (iTerm2's -CC), because tmux knows nothing of their keys. A
// client that is suspended or locked is left out until it comes back. ErrNoServer is proven; after
// any other error nothing is known.
func (c *Client) Viewers(ctx context.Context) ([]Viewer, error) {
	text, sep, err := c.list(ctx, "list-clients", func(sep string) string {
		// Here #{window_id} is the current window of the client's own session, so clients of grouped sessions show
		// windows of their own.
		return recordFormat(sep, "#{window_id}|#{client_flags}|#{client_activity}|#{client_created}", "#{session_name}", "#{client_tty}")
	})
	if err != nil {
		return nil, err
	}
	viewers, err := parseViewers(text, sep)
	if err != nil {
		return nil, fmt.Errorf("tmux list-clients: %w", err)
	}
	return viewers, nil
}

func parseViewers(text, sep string) ([]Viewer, error) {
	return rows(text, sep, viewerStrings, viewerOf)
}

// viewerOf reads one client; watching is false for a client that shows nothing to a person.
func viewerOf(r record) (v Viewer, watching bool, err error) {
	if len(r.numbers) != viewerNumbers {
		return Viewer{}, false, fmt.Errorf("client of %d numbers: %.80q", len(r.numbers), r.numbers)
	}
	flags := strings.Split(r.numbers[1], ",")
	has := func(flag string) bool { return slices.Contains(flags, flag) }
	if has("control-mode") || has("suspended") {
		return Viewer{}, false, nil
	}
	v = Viewer{Session: r.texts[0], TTY: r.texts[1], ReadOnly: has("read-only"), LastKey: lastKey(r.numbers[2], r.numbers[3])}
	if v.Window, err = ParseWindowID(r.numbers[0]); err != nil {
		return Viewer{}, false, fmt.Errorf("client %q: %w", v.TTY, err)
	}
	return v, true, nil
}

// lastKey is when a client was last active. tmux sets this time to that of the attach first, and
// then at every key. The answers of a terminal to tmux's questions at the attach do not count as
// keys, if they come in time (5 s).
func lastKey(activity, created string) time.Time {
	at, err := strconv.ParseInt(activity, 10, 64)
	attached, createdErr := strconv.ParseInt(created, 10, 64)
	if err != nil || createdErr != nil || at <= attached {
		return time.Time{}
	}
	return time.Unix(at, 0)
}
