package main

import (
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"ccbot/internal/hookwire"
)

// bound is the longest life of a hook. It is shorter than the timeout in the settings, after which Claude Code would
// kill the hook and tell the person about it.
const bound = 3 * time.Second

func main() {
	// A closing window hangs up its whole process group while SessionEnd is being noted.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE)
	// Neither a read of stdin nor a write to a hanging disk can be called off, so the bound is the process's end.
	time.AfterFunc(bound, func() { os.Exit(0) })
	quietly(func() error { return run(os.Args[1:], os.Stdin, os.Getenv, time.Now) })
	os.Exit(0)
}

// quietly runs f and keeps silent about its error or panic: an event that is lost costs ccbot a notice, while a hook
// that complains costs the person their prompt.
func quietly(f func() error) {
	defer func() { _ = recover() }()
	_ = f()
}

// run notes the payload read from stdin.
func run(args []string, stdin io.Reader, getenv func(string) string, now func() time.Time) error {
	dir, installed := parse(args)
	launch := getenv("CCBOT_LAUNCH")
	if !isFolder(dir) || installed && launch != "" {
		return nil
	}
	payload, err := hookwire.ReadPayload(stdin)
	if err != nil {
		return err
	}
	event := payload.Event()
	if !noted(event.Name) {
		return nil
	}
	event.Received = now().UTC()
	event.Launch = launch
	event.Pane, event.Tmux = getenv("TMUX_PANE"), getenv("TMUX")
	event.Boot = hookwire.BootID()
	if info, err := os.Stat(event.TranscriptPath); err == nil {
		event.TranscriptSize = info.Size()
	}
	// Without a proven process the event still tells what happened in the launch; only the binding needs the process.
	event.ClaudePID, event.ClaudeStart, err = hookwire.ClaudeProcess(getenv)
	if err == nil && binds(event.Name) {
		quietly(func() error { return bind(dir, event) })
	}
	if launch == "" {
		return nil
	}
	return hookwire.WriteEvent(dir, event)
}

func bind(dir string, e hookwire.Event) error {
	_, err := hookwire.WriteBinding(dir, hookwire.BindingOf(e))
	return err
}

// parse reads the few arguments by hand: package flag would print about the ones it does not know.
func parse(args []string) (dir string, installed bool) {
	for i, arg := range args {
		switch {
		case arg == "--installed":
			installed = true
		case arg == "--dir" && i+1 < len(args):
			dir = args[i+1]
		case strings.HasPrefix(arg, "--dir="):
			dir = strings.TrimPrefix(arg, "--dir=")
		}
	}
	return dir, installed
}

func isFolder(dir string) bool {
	info, err := os.Stat(dir)
	return dir != "" && err == nil && info.IsDir()
}

func noted(event string) bool {
	switch event {
	case hookwire.SessionStart, hookwire.UserPromptSubmit, hookwire.Stop, hookwire.StopFailure, hookwire.SessionEnd:
		return true
	}
	return false
}

// binds names the events that tell which session the process runs from now on. The others look back: at /clear a slow
// SessionEnd of the old session would undo what SessionStart of the new one has said.
func binds(event string) bool {
	return event == hookwire.SessionStart || event == hookwire.UserPromptSubmit
}
