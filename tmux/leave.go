package tmux

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// controlPrefix begins the names of the sessions of control clients; the instance follows.
const controlPrefix = "ccbot-ctl-"

// ControlledBy returns the instance of the ccbot whose control client's session has this name, and
// "" for any other session.
func ControlledBy(session string) (instance string) {
	instance, _ = strings.CutPrefix(session, controlPrefix)
	if instance == session {
		return ""
	}
	return instance
}

// IsSleeper reports whether a pane is the one that Ensure makes to keep a session alive. args are
// the arguments of the pane's process.
func IsSleeper(p Pane, args []string) bool {
	return p.WindowName == mainWindow && slices.Equal(args, []string{"sleep", forever})
}

// Leave makes the server end the control client's session as soon as this client has disconnected,
// if that session has nothing but one pane, and no other client shows it then.
func (c *Client) Leave(ctx context.Context) error {
	target := "=" + c.place.control + ":"
	_, err := c.lines(ctx, "set-option", command("if-shell", "-F", "-t", target, "#{==:#{session_windows} #{window_panes},1 1}")+
		" { "+command("set-option", "-t", target, "destroy-unattached", "on")+" }")
	if err != nil {
		return fmt.Errorf("leave tmux: %w", err)
	}
	return nil
}
