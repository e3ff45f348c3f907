package socket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/control"
	"ccbot/internal/hookwire"
)

// verbPing asks whether the bot is there. Like every verb that is for people it is kept from
// agents.
const verbPing = "ping"

// ReplyTimeout bounds the wait for a reply of the bot to a ping.
const ReplyTimeout = 5 * time.Second

// Ask makes the running bot carry out a verb. Without a bot the error is control.ErrNoServer.
func Ask(ctx context.Context, dir, verb string, body, reply any) error {
	path := filepath.Join(dir, hookwire.SocketName)
	if err := ping(ctx, dir, path); err != nil {
		return err
	}
	asked, err := json.Marshal(body)
	if err != nil {
		return err
	}
	raw, err := control.Do(ctx, path, hookwire.Call{Verb: verb, Body: asked})
	if errors.Is(err, control.ErrLost) {
		return fmt.Errorf("ccbot exited before it replied; check with `ccbot list`: %w", err)
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, reply); err != nil {
		return fmt.Errorf("ccbot's answer cannot be read; is it of the same version? %w", err)
	}
	return nil
}

// ping finds out whether a bot answers at all, before the real call gets as long as it needs, and
// whether the bot serves this program.
func ping(ctx context.Context, dir, path string) error {
	ctx, cancel := context.WithTimeout(ctx, ReplyTimeout)
	defer cancel()
	_, err := control.Do(ctx, path, hookwire.Call{Verb: verbPing})
	switch refusal := (*control.Refusal)(nil); {
	case errors.As(err, &refusal) && refusal.Code != control.CodeForbidden:
		return nil // any answer counts, also the refusal of an older bot
	case errors.Is(err, context.DeadlineExceeded):
		return Silent(dir)
	}
	return err
}

// ErrSilent says that a bot is there which does not answer.
var ErrSilent = errors.New("its socket does not answer")

// Silent names the process that holds the lock although its socket does not answer.
func Silent(dir string) error {
	return fmt.Errorf("ccbot runs as process %d for %s and %w: it may still be starting, so try again, or look at its log",
		statefolder.Holder(dir), dir, ErrSilent)
}

// Send makes the running bot send a file into the chat of the session that this program runs in.
func Send(ctx context.Context, dir, path, caption string) error {
	body, err := json.Marshal(sendCall{Path: path, Caption: caption})
	if err == nil {
		_, err = control.Do(ctx, filepath.Join(dir, hookwire.SocketName), hookwire.Call{Verb: hookwire.VerbSend, Body: body})
	}
	return err
}
