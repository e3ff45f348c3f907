package tmux

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
)

// Inspect asks a server once, with one tmux command and without a control client, for its identity
// and its panes, as Client.Server and Client.Panes return them. It changes nothing: it starts no
// server, makes no session, and nudges no dead pane for its status. Of cfg it uses Socket, Session
// (may be empty), Env and Start. The errors are ErrNoTmux, ErrTooOld, ErrDefaultSocket and
// ErrNoServer, which is proven, also where it comes with ErrFolder; after any other error nothing is known.
func Inspect(ctx context.Context, cfg Config) (ServerID, []Pane, error) {
	p, err := findPlace(cfg)
	if err != nil {
		return ServerID{}, nil, err
	}
	none := fmt.Errorf("%w on %s", ErrNoServer, p.socket)
	if p.absent() {
		if err := p.private(); errors.Is(err, ErrFolder) { // no server can be started there
			none = fmt.Errorf("%w: %w", none, err)
		}
		return ServerID{}, nil, none
	}
	if err := p.private(); err != nil {
		return ServerID{}, nil, fmt.Errorf("look at tmux: %w", err)
	}
	sep := "ccbot-" + rand.Text() + "|"
	out, err := p.ask(ctx, "display-message", "-p", "#{pid} #{version}", ";", "list-panes", "-a", "-F", paneFormat(sep, true))
	switch {
	case err != nil && p.absent(): // the server ended during the call
		return ServerID{}, nil, none
	case err != nil:
		return ServerID{}, nil, fmt.Errorf("look at tmux: %w", err)
	}
	said, rows, _ := strings.Cut(out, "\n")
	server, _, err := p.identify(said)
	if err != nil {
		return ServerID{}, nil, fmt.Errorf("look at tmux: %w", err)
	}
	panes, err := panesIn(strings.TrimSuffix(rows, "\n"), sep, cfg.Session, true)
	return server, panes, err
}

// ask runs one tmux command list and returns its output. -N keeps tmux from starting a server again
// that ends at this moment.
func (p place) ask(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := withAnswerTimeout(ctx)
	defer cancel()
	out, err := output(ctx, append([]string{p.binary, "-u", "-N", "-S", p.socket}, args...), p.env)
	if cause := context.Cause(ctx); errors.Is(cause, context.DeadlineExceeded) {
		return "", fmt.Errorf("%w: %w", ErrSilent, cause)
	}
	return out, cmp.Or(ctx.Err(), err)
}
