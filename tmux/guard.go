package tmux

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"ccbot/internal/logkey"
)

// Paste puts text into the pane as a bracketed paste, with newlines as they are. The text is
// delivered as a whole or not at all; ErrGuard means not at all. The text is UTF-8, and the caller
// has removed characters that must not reach a terminal, above all ESC: tmux before 3.7 passes ESC
// on; newer ones change ESC and bytes that are not UTF-8.
func (c *Client) Paste(ctx context.Context, g Guard, text string) error {
	if text == "" || !utf8.ValidString(text) {
		return errors.New("tmux paste-buffer: text is empty or not UTF-8")
	}
	file, err := c.place.writePaste(text)
	if err != nil {
		return fmt.Errorf("tmux paste-buffer: %w: %w", ErrNotSent, err)
	}
	defer os.Remove(file)
	buffer := "ccbot-" + rand.Text()
	err = c.guarded(ctx, "paste-buffer", g, g.typing(), command("load-buffer", "-b", buffer, literal(file)),
		command("paste-buffer", "-p", "-r", "-d", "-b", buffer, "-t", g.Pane.String()))
	if errors.Is(err, ErrGuard) || errors.As(err, new(*commandError)) {
		// The line has not reached the -d of its paste, so the buffer may still exist. If there is
		// none, that is fine.
		_, _ = c.lines(ctx, "delete-buffer", command("delete-buffer", "-b", buffer))
	}
	return err
}

// Enter presses Enter.
func (c *Client) Enter(ctx context.Context, g Guard) error {
	return c.guarded(ctx, "send-keys", g, g.typing(), "", pressing(g, "Enter"))
}

// Press presses one of the known keys.
func (c *Client) Press(ctx context.Context, g Guard, k Key) error {
	if !k.Valid() {
		return fmt.Errorf("tmux send-keys: key %q", k)
	}
	return c.guarded(ctx, "send-keys", g, g.typing(), "", pressing(g, string(k)))
}

func pressing(g Guard, key string) string { return command("send-keys", "-t", g.Pane.String(), key) }

// LeaveView ends the copy mode or the view mode of a pane, in which a person has scrolled back. Any
// other mode stays, and the error is then ErrGuard. No key is sent.
func (c *Client) LeaveView(ctx context.Context, g Guard) error {
	cond := g.owner()
	cond.format += " #{pane_dead} #{||:#{==:#{pane_mode},copy-mode},#{==:#{pane_mode},view-mode}}"
	cond.want += " 0 1"
	return c.guarded(ctx, "copy-mode", g, cond, "", command("copy-mode", "-q", "-t", g.Pane.String()))
}

// ClosePane closes one pane, alive or dead. Its process gets SIGHUP; other panes of the window
// stay. Only the pid is compared. Nothing else in ccbot closes anything in tmux.
func (c *Client) ClosePane(ctx context.Context, g Guard) error {
	return c.guarded(ctx, "kill-pane", g, g.owner(), "", command("kill-pane", "-t", g.Pane.String()))
}

// condition is a comparison that tmux makes: a format, and the text to which it must expand.
type condition struct{ format, want string }

func (g Guard) check() error {
	switch {
	case !g.Pane.Valid() || g.PID <= 0:
		return fmt.Errorf("%w: pane %q pid %d", ErrNoTarget, g.Pane, g.PID)
	case strings.Contains(g.Command, "\x00"):
		return errNUL
	}
	return nil
}

// owner is the condition that the pane belongs to the pid. The id is compared too, because for a
// missing target tmux may look at another pane. A pane in which tmux could not start a process has
// no pid, and its window still has the tag.
func (g Guard) owner() condition {
	if g.emptied != "" {
		return condition{"#{pane_id} #{pane_pid} #{@ccbot_session}", g.Pane.String() + " -1 " + g.emptied}
	}
	return condition{"#{pane_id} #{pane_pid}", g.Pane.String() + " " + strconv.Itoa(g.PID)}
}

// typing is owner with the condition that the typed text reaches this process and no other: it is
// alive, in no mode, its input is on, it is not synchronised with its neighbours, and the command
// that the guard names is in the foreground.
func (g Guard) typing() condition {
	c := g.owner()
	c.format += " #{pane_dead} #{pane_in_mode} #{pane_input_off} #{pane_synchronized}"
	c.want += " 0 0 0 0"
	if g.Command != "" {
		c.format += " #{pane_current_command}"
		c.want += " " + g.Command
	}
	return c
}

// guarded runs one line: a preparation, which may be empty, a comparison, and commands that run
// only if the pane compares equal. If it does not, if-shell tries to run a command that does not
// exist, and tmux skips the rest of the line. A branch that runs would stay in the memory of the
// server.
func (c *Client) guarded(ctx context.Context, name string, g Guard, cond condition, before, then string) error {
	if err := g.check(); err != nil {
		return fmt.Errorf("tmux %s: %w", name, err)
	}
	a, call, err := c.do(ctx, name, func(marker string) string {
		differs := "#{!=:" + cond.format + "," + operand(cond.want) + "}"
		return join(before, command("if-shell", "-F", "-t", g.Pane.String(), differs, marker+"-refused")+
			" ; "+then+" ; "+command("display-message", "-p", marker+"-done"))
	})
	if failed, ok := errors.AsType[*commandError](err); ok && strings.HasSuffix(failed.Text, call.marker+"-refused") {
		return refused(ctx, c, name, g, cond)
	}
	if err != nil {
		return err
	}
	if _, ok := a.after(call.marker + "-done"); !ok {
		return fmt.Errorf("tmux %s: %w: answer %q", name, ErrLost, a.lines)
	}
	return nil
}

// refused returns the error of an operation that tmux has refused, with the present state of the
// pane.
func refused(ctx context.Context, c *Client, name string, g Guard, cond condition) error {
	a, call, err := c.do(ctx, "display-message", func(marker string) string {
		return command("display-message", "-p", "-t", g.Pane.String(), marker+"-is "+cond.format)
	})
	text, ok := a.after(call.marker + "-is")
	if err != nil || !ok {
		return fmt.Errorf("tmux %s: %w; its state is unknown: %w", name, ErrGuard, errors.Join(err, errors.New(strings.Join(a.lines, "\n"))))
	}
	e := &GuardError{Pane: g.Pane}
	_, e.Want, _ = strings.Cut(cond.want, " ")
	// For a missing pane display-message describes another pane or none.
	if id, state, _ := strings.Cut(text, " "); id == g.Pane.String() {
		e.Got = state
	}
	return e
}

func join(first, second string) string {
	if first == "" {
		return second
	}
	return first + " ; " + second
}

// pastePrefix begins the names of this instance's files next to the socket. They are there because
// tmux and ccbot see that folder alike, even if one of them has a private /tmp.
func (p place) pastePrefix() string { return ".ccbot-" + p.cfg.Instance + "-paste-" }

// writePaste puts the text into a private file. It uses a file, because a set-buffer stays, with
// its text, in the server's message log.
func (p place) writePaste(text string) (path string, err error) {
	file, err := os.CreateTemp(filepath.Dir(p.socket), p.pastePrefix()) // 0600
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		os.Remove(file.Name())
		return "", err
	}
	return file.Name(), nil
}

// removeStalePastes removes files that a crash between writePaste and the removal has left.
func (p place) removeStalePastes() {
	stale, _ := filepath.Glob(filepath.Join(filepath.Dir(p.socket), p.pastePrefix()+"*"))
	for _, path := range stale {
		if err := os.Remove(path); err != nil {
			p.cfg.Log.Warn("paste_not_removed", logkey.Error, err)
		}
	}
}
