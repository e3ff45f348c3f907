package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"ccbot/internal/lazyregexp"
	"ccbot/internal/pause"
)

// Runner runs a command and returns its output. An error describes the failure in one line.
type Runner func(ctx context.Context, argv ...string) (out string, err error)

// do runs a command for its error only.
func (run Runner) do(ctx context.Context, argv ...string) error {
	_, err := run(ctx, argv...)
	return err
}

// manager is a service manager.
type manager interface {
	name() string
	file() string
	text(p Program) string
	starts(text string) string   // the program that a text names; empty: none
	stateDir(text string) string // the CCBOT_DIR that a text names; empty: none
	path(text string) string     // the PATH that a text names; empty: none
	answers(ctx context.Context, run Runner) error
	// load makes the file count, and starts the service unless it runs.
	load(ctx context.Context, run Runner, changed bool) error
	unload(ctx context.Context, run Runner) error
	stop(ctx context.Context, run Runner) error // until restart, or the manager's next start
	restart(ctx context.Context, run Runner) error
	logs(p Program, l Logs) ([]string, error)
	look(ctx context.Context, run Runner, s *State)
	byHand() string // load as a command, for a person
}

// systemd is the user's own manager.
type systemd struct {
	folder string // of the units
	user   string
}

func (systemd) name() string          { return "systemd" }
func (m systemd) file() string        { return filepath.Join(m.folder, "ccbot.service") }
func (systemd) text(p Program) string { return Unit(p) }
func (systemd) logs(_ Program, l Logs) ([]string, error) {
	argv := []string{"journalctl", "--user", "-u", label, "-n", strconv.Itoa(l.Lines)}
	if l.Since != "" {
		argv = append(argv[:4], "--since", l.Since)
	}
	if l.Follow {
		argv = append(argv, "-f")
	}
	return argv, nil
}
func (systemd) byHand() string {
	return "systemctl --user daemon-reload && systemctl --user enable --now ccbot"
}

func systemctl(ctx context.Context, run Runner, verb ...string) error {
	return run.do(ctx, append([]string{"systemctl", "--user"}, verb...)...)
}

func (systemd) answers(ctx context.Context, run Runner) error {
	return systemctl(ctx, run, "daemon-reload")
}
func (systemd) load(ctx context.Context, run Runner, _ bool) error {
	return systemctl(ctx, run, "enable", "--now", label)
}
func (systemd) unload(ctx context.Context, run Runner) error {
	return systemctl(ctx, run, "disable", "--now", label)
}
func (systemd) stop(ctx context.Context, run Runner) error { return systemctl(ctx, run, "stop", label) }
func (systemd) restart(ctx context.Context, run Runner) error {
	// Without this systemd refuses a service that has started too often. It fails if there is
	// nothing to reset.
	_ = systemctl(ctx, run, "reset-failed", label)
	return systemctl(ctx, run, "restart", label)
}

func (m systemd) look(ctx context.Context, run Runner, s *State) {
	out, err := run(ctx, "systemctl", "--user", "show", label, "--property=ActiveState,SubState,ActiveEnterTimestamp,MainPID,StatusText,NRestarts")
	if err != nil {
		s.Problem = fmt.Sprintf("systemd does not answer: %v", err)
		return
	}
	values := make(map[string]string)
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[key] = value
	}
	s.Active, s.State, s.Report = values["ActiveState"] == "active", values["ActiveState"]+" ("+values["SubState"]+")", values["StatusText"]
	s.PID, _ = strconv.Atoi(values["MainPID"])
	if n, err := strconv.Atoi(values["NRestarts"]); err == nil {
		s.Restarts = &n
	}
	// The form without an option: --timestamp is not known before systemd 247, and its unix not
	// before 251.
	if at, err := time.Parse("Mon 2006-01-02 15:04:05 UTC", values["ActiveEnterTimestamp"]); err == nil {
		s.Since = at
	}
	if out, err := run(ctx, "loginctl", "show-user", m.user, "--property=Linger", "--value"); err == nil {
		s.Lingers = strings.TrimSpace(out)
	}
}

var unitStarts = lazyregexp.New(`(?m)^ExecStart=(.*)$`)

func (systemd) starts(text string) string { return firstMatch(unitStarts, text) }

var (
	unitState = lazyregexp.New(`(?m)^Environment="CCBOT_DIR=((?:[^"\\]|\\.)*)"$`)
	unitPath  = lazyregexp.New(`(?m)^Environment="PATH=((?:[^"\\]|\\.)*)"$`)
)

// unitPlain takes back what unitWord does.
var unitPlain = strings.NewReplacer(`\\`, `\`, `\"`, `"`, "%%", "%")

func (systemd) stateDir(text string) string { return unitPlain.Replace(firstMatch(unitState, text)) }
func (systemd) path(text string) string     { return unitPlain.Replace(firstMatch(unitPath, text)) }

// firstMatch is the first group of an expression, where it matches.
func firstMatch(re *lazyregexp.Regexp, text string) string {
	if m := re.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// until polls so, and reports whether it becomes true in time: service managers send no events.
func until(ctx context.Context, timeout time.Duration, so func(context.Context) bool) bool {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for !so(ctx) {
		if pause.For(ctx, 100*time.Millisecond) != nil {
			return false
		}
	}
	return true
}

// launchd is the manager of the user's agents.
type launchd struct {
	folder string // of the agents
	user   string
}

func (launchd) name() string          { return "launchd" }
func (m launchd) file() string        { return filepath.Join(m.folder, "ccbot.plist") }
func (launchd) text(p Program) string { return Plist(p) }
func (launchd) logs(p Program, l Logs) ([]string, error) {
	argv := []string{"tail", "-n", strconv.Itoa(l.Lines)}
	if l.Since != "" {
		return nil, errors.New("--since: launchd keeps the log in a file without an index of times; --lines looks back")
	}
	if l.Follow {
		argv = append(argv, "-F")
	}
	return append(argv, logFile(p)), nil
}
func (m launchd) domain() string { return "gui/" + m.user }
func (m launchd) target() string { return m.domain() + "/" + label }
func (m launchd) byHand() string { return "launchctl bootstrap " + m.domain() + " " + m.file() }

func (m launchd) answers(ctx context.Context, run Runner) error {
	return run.do(ctx, "launchctl", "print", m.domain())
}

// load removes an agent of an older file first: launchd reads a file only when it loads it. A
// loaded agent may rest, as after an end with the exit code 0.
func (m launchd) load(ctx context.Context, run Runner, changed bool) error {
	var now State
	m.look(ctx, run, &now)
	switch {
	case changed:
		if err := m.unload(ctx, run); err != nil {
			return err
		}
	case now.Active:
		return nil
	case now.Problem != "":
		return errors.New(now.Problem)
	case now.State != notLoaded:
		return run.do(ctx, "launchctl", "kickstart", m.target())
	}
	if err := run.do(ctx, "launchctl", "enable", m.target()); err != nil {
		return err
	}
	return run.do(ctx, "launchctl", "bootstrap", m.domain(), m.file())
}

// print shows the agent, which may not be loaded. After an error it is not known whether it is.
func (m launchd) print(ctx context.Context, run Runner) (out string, loaded bool, err error) {
	out, err = run(ctx, "launchctl", "print", m.target())
	if err != nil && strings.Contains(err.Error(), "Could not find service") {
		return "", false, nil
	}
	return out, err == nil, err
}

const notLoaded = "not loaded"

// longestEnd is longer than the ExitTimeOut of the agent.
const longestEnd = 40 * time.Second

// unload returns once launchd has forgotten the agent: bootout may be back, even with an error,
// while the agent still ends, and until then launchd loads no other one.
func (m launchd) unload(ctx context.Context, run Runner) error {
	_, loaded, unknown := m.print(ctx, run)
	if unknown == nil && !loaded {
		return nil
	}
	err := run.do(ctx, "launchctl", "bootout", m.target())
	if until(ctx, longestEnd, func(ctx context.Context) bool {
		_, loaded, unknown = m.print(ctx, run)
		return unknown == nil && !loaded
	}) {
		return nil
	}
	if unknown != nil {
		unknown = fmt.Errorf("%w: %w", ErrUnknown, unknown)
	}
	return cmp.Or(ctx.Err(), unknown, err, errors.New("launchd still has it"))
}

func (m launchd) stop(ctx context.Context, run Runner) error { return m.unload(ctx, run) }

func (m launchd) restart(ctx context.Context, run Runner) error {
	_, loaded, err := m.print(ctx, run)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if !loaded {
		return m.load(ctx, run, false)
	}
	return run.do(ctx, "launchctl", "kickstart", "-k", m.target())
}

var (
	plistStarts  = lazyregexp.New(`<key>ProgramArguments</key>\s*<array>\s*<string>(.*?)</string>`)
	plistPath    = lazyregexp.New(`<key>PATH</key>\s*<string>(.*?)</string>`)
	plistState   = lazyregexp.New(`<key>CCBOT_DIR</key>\s*<string>(.*?)</string>`)
	launchdState = lazyregexp.New(`(?m)^\s*state = (.*)$`)
	launchdPID   = lazyregexp.New(`(?m)^\s*pid = (\d+)$`)
)

func (launchd) starts(text string) string {
	return html.UnescapeString(firstMatch(plistStarts, text))
}

func (launchd) stateDir(text string) string {
	return html.UnescapeString(firstMatch(plistState, text))
}

func (launchd) path(text string) string { return html.UnescapeString(firstMatch(plistPath, text)) }

func (m launchd) look(ctx context.Context, run Runner, s *State) {
	out, loaded, err := m.print(ctx, run)
	if err != nil {
		s.Problem = fmt.Sprintf("launchd does not answer: %v", err)
		return
	}
	if !loaded {
		s.State = notLoaded
		return
	}
	s.State = firstMatch(launchdState, out)
	s.Active = s.State == "running"
	s.PID, _ = strconv.Atoi(firstMatch(launchdPID, out))
}
