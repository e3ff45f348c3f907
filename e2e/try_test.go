package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/longtest"
	"ccbot/internal/process"
	"ccbot/internal/programtest"
	"ccbot/try/botapi/pagetest"
)

// TestTryInABrowser does the first steps of a new person: start `ccbot try`, open the printed
// address, start a session, ask, read the answer, end it. After Ctrl-C nothing is left.
func TestTryInABrowser(t *testing.T) {
	longtest.Mark(t, "starts a browser")
	t.Parallel()
	home, tmp := t.TempDir(), t.TempDir()
	w, cmd, out, page := tries(t, home, tmp)
	page.Send("code")
	page.WaitText("No session is open")
	demo, err := filepath.Glob(filepath.Join(tmp, "ccbot-try-*", "demo"))
	require.NoError(t, err)
	require.Len(t, demo, 1)
	shown := demo[0]
	if len(shown) > 60 {
		shown = "…" + shown[len(shown)-59:]
	}
	page.Tap("Start in " + shown) // one tap from the first text to its answer
	page.WaitText("func ")
	shoot(t, page, "try-phone")
	page.Look(pagetest.Look{Width: 1100, Height: 800, Dark: true})
	shoot(t, page, "try-desktop-dark")
	page.Send("/kill")
	page.Tap("Kill")
	page.WaitText("is archived")
	assert.Empty(t, page.Problems(), "console errors")

	socket := regexp.MustCompile(`ccbot-try-[0-9a-f]+`).FindString(out.String())
	w.socket = socket
	table, err := process.NewTable()
	require.NoError(t, err)
	w.table = table
	processes := w.panes()
	require.NotEmpty(t, processes)
	require.NoError(t, cmd.end())
	assert.Equal(t, 0, cmd.ProcessState.ExitCode(), out.String())
	for _, id := range processes {
		assert.Equal(t, process.Gone, table.Liveness(id), "process %d", id.PID)
	}
	for _, dir := range []string{home, tmp} {
		left, err := filepath.Glob(filepath.Join(dir, "*ccbot*"))
		require.NoError(t, err)
		assert.Empty(t, left, "folders left behind")
	}
	left, err := filepath.Glob("/tmp/tmux-*/" + socket)
	require.NoError(t, err)
	assert.Empty(t, left, "socket left behind")
	assert.NotContains(t, strings.ToLower(out.String()), "data race")
}

// TestTryWithTwoBots puts two bots into a group on one page and chooses the first.
func TestTryWithTwoBots(t *testing.T) {
	longtest.Mark(t, "starts a browser")
	t.Parallel()
	tmp := t.TempDir()
	_, cmd, out, page := tries(t, t.TempDir(), tmp, "--topics", "group", "--bots", "2")
	page.Send("/default")
	page.WaitText("@laptop_bot on laptop acts on texts and commands")
	page.Send("/default@desktop_bot")
	page.WaitText("@desktop_bot on desktop acts on texts and commands")
	page.Send("/here@laptop_bot")
	page.Send("/usage@desktop_bot")
	page.Send("hello")
	page.WaitText("No session is open")
	shoot(t, page, "try-two-bots")
	assert.Empty(t, page.Problems(), "console errors")
	require.NoError(t, cmd.end())
	assert.Equal(t, 0, cmd.ProcessState.ExitCode(), out.String())
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	assert.Empty(t, left, "folders left behind")
	assert.NotContains(t, strings.ToLower(out.String()), "data race")
}

// TestTryWithMachines starts a session on another machine, which goes away and comes back.
func TestTryWithMachines(t *testing.T) {
	longtest.Mark(t, "starts a browser")
	t.Parallel()
	pagetest.Browser(t)
	w, tmp := newWorld(t), t.TempDir()
	term, other := w.newTerminal(), w.newTerminal() // no other program may let a machine join
	tried := term.call("TMPDIR=" + tmp + " ccbot try --machines 2")
	end := sync.OnceFunc(func() {
		term.tmux("send-keys", "-t", term.shell, "C-c")
		code, _, errs := tried.end()
		assert.Zero(t, code, errs)
	})
	t.Cleanup(end)
	address := regexp.MustCompile(`http://\S+`)
	w.until("try prints its address", func() bool { return address.MatchString(tried.file()) })
	process := regexp.MustCompile(`kill -STOP (\d+)`).FindStringSubmatch(tried.file())
	require.Len(t, process, 2, tried.file())
	pid, err := strconv.Atoi(process[1])
	require.NoError(t, err)

	page := pagetest.OpenURL(t, address.FindString(tried.file()), pagetest.Look{Scale: 2})
	page.Send("/new api desktop:~/demo")
	page.WaitText("api is ready")
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	away := func() bool {
		return strings.Contains(other.says("CCBOT_DIR=$(echo "+tmp+"/ccbot-try-*/state) ccbot host list"), "away")
	}
	w.until("the machine is missed", away)
	page.Send("/list")
	page.WaitText("state unknown")
	shoot(t, page, "try-machine-away")
	require.NoError(t, syscall.Kill(pid, syscall.SIGCONT))
	w.until("the machine is back", func() bool { return !away() })
	page.WaitText("desktop answers again") // the chat knows its sessions a little later
	page.Send("/kill desktop:api")
	page.Tap("Kill")
	page.WaitText("is archived")
	shoot(t, page, "try-machine-back")
	assert.Empty(t, page.Problems(), "console errors")
	end()
	left, err := filepath.Glob(filepath.Join(tmp, "*"))
	require.NoError(t, err)
	assert.Empty(t, left, "files left behind")
}

// trial is a `ccbot try` that runs.
type trial struct {
	*exec.Cmd
	done chan struct{}
}

// end is Ctrl-C.
func (c trial) end() error {
	defer func() { <-c.done }()
	return c.Process.Signal(syscall.SIGINT)
}

// tries starts `ccbot try`, and opens the first address that it prints.
func tries(t *testing.T, home, tmp string, args ...string) (*world, trial, *lockedBuffer, *pagetest.Page) {
	t.Helper()
	programtest.Require(t, "tmux")
	pagetest.Browser(t)
	out := &lockedBuffer{}
	cmd := trial{exec.Command(filepath.Join(binaries, "ccbot"), append([]string{"try"}, args...)...), make(chan struct{})}
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + tmp, "LANG=C.UTF-8", "TERM=xterm-256color", endsAtOnce}
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start())
	w := &world{t: t}
	go func() { _ = cmd.Wait(); close(cmd.done) }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-cmd.done
	})
	address := regexp.MustCompile(`http://\S+`)
	w.until("try prints its address", func() bool { return address.MatchString(out.String()) })

	return w, cmd, out, pagetest.OpenURL(t, address.FindString(out.String()), pagetest.Look{Scale: 2})
}

// shotsVariable names the folder for pictures of the page.
const shotsVariable = "CCBOT_SHOTS"

// shoot keeps a picture of the page in the folder CCBOT_SHOTS, if it is set.
func shoot(t *testing.T, page *pagetest.Page, name string) {
	t.Helper()
	dir := os.Getenv(shotsVariable)
	if dir == "" {
		return
	}
	page.Screenshot(filepath.Join(dir, name+".png"))
}

// TestHelpOfTryIsTheSameBothWays compares `ccbot help try` with `ccbot try --help`.
func TestHelpOfTryIsTheSameBothWays(t *testing.T) {
	said := func(args ...string) string {
		return does(t, filepath.Join(binaries, "ccbot"), []string{"HOME=" + t.TempDir(), endsAtOnce}, 0, args...)
	}
	help := said("try", "--help")
	assert.Contains(t, help, "--agent")
	assert.Contains(t, help, "Examples:")
	assert.Equal(t, help, said("help", "try"))
}
