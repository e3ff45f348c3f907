package e2e

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/stretchr/testify/require"

	"ccbot/internal/waittest"
)

// manager stands in for systemd with one unit: it starts the program with only the unit's
// environment and a notify socket, stops only the main process, and restarts it according to
// Restart=, RestartPreventExitStatus= and StartLimitBurst=.
type manager struct {
	w      *world
	unit   map[string][]string
	socket string

	mu     sync.Mutex
	ready  int  // number of readiness notices
	starts int  // of the program
	tries  int  // of them since a person has started it
	wanted bool // it should run
	over   chan struct{}
	failed int // the exit code after which it is not started again
}

// manage reads a unit and listens.
func manage(w *world, file string) *manager {
	w.t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(w.t, err)
	m := &manager{w: w, unit: make(map[string][]string), socket: filepath.Join(filepath.Dir(w.state), "notify")}
	for line := range strings.Lines(string(data)) {
		if key, value, found := strings.Cut(strings.TrimSpace(line), "="); found && !strings.HasPrefix(key, "#") {
			m.unit[key] = append(m.unit[key], value)
		}
	}
	require.Equal(w.t, []string{"notify"}, m.unit["Type"])
	require.Equal(w.t, []string{"process"}, m.unit["KillMode"], "else all that the service has started ends with it")
	require.Equal(w.t, []string{"on-failure"}, m.unit["Restart"])
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: m.socket, Net: "unixgram"})
	require.NoError(w.t, err)
	go m.listen(conn)
	w.t.Cleanup(func() {
		m.stop()
		_ = conn.Close()
	})
	return m
}

func (m *manager) listen(conn net.Conn) {
	buf := make([]byte, 4096)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		if strings.Contains(string(buf[:n]), "READY=1") {
			m.mu.Lock()
			m.ready++
			m.mu.Unlock()
		}
	}
}

// unquoted is a word of a unit as the program gets it.
func unquoted(word string) string {
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, "%%", "%").Replace(strings.Trim(word, `"`))
}

// startLocked runs the program once more.
func (m *manager) startLocked() {
	program, args, _ := strings.Cut(m.unit["ExecStart"][0][1:], `"`)
	cmd := exec.Command(unquoted(program), strings.Fields(args)...)
	b := &botProcess{cmd: cmd, log: &lockedBuffer{}, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = b.log, b.log, &syscall.SysProcAttr{Setsid: true}
	cmd.Env = []string{"HOME=" + filepath.Dir(m.w.state), "LANG=C.UTF-8", "PATH=/usr/bin:/bin", "DEMOAGENT_LOG=" + m.w.sent,
		"NOTIFY_SOCKET=" + m.socket, "WATCHDOG_USEC=300000000", "INVOCATION_ID=" + strconv.Itoa(m.starts), endsAtOnce}
	for _, kv := range m.unit["Environment"] {
		cmd.Env = append(cmd.Env, unquoted(kv))
	}
	m.starts++
	m.tries++
	m.w.bot, m.over = b, make(chan struct{})
	if err := cmd.Start(); err != nil {
		m.w.t.Errorf("start: %v", err)
		close(b.done)
		close(m.over)
		return
	}
	go m.watch(b, m.over)
}

// watch starts the program again after an end that is a failure.
func (m *manager) watch(b *botProcess, over chan struct{}) {
	defer close(over)
	_ = b.cmd.Wait()
	close(b.done)
	m.mu.Lock()
	defer m.mu.Unlock()
	status := b.cmd.ProcessState.Sys().(syscall.WaitStatus)
	clean := status.ExitStatus() == 0 || status.Signaled() && slices.Contains([]syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE}, status.Signal())
	if !m.wanted || clean {
		return
	}
	prevented := slices.Contains(strings.Fields(m.unit["RestartPreventExitStatus"][0]), strconv.Itoa(status.ExitStatus()))
	if prevented || strconv.Itoa(m.tries) == m.unit["StartLimitBurst"][0] {
		m.failed, m.wanted = status.ExitStatus(), false
		return
	}
	m.startLocked()
}

// start starts the program; with wait it returns when the program has said that it is up.
func (m *manager) start(wait bool) {
	m.w.t.Helper()
	m.mu.Lock()
	before := m.ready
	m.wanted, m.failed, m.tries = true, 0, 0
	m.startLocked()
	m.mu.Unlock()
	if wait {
		m.isUp(before)
	}
}

// isUp waits until the program has said that it is up once more.
func (m *manager) isUp(before int) {
	m.w.t.Helper()
	m.w.until("the service is up", func() bool { return m.count(&m.ready) > before })
}

// count reads a figure.
func (m *manager) count(n *int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return *n
}

// main is the program that runs now.
func (m *manager) main() (b *botProcess, over chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.w.bot, m.over
}

// stop terminates the main process, and waits for its end.
func (m *manager) stop() {
	m.mu.Lock()
	m.wanted = false
	m.mu.Unlock()
	b, over := m.main()
	if b == nil || b.over() {
		return
	}
	_ = b.cmd.Process.Signal(syscall.SIGTERM)
	waittest.Next(m.w.t, over, "the service stops:\n%s", b.log.String)
}
