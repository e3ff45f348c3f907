package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"github.com/google/renameio/v2"

	"ccbot/internal/ownfile"
)

// Service is ccbot as a service of its user.
type Service struct {
	Program Program
	Run     Runner
	Out     io.Writer // for reports of the steps
	manager manager
}

// New is the service on a system. units is the folder of systemd's configuration, $XDG_CONFIG_HOME;
// if it is empty or not absolute, the default counts, as for systemd itself.
func New(goos, units string, uid int, p Program, run Runner, out io.Writer) *Service {
	s := &Service{Program: p, Run: run, Out: out}
	user := fmt.Sprint(uid)
	if goos == "darwin" {
		s.manager = launchd{folder: filepath.Join(p.Home, "Library", "LaunchAgents"), user: user}
		return s
	}
	if !filepath.IsAbs(units) {
		units = filepath.Join(p.Home, ".config")
	}
	s.manager = systemd{folder: filepath.Join(units, "systemd", "user"), user: user}
	return s
}

// State is the state of the service.
type State struct {
	Manager   string `json:"manager"` // systemd or launchd
	File      string `json:"file"`
	Installed bool   `json:"installed"`
	Changed   bool   `json:"changed_by_hand"`
	Current   bool   `json:"current"`          // the file does what an install would write now
	Same      bool   `json:"same_program"`     // it runs the program that looks
	Starts    string `json:"starts,omitempty"` // the program, as the file names it
	// CCBOT_DIR, as the file names it; empty: its default
	StateDir string    `json:"-"`
	Active   bool      `json:"-"`
	Known    *bool     `json:"active,omitempty"` // Active, where the manager has answered
	State    string    `json:"state,omitempty"`  // in the manager's words
	Report   string    `json:"says,omitempty"`   // ccbot's last report to the manager
	Since    time.Time `json:"active_since,omitzero"`
	PID      int       `json:"pid,omitempty"`
	Restarts *int      `json:"restarts,omitempty"` // launchd does not count them
	Lingers  string    `json:"lingers,omitempty"`  // yes or no; empty: not known
	Problem  string    `json:"problem,omitempty"`
}

// State returns the state of the service. It is read-only.
func (s *Service) State(ctx context.Context) (State, error) {
	m := s.manager
	state := State{Manager: m.name(), File: m.file()}
	old, there, err := read(m.file())
	if err != nil || !there {
		return state, err
	}
	state.Installed, state.Changed, state.Current = true, !untouched(old), s.current(old)
	state.Starts, state.StateDir = m.starts(old), m.stateDir(old)
	state.Same = state.Starts == m.starts(m.text(s.Program))
	if m.look(ctx, s.Run, &state); state.Problem == "" {
		state.Known = new(state.Active)
	}
	return state, nil
}

// current reports whether a text is what an install would write now, apart from a PATH in which the
// same programs are found.
func (s *Service) current(text string) bool {
	p := s.Program
	p.Path = s.manager.path(text)
	return text == s.manager.text(p) && slices.Equal(p.finds(p.Path), p.finds(s.Program.Path))
}

// errChanged says that the file is a person's.
var errChanged = errors.New("it is not as `ccbot service install` wrote it, so it was left alone")

// Install writes the file and makes the service run now and at each login. If no service manager
// answers, it writes the file and prints the remaining steps.
func (s *Service) Install(ctx context.Context, force bool) error {
	m := s.manager
	if err := s.Program.check(); err != nil {
		return err
	}
	text := m.text(s.Program)
	old, there, err := read(m.file())
	if err != nil {
		return err
	}
	if there && !untouched(old) && !force {
		fmt.Fprint(s.Out, udiff.Unified(m.file(), "the files that install would write", old, text))
		return fmt.Errorf("%s: %w; --force overwrites it", m.file(), errChanged)
	}
	if old == text {
		fmt.Fprintln(s.Out, "unchanged:", m.file())
	} else if err := s.write(text); err != nil {
		return err
	}
	if err := m.answers(ctx, s.Run); err != nil {
		_, err = fmt.Fprintf(s.Out, "%s does not answer (%v), so this is left to run, once it does: %s\n", m.name(), err, m.byHand())
		return err
	}
	var before State
	m.look(ctx, s.Run, &before)
	if err := m.load(ctx, s.Run, old != text); err != nil {
		return fmt.Errorf("the file is written, but the service does not start: %w; see `ccbot service logs`", err)
	}
	return s.started(ctx, before, old != text)
}

// started reports the result of an install.
func (s *Service) started(ctx context.Context, before State, changed bool) error {
	var now State
	until(ctx, 2*time.Second, func(context.Context) bool { // launchd starts it a moment later
		now = State{}
		s.manager.look(ctx, s.Run, &now)
		return now.Active || now.Problem != ""
	})
	if now.Problem != "" {
		return fmt.Errorf("%w: %s", ErrUnknown, now.Problem)
	}
	if !now.Active {
		fmt.Fprintln(s.Out, "state:", now.State)
		return ErrOff
	}
	lines := []string{fmt.Sprintf("ccbot runs as a service, process %d; its log: ccbot service logs", now.PID)}
	if changed && now.PID == before.PID {
		lines = append(lines, "it runs with the earlier file until: ccbot service restart")
	}
	if now.Lingers == "no" {
		lines = append(lines, lingerHint)
	}
	_, err := fmt.Fprintln(s.Out, strings.Join(lines, "\n"))
	return err
}

// lingerHint is for users whose processes end with their last login.
const lingerHint = "it ends when you log out; that it runs on, and from boot on, takes: loginctl enable-linger"

func (s *Service) write(text string) error {
	file := s.manager.file()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := renameio.WriteFile(file, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	_, err := fmt.Fprintln(s.Out, "written:", file)
	return err
}

// Uninstall stops the service and removes what Install has made. The agents live on.
func (s *Service) Uninstall(ctx context.Context, force bool) error {
	m := s.manager
	old, there, err := read(m.file())
	if err != nil {
		return err
	}
	if !there {
		_, err := fmt.Fprintln(s.Out, "nothing to remove: there is no", m.file())
		return err
	}
	if !untouched(old) && !force {
		return fmt.Errorf("%s: %w; `ccbot service uninstall --force` removes it", m.file(), errChanged)
	}
	answers := m.answers(ctx, s.Run)
	if answers == nil {
		if err := m.unload(ctx, s.Run); err != nil {
			return fmt.Errorf("stop the service: %w", err)
		}
	}
	if err := os.Remove(m.file()); err != nil {
		return err
	}
	fmt.Fprintln(s.Out, "removed:", m.file())
	if answers != nil {
		_, err = fmt.Fprintf(s.Out, "%s does not answer (%v), so a service that runs was not stopped\n", m.name(), answers)
		return err
	}
	return m.answers(ctx, s.Run) // systemd forgets the unit
}

// Restart restarts the service; the agents live on.
func (s *Service) Restart(ctx context.Context) error {
	if err := s.installed(); err != nil {
		return err
	}
	if err := s.manager.restart(ctx, s.Run); err != nil {
		return fmt.Errorf("restart the service: %w", err)
	}
	return nil
}

// Stop stops the service until Restart, or until a later login (with lingering: the next start of
// the machine); the agents live on.
func (s *Service) Stop(ctx context.Context) error {
	if err := s.installed(); err != nil {
		return err
	}
	if err := s.manager.stop(ctx, s.Run); err != nil {
		return fmt.Errorf("stop the service: %w", err)
	}
	_, err := fmt.Fprintln(s.Out,
		"ccbot is stopped until a later login (with lingering: the next start of the machine), or until: ccbot service restart")
	return err
}

// The errors about a service.
var (
	ErrNotInstalled = errors.New("ccbot is not installed as a service; `ccbot service install` does that")
	ErrOff          = errors.New("the service does not run; `ccbot service restart` starts it, `ccbot service logs` shows what happened")
	ErrUnknown      = errors.New("it is not known whether the service runs")
)

// Logs is the part of the log to show.
type Logs struct {
	Lines  int    // the last ones, unless Since is given
	Since  string // a time as journalctl reads it
	Follow bool   // show new lines until interrupted
}

// LogCommand returns the command that shows a part of the log.
func (s *Service) LogCommand(l Logs) ([]string, error) {
	if err := s.installed(); err != nil {
		return nil, err
	}
	return s.manager.logs(s.Program, l)
}

func (s *Service) installed() error {
	_, there, err := read(s.manager.file())
	if err == nil && !there {
		err = ErrNotInstalled
	}
	return err
}

// maxFile bounds the file of a service, also one of a person's.
const maxFile = 1 << 20

// read returns a file. A link to no file is there and has no text; so is a unit that systemctl has
// masked.
func read(file string) (text string, there bool, err error) {
	data, err := ownfile.Read(file, maxFile, ownfile.Links|ownfile.Others)
	to, _ := os.Readlink(file)
	if errors.Is(err, fs.ErrNotExist) || to == os.DevNull {
		return "", to != "", nil
	}
	return string(data), true, err
}
