package tmux

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ccbot/internal/pause"
)

// reapDelay is how long tmux gets to learn how a process ended: tmux marks the pane dead when its
// terminal closes, which may come before the signal with the status.
const reapDelay = 30 * time.Millisecond

// paneFormat prints a pane as a record; quoted as in Client.quotes.
func paneFormat(sep string, quoted bool) string {
	q := ""
	if quoted {
		q = "q:"
	}
	return recordFormat(sep,
		"#{pane_id}|#{window_id}|#{pane_pid}|#{pane_dead}|#{pane_dead_status}|#{pane_dead_signal}|"+
			"#{pane_in_mode}|#{session_attached}|#{pane_active}|#{window_panes}|#{window_index}|#{history_size}|#{session_activity}|"+
			"#{pane_synchronized}|#{pane_width}|#{pane_height}",
		"#{session_name}", "#{window_name}", "#{"+q+"pane_current_command}", "#{"+q+"pane_current_path}", "#{@ccbot_session}", "#{"+q+"pane_title}")
}

// Panes returns all panes of the server, in tmux's order. A pane in a window that is linked into
// several sessions comes once, under ccbot's own session if that is one of them. ErrNoServer is
// proven; after any other error nothing is known.
func (c *Client) Panes(ctx context.Context) ([]Pane, error) {
	return c.listPanes(ctx, "-a")
}

// Pane returns one pane. ErrNoPane comes only from the server's own answer.
func (c *Client) Pane(ctx context.Context, id PaneID) (Pane, error) {
	if !id.Valid() {
		return Pane{}, fmt.Errorf("tmux pane: %w", ErrNoTarget)
	}
	panes, err := c.listPanes(ctx, "-a", "-f", id.filter())
	if err != nil {
		return Pane{}, err
	}
	return only(panes, id)
}

// PaneAndScreen returns one pane and its screen, as Pane and Capture do, in one round trip. shown
// is false if only the screen is unknown.
func (c *Client) PaneAndScreen(ctx context.Context, id PaneID) (p Pane, screen string, shown bool, err error) {
	if !id.Valid() {
		return Pane{}, "", false, fmt.Errorf("tmux pane: %w", ErrNoTarget)
	}
	quoted := quotes(ServerVersion(c))
	a, call, err := c.do(ctx, "list-panes", func(marker string) string {
		return join(command("list-panes", "-a", "-f", id.filter(), "-F", paneFormat(marker+"|", quoted)),
			join(command("display-message", "-p", marker+"-screen"), capture(marker, id)))
	})
	at := slices.Index(a.lines, call.marker+"-screen")
	if at < 0 || len(a.fails) > 1 {
		return Pane{}, "", false, cmp.Or(err, fmt.Errorf("tmux list-panes: %w: answer %q", ErrLost, a.lines))
	}
	panes, err := panesIn(strings.Join(a.lines[:at], "\n"), call.marker+"|", c.place.cfg.Session, quoted)
	if err == nil {
		p, err = only(panes, id)
	}
	if err == nil && c.endMissing(p) {
		p, err = c.Pane(ctx, id) // which waits until tmux reports how it ended
	}
	return p, captured(a.lines[at+1:], call.marker, ServerVersion(c)), err == nil && len(a.fails) == 0, err
}

// filter is the condition of list-panes that only this pane meets.
func (p PaneID) filter() string { return "#{==:#{pane_id}," + p.String() + "}" }

func only(panes []Pane, id PaneID) (Pane, error) {
	for _, p := range panes {
		if p.ID == id {
			return p, nil
		}
	}
	return Pane{}, fmt.Errorf("%w: %s", ErrNoPane, id)
}

// listPanes reads again if a process ended and tmux does not report how. Usually it ended only just
// now. But tmux built with libutempter (Debian, Ubuntu) loses the signal of a child that ends while
// the utempter helper runs, which happens at every new window: the child then stays a zombie until
// the next child ends. Therefore listPanes makes a child of the server end, once for each such
// pane.
func (c *Client) listPanes(ctx context.Context, args ...string) ([]Pane, error) {
	panes, err := c.readPanes(ctx, args)
	for _, nudge := range []string{"", command("run-shell", "-b", "true")} {
		if err != nil || !slices.ContainsFunc(panes, c.endMissing) {
			return panes, err
		}
		if nudge != "" {
			c.mu.Lock()
			for _, p := range panes {
				if endUnknown(p) {
					c.nudged[p.ID] = true
				}
			}
			c.mu.Unlock()
			_, err = c.lines(ctx, "run-shell", nudge)
		}
		if pause.For(ctx, reapDelay) != nil {
			return panes, nil
		}
		if err == nil {
			panes, err = c.readPanes(ctx, args)
		}
	}
	return panes, err
}

// endMissing reports whether a pane is dead, tmux does not report how it ended, and listPanes has
// not nudged the server for this pane yet.
func (c *Client) endMissing(p Pane) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return endUnknown(p) && !c.nudged[p.ID]
}

func endUnknown(p Pane) bool { return p.Dead && p.DeadStatus == -1 && p.DeadSignal == 0 }

func (c *Client) readPanes(ctx context.Context, args []string) ([]Pane, error) {
	quoted := quotes(ServerVersion(c))
	text, sep, err := c.list(ctx, "list-panes", func(sep string) string { return paneFormat(sep, quoted) }, args...)
	if err != nil {
		return nil, err
	}
	return panesIn(text, sep, c.place.cfg.Session, quoted)
}

// panesIn reads what list-panes has printed.
func panesIn(text, sep, session string, quoted bool) ([]Pane, error) {
	panes, err := parsePanes(text, sep, quoted)
	if err != nil {
		return nil, fmt.Errorf("tmux list-panes: %w", err)
	}
	return once(panes, session), nil
}

// once keeps one of several panes with the same id.
func once(panes []Pane, session string) []Pane {
	at := make(map[PaneID]int)
	var kept []Pane
	for _, p := range panes {
		i, seen := at[p.ID]
		if !seen {
			at[p.ID] = len(kept)
			kept = append(kept, p)
			continue
		}
		touched := slices.MaxFunc([]time.Time{p.Touched, kept[i].Touched}, time.Time.Compare)
		if p.Session == session {
			kept[i] = p
		}
		kept[i].Touched = touched
	}
	return kept
}

func parsePanes(text, sep string, quoted bool) ([]Pane, error) {
	return rows(text, sep, 16, 6, func(r record) (Pane, bool, error) {
		if quoted {
			r.texts[2], r.texts[3], r.texts[5] = unquoted(r.texts[2]), unquoted(r.texts[3]), unquoted(r.texts[5])
		}
		return paneOf(r)
	})
}

func paneOf(r record) (p Pane, _ bool, err error) {
	fields := r.numbers
	if p.ID, err = ParsePaneID(fields[0]); err != nil {
		return Pane{}, false, err
	}
	if p.Window, err = ParseWindowID(fields[1]); err != nil {
		return Pane{}, false, err
	}
	number := func(i int, what string) int64 {
		n, failed := strconv.ParseInt(fields[i], 10, 64)
		if failed != nil && err == nil {
			err = fmt.Errorf("%s of %s: %w", what, p.ID, failed)
		}
		return n
	}
	p.PID, p.Attached, p.WindowPanes = int(number(2, "pid")), int(number(7, "attached")), int(number(9, "panes beside"))
	p.WindowIndex, p.Scrolled, p.Touched = int(number(10, "window index")), int(number(11, "history")), time.Unix(number(12, "activity"), 0)
	p.Dead, p.InMode, p.Active = fields[3] == "1", fields[6] != "" && fields[6] != "0", fields[8] == "1"
	p.Synchronized, p.Width, p.Height = fields[13] == "1", int(number(14, "width")), int(number(15, "height"))
	if p.Dead {
		p.DeadStatus, p.DeadSignal = ending(fields[4], fields[5])
	}
	p.Session, p.WindowName, p.Command, p.Path, p.Tag, p.Title = r.texts[0], r.texts[1], r.texts[2], r.texts[3], r.texts[4], r.texts[5]
	return p, true, err
}

// ending reads how a process ended. Both texts are empty until tmux has reaped the process, and
// also after a signal on 3.2, which does not report signals. A signal is a number, or a name where
// the system knows names.
func ending(status, sig string) (code int, number int) {
	if n, err := strconv.Atoi(status); err == nil {
		return n, 0
	}
	if n, err := strconv.Atoi(sig); err == nil {
		return -1, n
	}
	named := "SIG" + strings.TrimPrefix(strings.ToUpper(sig), "SIG")
	return -1, int(unix.SignalNum(named))
}

// Viewers returns the attached terminals. It leaves out control-mode clients: our own, and
// terminals that speak control mode (iTerm2's -CC), because tmux knows nothing of their keys. A
// client that is suspended or locked is left out until it comes back. ErrNoServer is proven; after
// any other error nothing is known.
func (c *Client) Viewers(ctx context.Context) ([]Viewer, error) {
	text, sep, err := c.list(ctx, "list-clients", func(sep string) string {
		// Here #{window_id} is the current window of the client's session, so clients of grouped
		// sessions show different windows.
		return recordFormat(sep, "#{window_id}|#{client_flags}|#{client_activity}|#{client_created}", "#{session_name}", "#{client_tty}")
	})
	if err != nil {
		return nil, err
	}
	viewers, err := parseViewers(text, sep)
	if err != nil {
		err = fmt.Errorf("tmux list-clients: %w", err)
	}
	return viewers, err
}

func parseViewers(text, sep string) ([]Viewer, error) { return rows(text, sep, 4, 2, viewerOf) }

// viewerOf reads one client; watching is false for a client that shows nothing to a person.
func viewerOf(r record) (v Viewer, watching bool, err error) {
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

// lastKey returns when a client was last active. tmux sets this time to the time of the attach
// first, and then at every key. The answers of a terminal to tmux's questions at the attach do not
// count as keys, if they come in time (5 s).
func lastKey(activity, created string) time.Time {
	at, err := strconv.ParseInt(activity, 10, 64)
	attached, createdErr := strconv.ParseInt(created, 10, 64)
	if err != nil || createdErr != nil || at <= attached {
		return time.Time{}
	}
	return time.Unix(at, 0)
}
