package e2e

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSecondRunExits3 starts a second bot on the same folder: it names the first one, exits with 3,
// calls no Bot API, and the first one continues.
func TestSecondRunExits3(t *testing.T) {
	inShortRun(t, "the lock")
	t.Parallel()
	w := newWorld(t)
	first := w.start()

	var calls atomic.Int32
	api := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	defer api.Close()
	second := exec.Command(filepath.Join(binaries, "ccbot"), "run")
	second.Env = append(append([]string(nil), w.env...), "TELEGRAM_API_URL="+api.URL)
	out, err := second.CombinedOutput()

	exit := (*exec.ExitError)(nil)
	require.ErrorAs(t, err, &exit, "output: %s", out)
	assert.Equal(t, 3, exit.ExitCode(), "output: %s", out)
	assert.Contains(t, string(out), "another one is running")
	assert.Contains(t, string(out), "pid "+strconv.Itoa(first.cmd.Process.Pid))
	assert.Zero(t, calls.Load(), "a second run speaks to nobody")

	w.open("work", w.dir)
	w.hear(w.say("say still here"), "still here")
	w.stop()
}

// TestTwoBotsWithOneToken starts a bot with a separate folder and tmux server, but the token of a
// running bot: the log and doctor name the fault.
func TestTwoBotsWithOneToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.start()
	other := newWorld(t, "TELEGRAM_API_URL="+w.api.URL(), "TELEGRAM_BOT_TOKEN="+w.api.Token())
	second := other.start()
	var rival *world
	w.until("one of them knows of the other", func() bool {
		for _, one := range []struct {
			w *world
			b *botProcess
		}{{w, first}, {other, second}} {
			if strings.Contains(one.b.log.String(), "msg=polls_rival") {
				rival = one.w
			}
		}
		return rival != nil
	})
	term := rival.newTerminal()
	w.until("doctor knows of it", func() bool {
		faults, _ := term.doctor(" || true")
		_, found := faults["polls_rival"]
		return found
	})
	other.stop()
	w.hear(w.say("/health"), "ccbot")
	w.stop()
}
