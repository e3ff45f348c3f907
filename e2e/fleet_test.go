package e2e

import (
	"cmp"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/addresstest"
)

// hubProcess is a ccbot-hub in a process of its own.
type hubProcess struct {
	w       *world
	dir     string
	address string
	program string // empty: the present one
	cmd     *exec.Cmd
}

// newHub makes the key of a hub. It needs a trust.json, and start.
func (w *world) newHub() (h *hubProcess, pin string) {
	w.t.Helper()
	h = &hubProcess{w: w, dir: w.t.TempDir(), address: addresstest.Free(w.t)}
	out, err := h.command("pin").Output()
	require.NoError(w.t, err)
	w.t.Cleanup(h.kill)
	return h, strings.TrimSpace(string(out))
}

func (h *hubProcess) command(args ...string) *exec.Cmd {
	cmd := exec.Command(cmp.Or(h.program, filepath.Join(binaries, "ccbot-hub")), args...)
	cmd.Env = []string{"CCBOT_HUB_DIR=" + h.dir, "CCBOT_HUB_LISTEN=" + h.address}
	return cmd
}

func (h *hubProcess) start() {
	h.w.t.Helper()
	h.cmd = h.command()
	h.cmd.Stderr = os.Stderr
	require.NoError(h.w.t, h.cmd.Start())
	h.w.until("the hub listens", func() bool {
		c, err := net.Dial("tcp", h.address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}

func (h *hubProcess) kill() {
	if h.cmd != nil {
		_ = h.cmd.Process.Kill()
		_ = h.cmd.Wait()
		h.cmd = nil
	}
}

// file returns what a line has printed so far.
func (c called) file() string {
	data, _ := os.ReadFile(c.path + ".out")
	return string(data)
}

var (
	joinCode    = regexp.MustCompile(`ccbot join (\S+)`)
	fingerprint = regexp.MustCompile(`[0-9A-F]{4}-[0-9A-F]{4}`)
)

// offer lets a machine join under a name, and answers the question of the fingerprint when file is
// there.
func (t terminal) offer(name, file, decision string) (offered called, code string) {
	t.w.t.Helper()
	offered = t.call("(until [ -e " + file + " ]; do sleep 0.1; done; echo " + decision + ") | ccbot host add " + name)
	t.w.until("the code is shown", func() bool { return joinCode.MatchString(offered.file()) })
	return offered, joinCode.FindStringSubmatch(offered.file())[1]
}

// join joins with another folder than the bot's, as another machine would.
func (w *world) join(dir, code string) *botProcess {
	w.t.Helper()
	bot := w.bot
	defer func() { w.bot = bot }()
	return w.run([]string{"join", code}, "HOME="+dir, "CCBOT_DIR="+dir+"/state")
}

// let is the whole join of a machine.
func (t terminal) let(name, dir, decision string) (here called, there *botProcess) {
	t.w.t.Helper()
	file := filepath.Join(dir, "compared")
	here, code := t.offer(name, file, decision)
	there = t.w.join(dir, code)
	shown := func() []string { return fingerprint.FindAllString(here.file()+there.log.String(), -1) }
	t.w.until("both show a fingerprint", func() bool { return len(shown()) == 2 })
	assert.Equal(t.w.t, shown()[0], shown()[1])
	require.NoError(t.w.t, os.WriteFile(file, nil, 0o600))
	t.w.until("the other machine has an answer", there.over)
	return here, there
}

// TestP8_MachineJoins lets a second machine in with the programs that people have, kills the bot
// and the hub, and takes the rights back.
func TestP8_MachineJoins(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "CCBOT_MACHINE=attic")
	w.start()
	term := w.newTerminal()
	assert.Contains(t, term.fails("ccbot host list"), "the fleet has no hub")
	assert.NoDirExists(t, filepath.Join(w.state, "fleet"))
	hub, pin := w.newHub()
	term.says("ccbot host hub " + hub.address + " " + pin + " > " + hub.dir + "/trust.json")
	hub.start()

	assert.Equal(t, "[]\n", term.says("ccbot host list --json"))
	here, there := term.let("B", t.TempDir(), "y")
	code, out, errs := here.end()
	require.Zero(t, code, errs)
	assert.Contains(t, out, "B has joined")
	assert.Contains(t, there.log.String(), "has joined the chat of attic as B")
	assert.Contains(t, term.fails("ccbot host add b"), "a machine has this name")

	here, there = term.let("C", t.TempDir(), "n")
	code, _, errs = here.end()
	assert.Equal(t, 1, code)
	assert.Contains(t, errs, "C was refused")
	assert.Contains(t, there.log.String(), "did not let this machine in")

	w.kill9()
	hub.kill()
	require.NoError(t, os.RemoveAll(filepath.Join(hub.dir, "store")))
	hub.start()
	w.start()
	assert.Regexp(t, `^B  [a-z0-9]{8}  unknown; not heard`, term.says("ccbot host list"))
	assert.Regexp(t, `(?s)^\[.*"name": "B".*"state": "unknown"`, term.says("ccbot host list --json"))
	w.until("the hub is reached", func() bool { return strings.Contains(w.bot.log.String(), "msg=hub_reached") })
	assert.Contains(t, term.says("ccbot host remove B"), "B was removed")
	assert.Empty(t, term.says("ccbot host list"))
}
