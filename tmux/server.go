package tmux

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ccbot/internal/lazyregexp"
	"ccbot/internal/logkey"
	"ccbot/internal/ownfile"
	"ccbot/internal/pause"
	"ccbot/internal/sockpeer"
)

// Ensure makes what is missing of three things: the server, the session of ccbot's windows with its
// sleeping __main__ window, and the control client's session. It returns when the client is
// connected.
func (c *Client) Ensure(ctx context.Context) error {
	select {
	case c.ensure <- struct{}{}:
		defer func() { <-c.ensure }()
	case <-ctx.Done():
		return fmt.Errorf("ensure tmux: %w", ctx.Err())
	}
	if err := c.ensureServer(ctx); err != nil {
		return err
	}
	panes, err := c.Panes(ctx)
	if err != nil {
		return fmt.Errorf("ensure session %s: %w", c.place.cfg.Session, err)
	}
	if text := c.place.missing(panes); text != "" {
		_, err = c.lines(ctx, "new-session", text)
	}
	if err != nil && !strings.Contains(err.Error(), "duplicate session") {
		return fmt.Errorf("ensure session %s: %w", c.place.cfg.Session, err)
	}
	return nil
}

// ensureServer starts a server if none runs. A server that is ending still holds its socket for
// some hundred milliseconds, and a start at that moment fails, so ensureServer tries again. A
// server that is there and does not answer is not asked again.
func (c *Client) ensureServer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for tries := 0; ; tries++ {
		var err error
		if c.place.absent() {
			c.greeting.Lock()
			err = c.place.startServer(ctx)
			c.greeting.Unlock()
		}
		if err == nil {
			_, err = c.Server(ctx)
		}
		if err == nil {
			return nil
		}
		if errors.Is(err, ErrSilent) {
			return fmt.Errorf("ensure tmux server: %w", err)
		}
		if pause.For(ctx, pause.Doubled(firstPause, startTimeout, tries)) != nil {
			return fmt.Errorf("ensure tmux server: %w", err)
		}
	}
}

// startTimeout bounds the start of a server.
const startTimeout = 10 * time.Second

// place holds where a tmux server listens, or would listen, and how programs are run there. It
// needs no connection.
type place struct {
	cfg     Config
	binary  string // tmux
	envTool string // env
	socket  string // path
	control string // name of the control client's session
	attach  string // shell command that attaches to a target, without the target
	// of every tmux process that ccbot starts; never nil: for nil os/exec would take ccbot's own
	env []string
}

func findPlace(cfg Config) (place, error) {
	if err := checkServer(cfg); err != nil {
		return place{}, err
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	binary, err := exec.LookPath("tmux")
	if err != nil {
		return place{}, fmt.Errorf("%w: %w", ErrNoTmux, err)
	}
	socket := socketPath(cfg.Socket, os.Getenv("TMUX_TMPDIR"), os.Getuid())
	return place{cfg: cfg, binary: binary, socket: socket, control: ControlSession(cfg.Instance), attach: attachTo(cfg.Socket, socket),
		env: append([]string{}, cfg.Env...)}, nil
}

// ControlSession is the name of the session of an instance's control client.
func ControlSession(instance string) string { return "ccbot-ctl-" + instance }

// attachTo returns the shell command that attaches to a target of a server, without the target.
func attachTo(name, socket string) string {
	server := ""
	switch {
	case socket != socketPath(name, "", os.Getuid()):
		server = "-S " + shellQuote(socket) + " " // the person's shell may not have our TMUX_TMPDIR
	case name != "":
		server = "-L " + shellQuote(name) + " "
	}
	return "tmux " + server + "attach-session -t "
}

// checkServer checks what names the server. A test binary is known by the flags of `go test`.
func checkServer(cfg Config) error {
	switch {
	case flag.Lookup("test.v") != nil && (cfg.Socket == "" || cfg.Socket == "default"):
		return ErrDefaultSocket
	case strings.ContainsAny(cfg.Socket, "/\x00"):
		return fmt.Errorf("tmux socket %q: want a name, not a path", cfg.Socket)
	case cfg.Start == nil:
		return errors.New("tmux: Config.Start is missing")
	}
	return nil
}

// socketPath is the socket that `tmux -L name` uses. tmux falls back to /tmp when TMUX_TMPDIR does
// not exist.
func socketPath(name, tmpdir string, uid int) string {
	if name == "" {
		name = "default"
	}
	dir, err := filepath.EvalSymlinks(tmpdir)
	if tmpdir == "" || err != nil {
		dir = "/tmp"
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
	}
	return filepath.Join(dir, fmt.Sprintf("tmux-%d", uid), name)
}

// identify reads a server's own report: its pid and its version. A server keeps running when the
// package is updated, so the version of the program is not enough.
func (p place) identify(said string) (id ServerID, version string, err error) {
	if _, err := fmt.Sscan(said, &id.PID, &version); err != nil {
		return ServerID{}, "", fmt.Errorf("the server says %.80q: %w", said, err)
	}
	if err := tooOld(version); err != nil {
		return ServerID{}, "", fmt.Errorf("running server: %w", err)
	}
	id.Socket = p.socket
	if id.Start, err = p.cfg.Start(id.PID); err != nil {
		return ServerID{}, "", fmt.Errorf("start time of tmux server %d: %w", id.PID, err)
	}
	return id, version, nil
}

// mainWindow keeps a session alive when all other windows are gone.
const mainWindow = "__main__"

// The size of windows without a viewer. tmux's own default is 80×24, and at that size an agent
// folds rows that ccbot reads from its screen.
const (
	width  = "120"
	height = "40"
)

// forever is how long a __main__ window sleeps, in seconds; "infinity" is not known everywhere.
const forever = "2147483647"

// missing returns the commands that complete the session, empty when it is complete.
func (p place) missing(panes []Pane) string {
	own := slices.DeleteFunc(slices.Clone(panes), func(one Pane) bool { return one.Session != p.cfg.Session })
	isMain := func(one Pane) bool { return one.WindowName == mainWindow }
	target := "=" + p.cfg.Session + ":"
	switch {
	case len(own) == 0:
		args := append([]string{"-d", "-s", p.cfg.Session}, p.sleeper()...)
		// A user's destroy-unattached would end the session before anyone can attach; the option
		// comes in the same list, before tmux looks.
		return command("new-session", args...) +
			" ; " + command("set-option", "-t", target, "destroy-unattached", "off")
	case !slices.ContainsFunc(own, isMain):
		return command("new-window", "-d", "-t", target, "-n", mainWindow, "-c", "/", "--", "sleep", forever)
	}
	return ""
}

// sleeper returns the arguments of a new session with a sleeping window. A person who opens another
// window there begins at home.
func (p place) sleeper() []string {
	home := "/"
	for _, kv := range p.env {
		if dir, ok := strings.CutPrefix(kv, "HOME="); ok && filepath.IsAbs(dir) {
			home = dir
			break
		}
	}
	return []string{"-n", mainWindow, "-x", width, "-y", height, "-c", literal(home), "--", "sleep", forever}
}

func (p place) startServer(ctx context.Context) error {
	// as tmux -L does
	if err := os.Mkdir(filepath.Dir(p.socket), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("start tmux server: %w", err)
	}
	if err := p.private(); err != nil {
		return fmt.Errorf("start tmux server: %w", err)
	}
	argv := append([]string{p.binary, "-u", "-S", p.socket, "new-session", "-d", "-s", p.control}, p.sleeper()...)
	// before tmux looks
	argv = append(argv, ";", "set-option", "-t", "="+p.control+":", "destroy-unattached", "off")
	scoped, env := scope(argv, p.env, os.LookupEnv, exec.LookPath)
	_, err := output(ctx, scoped, env)
	if err != nil && len(scoped) != len(argv) && p.absent() {
		// A system service has no user manager. The server then lives in our own control group and
		// may end with us.
		p.cfg.Log.WarnContext(ctx, "tmux_server_without_scope", logkey.Error, err)
		_, err = output(ctx, argv, p.env)
	}
	if err != nil {
		return fmt.Errorf("start tmux server: %w", err)
	}
	p.cfg.Log.InfoContext(ctx, "tmux_server_started", logkey.Socket, p.socket)
	return nil
}

// output runs a program.
func output(ctx context.Context, argv, env []string) (string, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = env, "/"
	cmd.WaitDelay = closeGrace
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return string(out), err
}

// scope puts argv into a systemd scope when ccbot runs under systemd, so that stopping ccbot's unit
// does not end the agents. systemd-run needs the address of the user's manager in its environment.
// Variables for that which env itself does not have are removed again before argv runs.
func scope(argv, env []string, lookup func(string) (string, bool), find func(string) (string, error)) (scoped, scopedEnv []string) {
	if _, ok := lookup("INVOCATION_ID"); !ok {
		return argv, env
	}
	run, err := find("systemd-run")
	if err != nil {
		return argv, env
	}
	scoped = []string{run, "--user", "--scope", "--quiet", "--collect", "--", "env"}
	scopedEnv = slices.Clone(env)
	for _, name := range []string{"XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"} {
		value, ok := lookup(name)
		if !ok || slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") }) {
			continue
		}
		scopedEnv = append(scopedEnv, name+"="+value)
		scoped = append(scoped, "-u", name)
	}
	return append(scoped, argv...), scopedEnv
}

// controlArgv attaches the control client, and makes its session if it was closed. -N makes it fail
// if there is no server. no-output suppresses the output of the panes; ignore-size keeps our size
// from mattering.
func (p place) controlArgv() []string {
	argv := []string{p.binary, "-u", "-N", "-S", p.socket, "-C", "new-session", "-A", "-s", p.control, "-f", "no-output,ignore-size"}
	return append(argv, p.sleeper()...)
}

// serverProgram returns the program of the running server, for the control client: one of another version may print nothing but %exit
// (3.8 at servers of 3.3a and 3.5a). It is ccbot's tmux if the server runs that file, or if its file is not known, as on macOS. A file
// that an update has removed is still there by this path.
func (p place) serverProgram() string {
	conn, err := net.DialTimeout("unix", p.socket, time.Second)
	if err != nil {
		return p.binary
	}
	defer conn.Close()
	program := p.binary
	_ = sockpeer.Look(conn, func(pid, _ int) error {
		path := fmt.Sprintf("/proc/%d/exe", pid)
		runs, err := os.Stat(path)
		if err != nil {
			return err
		}
		if installed, err := os.Stat(p.binary); err != nil || !os.SameFile(runs, installed) {
			program = path
		}
		return nil
	})
	return program
}

// waitForEarlier waits until the control client of a ccbot that was killed has ended. A server up to tmux 3.6 crashes, with all agents in
// it, if it tells its clients that one has left while another one's greeting is half read (tmux's issue 4980, measured with 3.3a: 13 of
// 150 times). A client that stays for longer than leaving takes is not leaving: a server up to 3.6 keeps for ever what it could not send.
func (p place) waitForEarlier(ctx context.Context) error {
	if p.cfg.Runs == nil {
		return nil
	}
	for until := time.Now().Add(leavingTime); p.cfg.Runs(ctx, p.controlArgv()) && time.Now().Before(until); {
		if err := pause.For(ctx, firstPause); err != nil {
			return err
		}
	}
	return nil
}

// leavingTime is far above the some milliseconds that a control client takes to end after its ccbot.
const leavingTime = 500 * time.Millisecond

// absent is proven when nothing listens on the socket. A server whose socket file was removed is
// "absent" too, although it lives on; therefore programs in panes are judged by their processes,
// and not by this.
func (p place) absent() bool {
	conn, err := net.DialTimeout("unix", p.socket, time.Second)
	if err == nil {
		conn.Close()
		return false
	}
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED)
}

// private refuses a socket's folder that other users may enter, as tmux -L does: a server that
// another user has put there would be given the environment, and the prompts, of agents.
func (p place) private() error {
	dir := filepath.Dir(p.socket)
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || ownfile.Owner(info) != os.Getuid() || info.Mode().Perm()&0o007 != 0 {
		return fmt.Errorf("%w: %s", ErrFolder, dir)
	}
	return nil
}

// MinVersion is the oldest tmux that works. 3.2 introduced features that are used here: -N,
// list-panes -f, the n: format, client flags with new-session -f.
const MinVersion = "3.2"

// release matches "3.3a", "next-3.4" and the like; a build without a number ("master") is newer
// than any of them.
var release = lazyregexp.New(`^(?:next-)?(\d+)\.(\d+)`)

// Installed finds tmux and asks its version, such as "3.5a". The error is ErrNoTmux, ErrTooOld, or
// a reason why the program does not run.
func Installed(env []string) (version string, err error) {
	binary, err := exec.LookPath("tmux")
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoTmux, err)
	}
	return checkVersion(binary, env)
}

// checkVersion asks tmux for its version, in the environment that all tmux processes of ccbot get.
func checkVersion(binary string, env []string) (version string, err error) {
	cmd := exec.Command(binary, "-V")
	cmd.Env = append([]string{}, env...) // never nil: for nil os/exec would take ccbot's own
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", binary, err)
	}
	version = strings.TrimSpace(strings.TrimPrefix(string(out), "tmux "))
	return version, tooOld(version)
}

// tooOld returns an ErrTooOld with both versions, or nil. OpenBSD's own versions ("openbsd-7.5")
// have no tmux number and pass.
func tooOld(version string) error {
	if !older(version, 3, 2) {
		return nil
	}
	return fmt.Errorf("%w: it is %s, needed is %s", ErrTooOld, version, MinVersion)
}

// CrashFixed is the first version whose server survives a session that is made or ended while a control client attaches (tmux's issue
// 4980). ccbot itself does neither then, but another program may.
const CrashFixed = "3.7"

// MayCrash reports whether a server of a version is known to be older than CrashFixed.
func MayCrash(version string) bool { return older(version, 3, 7) }

// older reports whether a version is known to be older than major.minor.
func older(version string, major, minor int) bool {
	m := release.FindStringSubmatch(version)
	if m == nil {
		return false
	}
	is, _ := strconv.Atoi(m[1])
	point, _ := strconv.Atoi(m[2])
	return is < major || is == major && point < minor
}
