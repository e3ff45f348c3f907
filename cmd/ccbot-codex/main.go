package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
)

func main() {
	runtime.LockOSThread() // the kernel ends the children when the thread that started them ends
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	p, err := parse(os.Args[1:])
	code := 2
	if err == nil {
		p.home = os.Getenv("CCBOT_DIR")
		code, err = p.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ccbot-codex:", err)
	}
	os.Exit(code)
}

// parse reads a command line, as codex.Starter makes it.
func parse(args []string) (p pane, err error) {
	end := slices.Index(args, "--")
	if end < 4 || args[0] != "--codex" || args[2] != "--conversation" {
		return p, errors.New("usage: ccbot-codex --codex PROGRAM --conversation ID [resume ID | fork ID] -- FLAGS")
	}
	return pane{program: args[1], verb: args[4:end], flags: args[end+1:]}, nil
}
