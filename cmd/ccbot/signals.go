package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal makes a context that the first SIGTERM or SIGINT ends. The second one ends the
// process at once, with what is on disk.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// untilHangup makes a context that also a hang-up of the terminal ends. Further ones are ignored,
// because a terminal that is closed sends more than one. Nothing is changed under nohup.
func untilHangup(ctx context.Context) context.Context {
	if !signal.Ignored(syscall.SIGHUP) {
		ctx, _ = signal.NotifyContext(ctx, syscall.SIGHUP) // for the life of the process
	}
	return ctx
}

// hasTerminal reports whether the process has a terminal that can hang up.
func hasTerminal() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	tty.Close()
	return true
}

// hangups are the requests to read the settings again: SIGHUP, where no terminal can send it.
func hangups() (requests <-chan os.Signal) {
	c := make(chan os.Signal, 1)
	if !hasTerminal() {
		signal.Notify(c, syscall.SIGHUP)
	}
	return c
}

// outliveLog keeps the process alive after the reader of its log has gone. SIGPIPE is caught, not
// ignored: an ignored signal stays ignored over an exec, in tmux and in the agents.
func outliveLog() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
