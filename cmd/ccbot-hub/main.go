package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"ccbot/cmd/ccbot/exit"
	"ccbot/fleet/hub"
	"ccbot/fleet/rights"
	"ccbot/internal/disk"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	p := program{getenv: os.Getenv, stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(p.main(ctx, os.Args[1:])) //nolint:gocritic // the end of the process ends the signals too
}

// program has the environment and the outputs of a command.
type program struct {
	getenv         func(string) string
	stdout, stderr io.Writer
}

const usage = `usage: ccbot-hub [flags]        run the hub
       ccbot-hub pin [flags]    print the pin of the hub's key, and make the key if there is none
       ccbot-hub unit           print a systemd unit of this user for the hub

flags:
`

// main runs a command and returns the exit code.
func (p program) main(ctx context.Context, args []string) int {
	verb := ""
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		verb, args = args[0], args[1:]
	}
	s, err := p.parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exit.OK
	case err == nil:
		err = p.run(ctx, verb, s)
	}
	if err == nil {
		return exit.OK
	}
	_, _ = fmt.Fprintln(p.stderr, "ccbot-hub:", err)
	return exit.Code(err)
}

// settings are the flags.
type settings struct {
	listen, dir, trust string
	maxStore           int64 // MiB
}

// parse reads the flags. A flag that is not given has the value of its variable.
func (p program) parse(args []string) (settings, error) {
	s := settings{listen: p.env("CCBOT_HUB_LISTEN", "0.0.0.0:4443"), dir: p.env("CCBOT_HUB_DIR", p.defaultDir())}
	var err error
	if s.maxStore, err = strconv.ParseInt(p.env("CCBOT_HUB_MAX_STORE", "4096"), 10, 64); err != nil {
		return s, exit.Usage(fmt.Errorf("CCBOT_HUB_MAX_STORE: %w", err))
	}
	s.trust = p.getenv("CCBOT_HUB_TRUST")
	flags := s.flags()
	err = flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, _ = fmt.Fprint(p.stdout, usage)
		flags.SetOutput(p.stdout)
		flags.PrintDefaults()
		return s, err
	case err != nil:
		return s, exit.Usage(err)
	case flags.NArg() > 0:
		return s, exit.Usage(fmt.Errorf("unknown argument %q; see ccbot-hub --help", flags.Arg(0)))
	case s.maxStore < rights.MaxDisk>>20:
		return s, exit.Usage(fmt.Errorf("--max-store is %d MiB, but the hub needs at least %d MiB", s.maxStore, rights.MaxDisk>>20))
	case s.dir == "":
		return s, exit.Usage(errors.New("no home folder; set --dir"))
	}
	if s.trust == "" {
		s.trust = filepath.Join(s.dir, "trust.json")
	}
	return s, nil
}

// flags returns the flags, whose defaults are the present settings.
func (s *settings) flags() *flag.FlagSet {
	flags := flag.NewFlagSet("ccbot-hub", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&s.listen, "listen", s.listen, "`HOST:PORT` on which the hub listens")
	flags.StringVar(&s.dir, "dir", s.dir, "`folder` of the key and the store")
	flags.StringVar(&s.trust, "trust", s.trust, "`file` about the fleet that the hub serves (default trust.json in the folder)")
	flags.Int64Var(&s.maxStore, "max-store", s.maxStore, fmt.Sprintf("largest size of the store in `MiB`, at least %d", rights.MaxDisk>>20))
	return flags
}

func (p program) env(name, otherwise string) string {
	if value := p.getenv(name); value != "" {
		return value
	}
	return otherwise
}

func (p program) defaultDir() string {
	if state := p.getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "ccbot-hub")
	}
	if home := p.getenv("HOME"); home != "" {
		return filepath.Join(home, ".local", "state", "ccbot-hub")
	}
	return ""
}

func (p program) run(ctx context.Context, verb string, s settings) error {
	switch verb {
	case "":
		return p.serve(ctx, s)
	case "pin":
		pin, err := hub.OpenPin(s.dir)
		if err == nil {
			_, err = fmt.Fprintf(p.stdout, "%x\n", pin[:])
		}
		return err
	case "describe-commands":
		return json.NewEncoder(p.stdout).Encode(p.describe())
	case "unit":
		program, err := os.Executable()
		if err == nil {
			_, err = fmt.Fprintf(p.stdout, unit, program)
		}
		return err
	}
	return exit.Usage(fmt.Errorf("unknown command %q; see ccbot-hub --help", verb))
}

// serve runs the hub until ctx ends.
func (p program) serve(ctx context.Context, s settings) error {
	data, err := disk.ReadFile(s.trust)
	var trust rights.Trust
	if err == nil {
		err = json.Unmarshal(data, &trust)
	}
	if err != nil {
		return exit.Usage(fmt.Errorf("read the fleet; the chat's machine makes the file: %w", err))
	}
	h, err := hub.Open(hub.Settings{Folder: s.dir, Listen: s.listen, Trust: trust, MaxStore: s.maxStore << 20, Log: lines{p.stderr}})
	if err != nil {
		return err
	}
	defer h.Close()
	pin := h.Pin()
	if _, err := fmt.Fprintf(p.stdout, "listening on %s, pin %x\n", h.Address(), pin[:]); err != nil {
		return err
	}
	return h.Run(ctx)
}

const unit = `[Unit]
Description=Hub of ccbot
After=network-online.target

[Service]
ExecStart=%s
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2
NoNewPrivileges=yes

[Install]
WantedBy=default.target
`

// lines writes the server's warnings and errors.
type lines struct{ to io.Writer }

func (l lines) write(level, format string, args ...any) {
	_, _ = fmt.Fprintf(l.to, "ccbot-hub: "+level+": "+format+"\n", args...)
}

func (l lines) Noticef(string, ...any) {}
func (l lines) Debugf(string, ...any)  {}
func (l lines) Tracef(string, ...any)  {}
func (l lines) Warnf(format string, args ...any) {
	if !strings.Contains(format, "TLS Handshake First") { // which is so by design
		l.write("warning", format, args...)
	}
}
func (l lines) Errorf(format string, args ...any) { l.write("error", format, args...) }
func (l lines) Fatalf(format string, args ...any) { l.write("fatal", format, args...) }
