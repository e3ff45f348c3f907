package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/doctor"
)

// TestP6_MachineAndItsCopy: the folder of a machine is copied, and both run. The first goes on. After it was silent,
// the copy is followed; when the first speaks again, nothing is sent to either until a person chooses.
func TestP6_MachineAndItsCopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	there, _ := w.withMachine("B")
	w.reached("B")
	w.hear(w.say("/new api B:"+there.dir), "api is ready")

	other := w.newHost()
	require.NoError(t, os.MkdirAll(other.state, 0o700))
	require.NoError(t, os.CopyFS(filepath.Join(other.state, "fleet"), os.DirFS(filepath.Join(there.state, "fleet"))))
	other.startHost()
	list := func() string { return w.newTerminal().says("ccbot host list") }
	w.until("the chat names the copy", func() bool { return strings.Contains(list(), "another start is refused") })
	w.until("the copy names itself", func() bool { return strings.Contains(other.bot.log.String(), "msg=host_twice") })
	own, _ := other.newTerminal().doctor(" || true")
	assert.Contains(t, own, doctor.Code("machine_elsewhere"))
	assert.NotContains(t, own, doctor.Code("bot_other_version"))
	chats, _ := w.newTerminal().doctor("")
	assert.Contains(t, chats, doctor.Code("machine_copies"))
	w.hear(w.say("/health"), "B runs more than once")
	w.hear(w.say("/hosts"), "Another start from a copy of the folder of B is refused")
	w.hear(w.say("/new web B:"+there.dir), "web is ready")
	assert.Len(t, there.windows(), 2)
	assert.Empty(t, other.windows())
	assert.NotContains(t, list(), "B  away")

	first := there.bot.cmd.Process
	require.NoError(t, first.Signal(syscall.SIGSTOP))
	w.until("the copy is not followed for good", func() bool { return !w.presentIs("B") })
	other.stop()
	other.startHost() // a later start, as of a restored backup
	w.reached("B")
	require.NoError(t, first.Signal(syscall.SIGCONT))
	w.until("both are named", func() bool { return strings.Contains(list(), "it runs more than once") })
	page := w.hear(w.say("/hosts"), "B runs more than once")
	assert.Contains(t, page.Text, "\n2. ")
	w.tap(page, "Use B 2")
	w.reached("B")
	w.until("the chat names the copy again", func() bool { return strings.Contains(list(), "another start is refused") })
	assert.Len(t, there.windows(), 2, "no session has ended")
	w.hear(w.say("/new third B:"+there.dir), "third is ready")
	assert.Len(t, there.windows(), 3)
	assert.Empty(t, other.windows())
}
