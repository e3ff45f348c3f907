package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

const (
	listenTimeout = 30 * time.Second      // of the server, until it listens
	listenPoll    = 20 * time.Millisecond // between two looks at its socket
	endTimeout    = 5 * time.Second       // from TERM to KILL
	maxComplaint  = 4 << 10               // bytes that are kept of what a server prints
)

// title makes the terminal's title name the conversation that it shows.
const title = `tui.terminal_title=["thread-id","run-state"]`

// pane is one run of Codex in a pane.
type pane struct {
	program string
	verb    []string // resume ID, fork ID, or none
	flags   []string // of the person, for the server and the terminal
	home    string   // ccbot's folder
}

// child is a process that has been started.
type child struct {
	cmd  *exec.Cmd
	done chan struct{} // closed at its end
}

// run starts both processes, and returns the exit code of the one that ends first. A server that
// ends first is a failure in any case.
func (p pane) run(parent context.Context) (code int, err error) {
	dir, err := socketFolder(p.home)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, end := context.WithCancel(parent)
	defer end()

	socket := filepath.Join(dir, socketName)
	said := &complaint{}
	serve := exec.CommandContext(ctx, p.program, slices.Concat([]string{"app-server", "--listen", "unix://" + socket}, settings(p.flags))...)
	serve.Stdout, serve.Stderr = said, said
	server, err := start(serve)
	if err != nil {
		return 1, err
	}
	if err := server.awaitListening(ctx, socket); err != nil {
		end()
		<-server.done
		return max(server.exitCode(), 1), fmt.Errorf("%w\n%s", err, said.text)
	}
	if len(p.verb) == 2 && p.verb[0] == "resume" {
		if err := pauseGoal(ctx, socket, p.verb[1]); err != nil {
			fmt.Fprintln(os.Stderr, "ccbot-codex: a goal of the conversation is not paused:", err)
		}
	}
	show := exec.CommandContext(ctx, p.program, slices.Concat(p.verb, []string{"--remote", "unix://" + socket, "-c", title}, p.flags)...)
	show.Stdin, show.Stdout, show.Stderr = os.Stdin, os.Stdout, os.Stderr
	terminal, err := start(show)
	if err != nil {
		end()
		<-server.done
		return 1, err
	}
	select {
	case <-terminal.done:
	case <-server.done:
	}
	asked := parent.Err() != nil
	serverFirst := server.hasEnded() && !terminal.hasEnded()
	end()
	<-terminal.done
	<-server.done
	switch {
	case asked:
		return 0, nil
	case serverFirst:
		return max(server.exitCode(), 1), fmt.Errorf("codex app-server: %v\n%s", server.cmd.ProcessState, said.text)
	}
	return terminal.exitCode(), nil
}

// socketName is the socket in its folder.
const socketName = "s"

// socketFolder makes the folder of a server's socket: in ccbot's folder, because cleaners empty the
// temporary ones while the server runs, and then nobody reaches it. Only if its path is too long for
// a socket it is a temporary one. It removes what killed panes have left.
func socketFolder(home string) (string, error) {
	all := filepath.Join(home, "codex")
	if home == "" || len(filepath.Join(all, "1234567890", socketName)) >= len(syscall.RawSockaddrUnix{}.Path) {
		return os.MkdirTemp("", "ccbot-codex-") // of mode 0700
	}
	if err := os.MkdirAll(all, 0o700); err != nil {
		return "", err
	}
	left, err := os.ReadDir(all)
	if err != nil {
		return "", err
	}
	for _, one := range left {
		path := filepath.Join(all, one.Name())
		if conn, err := net.Dial("unix", filepath.Join(path, socketName)); err == nil {
			_ = conn.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) { // nobody listens
			_ = os.RemoveAll(path) // the next pane tries again
		}
	}
	return os.MkdirTemp(all, "")
}

func (c *child) hasEnded() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// exitCode returns the exit code, or as a shell does 128 and the signal.
func (c *child) exitCode() int {
	if status, is := c.cmd.ProcessState.Sys().(syscall.WaitStatus); is && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return c.cmd.ProcessState.ExitCode()
}

// settings returns the flags that a server takes too: -c and its value.
func settings(flags []string) (taken []string) {
	for i, f := range flags {
		if (f == "-c" || f == "--config") && i+1 < len(flags) {
			taken = append(taken, f, flags[i+1])
		}
	}
	return taken
}

// start starts a child, which gets TERM when the context ends, and KILL later. No other process can
// get them: exec.Cmd waits for the child.
func start(cmd *exec.Cmd) (*child, error) {
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = endTimeout
	cmd.SysProcAttr = endsWithParent()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, done: make(chan struct{})}
	go func() { _ = cmd.Wait(); close(c.done) }() // its state has the exit code
	return c, nil
}

// awaitListening waits until the server takes connections.
func (c *child) awaitListening(ctx context.Context, socket string) error {
	ctx, done := context.WithTimeout(ctx, listenTimeout)
	defer done()
	tick := time.NewTicker(listenPoll)
	defer tick.Stop()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-c.done:
			return fmt.Errorf("codex app-server: %v", c.cmd.ProcessState)
		case <-ctx.Done():
			return fmt.Errorf("codex app-server does not listen: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

// complaint keeps the end of what a server prints. It is read after the server's end.
type complaint struct{ text []byte }

func (c *complaint) Write(p []byte) (int, error) {
	c.text = append(c.text, p...)
	c.text = bytes.Clone(c.text[max(0, len(c.text)-maxComplaint):])
	return len(p), nil
}
