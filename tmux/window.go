package tmux

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"ccbot/internal/logkey"
)

// NewWindow opens a window in ccbot's session, in the background, 120×40 as long as nobody has
// looked at that session. No shell stands between tmux and Spec.Argv; when the process ends a dead
// pane stays that shows its last screen and status. Ensure must have made the session.
//
// Pane.Path may still be tmux's own directory for the moment until the new process has changed to
// Spec.Dir: a caller that has to be sure reads Pane again until Pane.Command is its own.
//
// After an error that is not ErrNotSent a window may exist, with Spec.Tag or at least under
// Spec.Key.
func (c *Client) NewWindow(ctx context.Context, s Spec) (Pane, error) {
	if err := s.Validate(); err != nil {
		return Pane{}, fmt.Errorf("tmux new-window: %w", err)
	}
	a, call, err := c.do(ctx, "new-window", func(marker string) string { return s.text(c.place, marker) })
	if _, ready := a.after(call.marker + "-ready"); err != nil && ready {
		// tmux refused only the name: the window runs and has its tag.
		c.place.cfg.Log.WarnContext(ctx, "window_not_named", logkey.Key, s.Key, logkey.Error, err)
		err = nil
	}
	text, made := a.after(call.marker + "-new")
	if err != nil && made {
		return Pane{}, c.undoWindow(ctx, text, err)
	}
	if err != nil {
		return Pane{}, err
	}
	id, err := ParsePaneID(text)
	if err != nil {
		return Pane{}, fmt.Errorf("tmux new-window: answer %q: %w", a.lines, err)
	}
	p, err := c.Pane(ctx, id)
	if err != nil { // the window exists all the same
		return Pane{}, fmt.Errorf("tmux new-window: read it back: %w: %s", ErrLost, err.Error()) // whatever the reason, the error must not read as "nothing happened"
	}
	return p, nil
}

// Environment returns the named variables as a new window of ccbot's session gets them from tmux,
// without those that are unset or empty.
func (c *Client) Environment(ctx context.Context, names []string) (map[string]string, error) {
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

// undoWindow closes a window that was made and then could not be marked, for example because a hook
// of the person's renames every new window: a window without its tag could not be recognised as
// ccbot's.
func (c *Client) undoWindow(ctx context.Context, pane string, why error) error {
	id, err := ParsePaneID(pane)
	if err != nil {
		return fmt.Errorf("%w: %w: its answer was %q", ErrLost, why, pane)
	}
	p, err := c.Pane(ctx, id)
	if err == nil {
		err = c.ClosePane(ctx, Guard{Pane: id, PID: p.PID})
	}
	if err != nil && !errors.Is(err, ErrNoPane) && !errors.Is(err, ErrNoServer) {
		return fmt.Errorf("%w: %w: close it again: %s", ErrLost, why, err.Error())
	}
	return why
}

// Validate returns the mistake in a Spec, before anything is sent.
func (s Spec) Validate() error {
	switch {
	case !validName.MatchString(s.Key):
		return fmt.Errorf("key %q: want letters, digits, '_' and '-'", s.Key)
	case !filepath.IsAbs(s.Dir):
		return fmt.Errorf("directory %q is not absolute", s.Dir)
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

// text is the one command list that makes the window. Every command after new-window needs -t,
// because with -d the new window is not the current one. Its id is not known yet, so this is the
// one place where a name is a target. A process that ends at once is still kept, because tmux looks
// at ended panes only after the list.
func (s Spec) text(p place, marker string) string {
	args := []string{"-d", "-P", "-F", marker + "-new #{pane_id}", "-t", "=" + p.cfg.Session + ":", "-n", s.Key, "-c", literal(s.Dir)}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		args = append(args, "-e", name+"="+s.Env[name])
	}
	// With several arguments tmux executes them without a shell. env removes variables of the
	// server's environment.
	args = append(args, "--", p.envTool)
	for _, name := range s.Unset {
		args = append(args, "-u", name)
	}
	args = append(args, s.Argv...)
	target := "=" + p.cfg.Session + ":=" + s.Key
	list := []string{
		command("new-window", args...),
		command("set-option", "-w", "-t", target, "remain-on-exit", "on"),
		command("set-option", "-w", "-t", target, "@ccbot_session", s.Tag),
		command("display-message", "-p", marker+"-ready"),
	}
	if s.Name != "" {
		list = append(list, command("rename-window", "-t", target, "--", literal(windowName(s.Name))))
	}
	return strings.Join(list, " ; ")
}

// Rename gives the window of a pane another name, which may be any text but an empty one. It acts
// only while the window has the tag: a person may have moved the pane into a window of theirs.
// Control characters become spaces, and tmux writes backslashes and "$x" in names its own way, so
// Pane.WindowName may differ.
func (c *Client) Rename(ctx context.Context, g Guard, tag, name string) error {
	if name == "" || tag == "" {
		return errors.New("tmux rename-window: empty name or tag")
	}
	cond := g.owner()
	cond.format, cond.want = cond.format+" #{@ccbot_session}", cond.want+" "+tag
	return c.guarded(ctx, "rename-window", g, cond, branches{then: command("rename-window", "-t", g.Pane.String(), "--", literal(windowName(name)))})
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
	args := []string{"-p", "-e", "-t", p.String()}
	if lines > 0 {
		args = append(args, "-S", fmt.Sprintf("-%d", lines))
	}
	rows, err := c.lines(ctx, "capture-pane", command("capture-pane", args...))
	return strings.Join(rows, "\n"), err
}

// AttachCommand is a shell command that brings a person to the window. It uses the id if that is
// valid; otherwise it uses the name, which must then be unique.
func (c *Client) AttachCommand(w WindowID, windowName string) string {
	argv := []string{"tmux"}
	switch {
	case c.place.socket != socketPath(c.place.cfg.Socket, "", os.Getuid()):
		argv = append(argv, "-S", c.place.socket) // the person's shell may not have our TMUX_TMPDIR
	case c.place.cfg.Socket != "":
		argv = append(argv, "-L", c.place.cfg.Socket)
	}
	target := w.String()
	if !w.Valid() {
		target = "=" + c.place.cfg.Session + ":=" + windowName
	}
	argv = append(argv, "attach-session", "-t", target)
	for i, arg := range argv {
		argv[i] = shellQuote(arg)
	}
	return strings.Join(argv, " ")
}

// plainWord matches words that need no quotes in any shell.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./-]+$`)

func shellQuote(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
