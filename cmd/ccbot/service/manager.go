package service

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Runner runs a command and returns what it prints. An error says what went wrong in one line.
type Runner func(ctx context.Context, argv ...string) (out string, err error)

// manager is a service manager.
type manager interface {
	name() string
	file() string
	text(p Program) string
	start(p Program) string // the line of the text that names the program
	answers(ctx context.Context, run Runner) error
	// load makes the file count, and starts the service unless it runs.
	load(ctx context.Context, run Runner, changed bool) error
	unload(ctx context.Context, run Runner) error
	restart(ctx context.Context, run Runner) error
	logs(p Program) []string
	look(ctx context.Context, run Runner, s *State)
	byHand() string // what load does, for a person
}

// systemd is the user's own manager.
type systemd struct {
	folder string // of the units
	user   string
}

func (systemd) name() string           { return "systemd" }
func (m systemd) file() string         { return filepath.Join(m.folder, "ccbot.service") }
func (systemd) text(p Program) string  { return Unit(p) }
func (systemd) start(p Program) string { return unitStart(p) }
func (systemd) logs(Program) []string {
	return []string{"journalctl", "--user", "-u", label, "-n", "100", "-f"}
}
func (systemd) byHand() string {
	return "systemctl --user daemon-reload && systemctl --user enable --now ccbot"
}
func systemctl(verb ...string) []string { return append([]string{"systemctl", "--user"}, verb...) }

func (systemd) answers(ctx context.Context, run Runner) error {
	_, err := run(ctx, systemctl("daemon-reload")...)
	return err
}

func (systemd) load(ctx context.Context, run Runner, _ bool) error {
	_, err := run(ctx, systemctl("enable", "--now", label)...)
	return err
}

func (systemd) unload(ctx context.Context, run Runner) error {
	_, err := run(ctx, systemctl("disable", "--now", label)...)
	return err
}

func (systemd) restart(ctx context.Context, run Runner) error {
	_, err := run(ctx, systemctl("restart", label)...)
	return err
}

func (m systemd) look(ctx context.Context, run Runner, s *State) {
	out, err := run(ctx, systemctl("show", label, "--property=ActiveState,SubState,ActiveEnterTimestamp,MainPID,StatusText,NRestarts")...)
	if err != nil {
		s.Problem = fmt.Sprintf("systemd does not answer: %v", err)
		return
	}
	values := make(map[string]string)
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[key] = value
	}
	s.Active, s.State, s.Says = values["ActiveState"] == "active", values["ActiveState"]+" ("+values["SubState"]+")", values["StatusText"]
	s.PID, _ = strconv.Atoi(values["MainPID"])
	s.Restarts, _ = strconv.Atoi(values["NRestarts"])
	// The form without an option: --timestamp is not known before systemd 247, and its unix not before 251.
	if at, err := time.Parse("Mon 2006-01-02 15:04:05 UTC", values["ActiveEnterTimestamp"]); err == nil {
		s.Since = at
	}
	if out, err := run(ctx, "loginctl", "show-user", m.user, "--property=Linger", "--value"); err == nil {
		s.Lingers = strings.TrimSpace(out)
	}
}

// launchd is the manager of the user's agents.
type launchd struct {
	folder string // of the agents
	user   string
}

func (launchd) name() string           { return "launchd" }
func (m launchd) file() string         { return filepath.Join(m.folder, "ccbot.plist") }
func (launchd) text(p Program) string  { return Plist(p) }
func (launchd) start(p Program) string { return plistStart(p) }
func (launchd) logs(p Program) []string {
	return []string{"tail", "-n", "100", "-F", logFile(p)}
}
func (m launchd) domain() string { return "gui/" + m.user }
func (m launchd) target() string { return m.domain() + "/" + label }
func (m launchd) byHand() string { return "launchctl bootstrap " + m.domain() + " " + m.file() }

func (m launchd) answers(ctx context.Context, run Runner) error {
	_, err := run(ctx, "launchctl", "print", m.domain())
	return err
}

// load takes an agent of an older file out first: launchd reads a file only when it loads it.
func (m launchd) load(ctx context.Context, run Runner, changed bool) error {
	if m.loaded(ctx, run) && !changed {
		return nil
	}
	if err := m.unload(ctx, run); err != nil {
		return err
	}
	if _, err := run(ctx, "launchctl", "enable", m.target()); err != nil {
		return err
	}
	_, err := run(ctx, "launchctl", "bootstrap", m.domain(), m.file())
	return err
}

func (m launchd) loaded(ctx context.Context, run Runner) bool {
	_, err := run(ctx, "launchctl", "print", m.target())
	return err == nil
}

func (m launchd) unload(ctx context.Context, run Runner) error {
	if !m.loaded(ctx, run) {
		return nil
	}
	_, err := run(ctx, "launchctl", "bootout", m.target())
	return err
}

func (m launchd) restart(ctx context.Context, run Runner) error {
	_, err := run(ctx, "launchctl", "kickstart", "-k", m.target())
	return err
}

var (
	launchdState = regexp.MustCompile(`(?m)^\s*state = (.*)$`)
	launchdPID   = regexp.MustCompile(`(?m)^\s*pid = (\d+)$`)
)

func (m launchd) look(ctx context.Context, run Runner, s *State) {
	out, err := run(ctx, "launchctl", "print", m.target())
	if err != nil {
		s.Problem = fmt.Sprintf("launchd does not have it: %v", err)
		return
	}
	if found := launchdState.FindStringSubmatch(out); found != nil {
		s.State, s.Active = found[1], found[1] == "running"
	}
	if found := launchdPID.FindStringSubmatch(out); found != nil {
		s.PID, _ = strconv.Atoi(found[1])
	}
}
