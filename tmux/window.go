package tmux

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ccbot/internal/lazyregexp"
	"ccbot/internal/logkey"
	"ccbot/internal/wording"
)

// PlaceholderName is the name of a window that NewWindow has made and not yet given to its process.
// Such a window closes by itself.
const PlaceholderName = "ccbot-new"

// IsPlaceholder reports whether a pane waits for its process: a process that a crash has kept from
// its name is not one that waits.
func IsPlaceholder(p Pane) bool {
	return p.WindowName == PlaceholderName && p.Command == placeholder && !p.Dead
}

// placeholder is the program of such a pane.
const placeholder = "sleep"

// placeholderTime is how long a placeholder sleeps, in seconds: longer than the two commands that
// follow may take together.
const placeholderTime = "10"

// NewWindow opens a window in ccbot's session, in the background, 120×40 as long as no terminal has
// shown that session. No shell stands between tmux and Spec.Argv; when the process ends, a dead
// pane stays that shows its last screen and status. Ensure must have made the session.
//
// The window begins as a placeholder that sleeps. Its id is read, so that no name is a target: a
// hook may rename, move or split each new window. Then the window gets its tag, and only after that
// the pane gets the process. A placeholder that a crash has left closes by itself.
//
// Pane.Path may still be tmux's own directory for the moment until the new process has changed to
// Spec.Dir: a caller that has to be sure reads Pane again until Pane.Command is its own.
//
// After ErrLost the process may run, in a window with Spec.Tag that has no name yet. After any
// other error it does not.
func (c *Client) NewWindow(ctx context.Context, s Spec) (Pane, error) {
	if err := s.Validate(); err != nil {
		return Pane{}, fmt.Errorf("tmux new-window: %w", err)
	}
	g, err := c.reserve(ctx)
	if err != nil {
		return Pane{}, notLaunched(err)
	}
	s.failpoint("window-reserved")
	target := g.Pane.String()
	err = c.guarded(ctx, "set-option", g, g.owner(), "", command("set-option", "-w", "-t", target, "remain-on-exit", "off")+
		" ; "+command("set-option", "-w", "-t", target, "@ccbot_session", s.Tag))
	if err != nil {
		return Pane{}, c.undoWindow(ctx, g, s.Tag, notLaunched(err))
	}
	s.failpoint("window-tagged")
	// A process that ends at once is kept, because the option is set before it begins.
	err = c.guarded(ctx, "respawn-pane", g, g.owner(), "", command("set-option", "-w", "-t", target, "remain-on-exit", "on")+
		" ; "+s.respawn(c.place.envTool, target))
	switch {
	case errors.Is(err, ErrLost):
		return Pane{}, err
	case err != nil:
		return Pane{}, c.undoWindow(ctx, g, s.Tag, notLaunched(err))
	}
	s.failpoint("window-begun")
	p, err := c.Pane(ctx, g.Pane)
	if err != nil { // the process was started all the same
		return Pane{}, fmt.Errorf("tmux new-window: read it back: %w: %s", ErrLost, err.Error())
	}
	if err := c.Rename(ctx, Guard{Pane: p.ID, PID: p.PID}, s.Tag, s.Name); err != nil {
		c.place.cfg.Log.WarnContext(ctx, "window_not_named", logkey.Pane, target, logkey.Error, err)
		return p, nil
	}
	p.WindowName = windowName(s.Name)
	return p, nil
}

// reserve makes a placeholder and returns the guard of its pane.
func (c *Client) reserve(ctx context.Context) (Guard, error) {
	a, call, err := c.do(ctx, "new-window", func(marker string) string {
		return command("new-window", "-d", "-P", "-F", marker+"-new #{pane_id} #{pane_pid}", "-t", "="+c.place.cfg.Session+":",
			"-n", PlaceholderName, "-c", "/", "--", placeholder, placeholderTime)
	})
	if err != nil {
		return Guard{}, err
	}
	text, _ := a.after(call.marker + "-new")
	id, pid, _ := strings.Cut(text, " ")
	pane, err := ParsePaneID(id)
	if err != nil {
		return Guard{}, fmt.Errorf("tmux new-window: answer %q: %w", a.lines, err)
	}
	n, err := strconv.Atoi(pid)
	if err != nil {
		return Guard{}, fmt.Errorf("tmux new-window: answer %q: %w", a.lines, err)
	}
	return Guard{Pane: pane, PID: n}, nil
}

// notLaunched returns the error of a step before the process: nothing was started, even if the
// outcome of the step is unknown.
func notLaunched(err error) error {
	switch {
	case errors.Is(err, ErrSilent):
		return fmt.Errorf("tmux new-window: %w: %w: %s", ErrNotSent, ErrSilent, err.Error())
	case errors.Is(err, ErrLost):
		return fmt.Errorf("tmux new-window: %w: %s", ErrNotSent, err.Error())
	case errors.Is(err, ErrGuard), errors.Is(err, ErrNoPane):
		return fmt.Errorf("tmux new-window: %w: %s", ErrTaken, err.Error())
	}
	return err
}

// Environment returns the named variables as a new window of ccbot's session gets them from tmux,
// without those that are unset or empty.
func (c *Client) Environment(ctx context.Context, names []string) (map[string]string, error) {
	if len(names) == 0 {
		return make(map[string]string), nil // tmux would return one empty value
	}
	formats := make([]string, len(names))
	for i, name := range names {
		formats[i] = "#{" + name + "}" // tmux looks up unknown names in the environment
	}
	a, call, err := c.do(ctx, "display-message", func(marker string) string {
		return command("display-message", "-p", "-t", "="+c.place.cfg.Session+":", strings.Join(formats, marker+"|"))
	})
	if err != nil {
		return nil, err
	}
	values := strings.Split(strings.Join(a.lines, "\n"), call.marker+"|")
	if len(values) != len(names) {
		return nil, fmt.Errorf("tmux display-message: %d values of %d", len(values), len(names))
	}
	env := make(map[string]string)
	for i, name := range names {
		if values[i] != "" {
			env[name] = values[i]
		}
	}
	return env, nil
}

// undoWindow closes the pane that reserve has made, if it still has its process, or has none
// because tmux could not start one. Otherwise the pane is no longer a placeholder: it stays.
func (c *Client) undoWindow(ctx context.Context, g Guard, tag string, why error) error {
	err := c.ClosePane(ctx, g)
	if errors.Is(err, ErrGuard) && !errors.Is(err, ErrNoPane) {
		g.emptied = tag
		err = c.ClosePane(ctx, g)
	}
	if err != nil && !errors.Is(err, ErrNoPane) && !errors.Is(err, ErrNoServer) {
		c.place.cfg.Log.WarnContext(ctx, "window_not_closed", logkey.Pane, g.Pane.String(), logkey.Error, err)
	}
	return why
}

// Validate returns the mistake in a Spec, before anything is sent.
func (s Spec) Validate() error {
	switch {
	case s.Name == "" || s.Tag == "":
		return errors.New("empty name or tag")
	case !filepath.IsAbs(s.Dir):
		return wording.Errorf("directory %q is not absolute", wording.Path(s.Dir))
	case len(s.Argv) == 0 || !filepath.IsAbs(s.Argv[0]):
		return fmt.Errorf("command %q is not an absolute path", s.Argv)
	case strings.Contains(s.Argv[0], "="):
		return fmt.Errorf("command %q: env(1) would take it for a variable", s.Argv[0])
	}
	texts := slices.Concat(s.Argv, []string{s.Tag, s.Dir})
	for _, name := range slices.AppendSeq(slices.Clone(s.Unset), maps.Keys(s.Env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fmt.Errorf("variable name %q", name)
		}
		texts = append(texts, s.Env[name])
	}
	if slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, "\x00") }) {
		return errNUL
	}
	return nil
}

func (s Spec) failpoint(step string) {
	if s.At != nil {
		s.At(step)
	}
}

// respawn starts the process in the pane of a placeholder.
func (s Spec) respawn(envTool, target string) string {
	args := []string{"-k", "-t", target, "-c", literal(s.Dir)}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		args = append(args, "-e", name+"="+s.Env[name])
	}
	// With several arguments tmux executes them without a shell. env removes variables of the
	// server's environment.
	args = append(args, "--", envTool)
	for _, name := range s.Unset {
		args = append(args, "-u", name)
	}
	return command("respawn-pane", append(args, s.Argv...)...)
}

// Rename changes the name of a pane's window to any text but an empty one. It acts only while the
// window has the tag: a person may have moved the pane into another window. Control characters
// become spaces, and tmux rewrites backslashes and "$x" in names, so Pane.WindowName may differ.
func (c *Client) Rename(ctx context.Context, g Guard, tag, name string) error {
	if name == "" || tag == "" {
		return errors.New("tmux rename-window: empty name or tag")
	}
	cond := g.owner()
	cond.format, cond.want = cond.format+" #{@ccbot_session}", cond.want+" "+tag
	return c.guarded(ctx, "rename-window", g, cond, "", command("rename-window", "-t", g.Pane.String(), "--", literal(windowName(name))))
}

// windowName is a name that every version accepts: newer ones refuse control characters and text
// that is not UTF-8.
func windowName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, "\ufffd"))
}

// Capture returns the visible rows of a pane with their colours (SGR sequences), and before them up
// to lines rows of scrollback. Rows are as shown, not joined where they wrap; the last row has no
// newline. A dead pane shows its last screen with tmux's own line about the end. ErrNoPane: the
// pane does not exist.
func (c *Client) Capture(ctx context.Context, p PaneID, lines int) (string, error) {
	if !p.Valid() {
		return "", fmt.Errorf("tmux capture-pane: %w", ErrNoTarget)
	}
	var args []string
	if lines > 0 {
		args = append(args, "-S", fmt.Sprintf("-%d", lines))
	}
	a, call, err := c.do(ctx, "capture-pane", func(marker string) string { return capture(marker, p, args...) })
	return captured(a.lines, call.marker, ServerVersion(c)), err
}

// capture returns the commands that print a pane's screen. They go through a buffer, because
// capture-pane -p of a control client leaks the whole text in the server, in 3.2 to 3.5a. If
// capture-pane fails, there is no buffer, and the rest of the list is skipped. The buffer's name is
// appended to the text, because show-buffer of 3.5a prints, for some lengths of a buffer, the
// server's memory after it: rows of an earlier screen.
func capture(marker string, p PaneID, args ...string) string {
	buffer := marker + "-capture"
	return command("capture-pane", slices.Concat([]string{"-b", buffer, "-e", "-t", p.String()}, args)...) +
		" ; " + command("set-buffer", "-a", "-b", buffer, buffer) +
		" ; " + command("show-buffer", "-b", buffer) + " ; " + command("delete-buffer", "-b", buffer)
}

// captured reads what capture has printed. show-buffer escapes control characters up to 3.3a. The
// screen ends with a newline, and the name of the buffer follows it.
func captured(lines []string, marker, version string) string {
	text, _, _ := strings.Cut(strings.Join(lines, "\n"), marker+"-capture")
	text = strings.TrimSuffix(text, "\n")
	if escapes(version) {
		text = unquoted(text)
	}
	return text
}

// AttachCommand is a shell command that brings a person to the window. It uses the id if that is
// valid; otherwise it uses the name, which must then be unique.
func (c *Client) AttachCommand(w WindowID, windowName string) string {
	target := w.String()
	if !w.Valid() {
		target = "=" + c.place.cfg.Session + ":=" + windowName
	}
	return c.place.attach + shellQuote(target)
}

// plainWord matches words that need no quotes in any shell.
var plainWord = lazyregexp.New(`^[A-Za-z0-9_./-]+$`)

func shellQuote(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
