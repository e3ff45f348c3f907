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

// bound is the longest life of a hook that does not wait. It is shorter than the timeout in the
// settings, after which Claude Code would kill the hook and show that to the person.
const bound = 3 * time.Second

func main() {
	// A closing window hangs up its whole process group while SessionEnd is being noted. The
	// signals are caught, not ignored: an ignored one cannot be made deadly again (signal.Reset
	// leaves it), and stays ignored over an exec.
	swallowed := make(chan os.Signal, 1)
	signal.Notify(swallowed, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	o := parse(os.Args[1:])
	if o.rows {
		quietly(func() error { return passRows(o) })
		os.Exit(0)
	}
	if o.status {
		os.Exit(statusLine(o))
	}
	// Neither a read of stdin nor a write to a hanging disk can be called off, so the bound is the
	// process's end.
	timer := time.AfterFunc(bound, func() { os.Exit(0) })
	h := hook{options: o, stdin: os.Stdin, stdout: os.Stdout, getenv: os.Getenv, now: time.Now, outlive: func() {
		timer.Stop()
		// Stop waits for a signal that the process has and the channel has not yet; Reset does not
		signal.Stop(swallowed)
		if len(swallowed) > 0 {
			os.Exit(0) // the signal came before that was known
		}
	}}
	quietly(h.run)
	os.Exit(0)
}

// quietly runs f and keeps silent about its error or panic: an event that is lost costs ccbot a
// notice, while a hook that complains costs the person their prompt.
func quietly(f func() error) {
	defer func() { _ = recover() }()
	_ = f()
}

// hook is one run for one event.
type hook struct {
	options
	stdin   io.Reader
	stdout  io.Writer // written to by ask only
	getenv  func(string) string
	now     func() time.Time
	outlive func() // takes the bound and the deafness to signals away
}

// run does what the payload on stdin asks for.
func (h hook) run() error {
	launch := h.launchOf(h.getenv)
	if !isFolder(h.dir) || h.installed && launch != "" {
		return nil
	}
	payload, err := hookwire.ReadPayload(h.stdin)
	if err != nil {
		return err
	}
	switch payload.Name() {
	case hookwire.SessionStart, hookwire.UserPromptSubmit, hookwire.Stop, hookwire.StopFailure, hookwire.SessionEnd,
		hookwire.PostToolUse:
		return h.note(launch, payload.Event())
	case hookwire.PermissionRequest:
		return h.ask(launch, payload.Ask())
	}
	return nil
}

// note writes the event, and the binding if the event has one.
func (h hook) note(launch string, event hookwire.Event) error {
	event.Received = h.now().UTC()
	event.Launch = launch
	event.Pane, event.Tmux = h.getenv("TMUX_PANE"), h.getenv("TMUX")
	event.Boot = hookwire.BootID()
	event.TranscriptSize = sizeOf(event.TranscriptPath)
	var err error
	// Without a proven process the event is still useful for the launch; only the binding needs the
	// process.
	event.AgentPID, event.AgentStart, err = hookwire.ClaudeProcess(h.getenv)
	// These name the session that the process runs from now on. The others look back: at /clear a
	// slow SessionEnd of the old session would undo the SessionStart of the new one.
	if err == nil && (event.Name == hookwire.SessionStart || event.Name == hookwire.UserPromptSubmit) {
		quietly(func() error {
			_, err := hookwire.WriteBinding(h.dir, hookwire.BindingOf(event))
			return err
		})
	}
	if launch == "" {
		return nil
	}
	return hookwire.WriteEvent(h.dir, event)
}

// options are the arguments.
type options struct {
	dir       string
	launch    string // the record id of the launch
	installed bool
	status    bool
	rows      bool
	wrap      string // the person's status line command, or ""
}

// launchOf returns the launch that the hook belongs to, "" for a session that was started by hand.
// The variable counts for the installed hook, and for launches of an older ccbot, whose command
// line has no --launch.
func (o options) launchOf(getenv func(string) string) string {
	if o.launch != "" {
		return o.launch
	}
	return getenv("CCBOT_LAUNCH")
}

// parse reads the few arguments by hand: package flag would print about the ones it does not know.
func parse(args []string) options {
	var o options
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if takesValue := name == "--dir" || name == "--launch" || name == "--wrap"; takesValue && !joined && i+1 < len(args) {
			i++
			value = args[i]
		}
		switch name {
		case "--dir":
			o.dir = value
		case "--launch":
			o.launch = value
		case "--wrap":
			o.wrap = value
		case "--installed":
			o.installed = true
		case "--status":
			o.status = true
		case "--rows":
			o.rows = true
		}
	}
	return o
}

func isFolder(dir string) bool {
	info, err := os.Stat(dir)
	return dir != "" && err == nil && info.IsDir()
}

// sizeOf is 0 for a file that is not there (yet).
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
