package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/programtest"
	"ccbot/try/botapi/pagetest"
)

// TestTryInABrowser is what a new person does first: start `ccbot try`, open
// the one address it prints, start a session, ask, look at the answer, end it.
// After Ctrl-C nothing is left.
func TestTryInABrowser(t *testing.T) {
	t.Parallel()
	programtest.Require(t, "tmux")
	pagetest.Browser(t)
	home, tmp := t.TempDir(), t.TempDir()
	out := &lockedBuffer{}
	cmd := exec.Command(filepath.Join(binaries, "ccbot"), "try")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + tmp, "LANG=C.UTF-8", "TERM=xterm-256color", endsAtOnce}
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start())
	w := &world{t: t}
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-done
	})
	address := regexp.MustCompile(`http://\S+`)
	w.until("try prints its address", func() bool { return address.MatchString(out.String()) })

	page := pagetest.OpenURL(t, address.FindString(out.String()), pagetest.Look{Scale: 2})
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
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	<-done
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

// shoot keeps a picture of the page in the folder CCBOT_SHOTS, if it is set.
func shoot(t *testing.T, page *pagetest.Page, name string) {
	t.Helper()
	dir := os.Getenv("CCBOT_SHOTS")
	if dir == "" {
		return
	}
	page.Screenshot(filepath.Join(dir, name+".png"))
}
