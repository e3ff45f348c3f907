package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"
)

// hostNames are the names of the further machines of a trial.
var hostNames = []string{"desktop", "server"}

// host is a further machine of the first ccbot, which runs `ccbot host run`.
type host struct {
	place
	pid int
}

// makeHosts makes the further machines of the trial.
func (t *trial) makeHosts() {
	for _, name := range hostNames[:t.machines-1] {
		t.hosts = append(t.hosts, &host{place: place{trial: t, machine: name, folder: name, socket: t.socket + "-" + name}})
	}
}

// fleet lets the further machines of a trial join its first ccbot.
type fleet struct {
	*trial
	environ []string // of the person
	stderr  io.Writer
}

// start runs a hub, and lets each machine join. All of it runs until ctx ends.
func (f *fleet) start(ctx context.Context, g *errgroup.Group) error {
	if len(f.hosts) == 0 {
		return nil
	}
	if err := f.startHub(ctx, g); err != nil {
		return err
	}
	for _, h := range f.hosts {
		if err := f.join(ctx, h); err != nil {
			return fmt.Errorf("the machine %s: %w", h.machine, err)
		}
		if err := f.startHost(ctx, g, h); err != nil {
			return fmt.Errorf("the machine %s: %w", h.machine, err)
		}
	}
	return nil
}

// startHub runs a hub on a free port.
func (f *fleet) startHub(ctx context.Context, g *errgroup.Group) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		return err
	}
	path, err := program("ccbot-hub")
	if err != nil {
		return err
	}
	folder := f.bots[0].path("hub")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, path, append(args, "--dir", folder, "--listen", address)...)
		cmd.Stderr = f.stderr
		endsWith(cmd)
		return cmd
	}
	pin, err := command("pin").Output()
	if err != nil {
		return fmt.Errorf("ccbot-hub: %w", err)
	}
	chat := f.bots[0].place
	trust, err := f.output(chat.command(ctx, chat.environ(f.environ), "host", "hub", address, strings.TrimSpace(string(pin))))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "trust.json"), []byte(trust), 0o600); err != nil {
		return err
	}
	g.Go(func() error { return ended(ctx, "ccbot-hub", command().Run()) })
	return nil
}

// ended returns the error of a program that ended, unless it was asked to.
func ended(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.New(name + " ended: " + fmt.Sprint(err)) // its exit code is not the ccbot's
}

// output returns what a command of ccbot prints.
func (f *fleet) output(cmd *exec.Cmd, err error) (string, error) {
	if err != nil {
		return "", err
	}
	cmd.Stderr = f.stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("ccbot %s: %w", cmd.Args[1], err)
	}
	return string(out), nil
}

// join lets a machine join. Nobody compares its fingerprint, because both sides are this program.
func (f *fleet) join(ctx context.Context, h *host) error {
	if err := os.MkdirAll(h.path("state"), 0o700); err != nil {
		return err
	}
	if _, err := h.makeDemo(); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	chat := f.bots[0].place
	add, err := chat.command(ctx, chat.environ(f.environ), "host", "add", h.machine)
	if err != nil {
		return err
	}
	var said strings.Builder // also the question
	add.Stdin, add.Stderr = strings.NewReader("y\n"), &said
	out, err := add.StdoutPipe()
	if err != nil {
		return err
	}
	if err := add.Start(); err != nil {
		return err
	}
	for lines := bufio.NewScanner(out); err == nil && lines.Scan(); {
		if code, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), "ccbot join "); ok {
			_, err = f.output(h.command(ctx, h.environ(f.environ), "join", code))
		}
	}
	if err != nil { // or add waits for ten minutes
		stop()
	}
	if err = errors.Join(err, add.Wait()); err != nil {
		err = fmt.Errorf("%w\n%s", err, said.String())
	}
	return err
}

// environ is the environment of the machine. The demo agent's folder is in its home folder.
func (h *host) environ(environ []string) []string {
	all := h.place.environ(environ)
	if h.agent == "demo" {
		all = append(all, "HOME="+h.path(""))
	}
	return all
}

// startHost runs the sessions of a machine.
func (f *fleet) startHost(ctx context.Context, g *errgroup.Group, h *host) error {
	cmd, err := h.command(ctx, h.environ(f.environ), "host", "run")
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = f.out, f.stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	h.pid = cmd.Process.Pid
	g.Go(func() error { return ended(ctx, "ccbot host run", cmd.Wait()) })
	return nil
}
