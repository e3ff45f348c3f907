package running

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"ccbot/cmd/ccbot/socket"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/control"
	"ccbot/internal/process"
)

// stopTimeout is longer than a clean stop takes.
const stopTimeout = 30 * time.Second

// stopBody names the bot that a person wants to end: another one may have the folder when the call
// arrives.
type stopBody struct {
	PID int `json:"pid"`
}

// stopping ends the running bot as SIGTERM does.
var stopping = Change[stopBody, struct{}]{Verb: "stop", do: func(_ context.Context, s *system, body stopBody) (did struct{}, err error) {
	switch body.PID {
	case 0:
		return did, control.Refuse(control.CodeMalformed, "not the process of a bot")
	case os.Getpid():
		s.stop()
		return did, nil
	}
	return did, control.Refuse(control.CodeRefused, "another bot has the folder now")
}}

// Stop asks the bot that holds the lock of a folder to end, and waits until it has ended. No signal
// is sent. It returns nil if there is no bot.
func Stop(ctx context.Context, dir string, table *process.Table) error {
	pid, _ := statefolder.RunningBot(dir, table)
	bot, err := table.Identify(pid)
	if pid == 0 || err != nil {
		return nil // the lock names no process that lives
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	err = socket.Ask(ctx, dir, stopping.Verb, stopBody{pid}, &struct{}{})
	if refusal := (*control.Refusal)(nil); errors.As(err, &refusal) && refusal.Code == control.CodeUnknown {
		return fmt.Errorf("the bot, process %d, is older than this ccbot: end it in the terminal or by the service that started it", pid)
	}
	if err != nil && !errors.Is(err, control.ErrLost) && !errors.Is(err, control.ErrNoServer) {
		return err
	}
	if err := table.Wait(ctx, bot); err != nil {
		return fmt.Errorf("the bot, process %d, does not end: %w", pid, err)
	}
	return nil
}
