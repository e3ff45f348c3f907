package e2e

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
)

// copied puts a copy of a program into a folder, in the place of one that may run.
func (w *world) copied(name, dir string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(binaries, name))
	require.NoError(w.t, err)
	path := filepath.Join(dir, name)
	writeProgram(w.t, path+".new", data)
	require.NoError(w.t, os.Rename(path+".new", path))
	return path
}

// writeProgram writes a program. A child of another test that is forked meanwhile would have the
// file open for a moment after that, and a file that is open for writing cannot be started.
func writeProgram(t *testing.T, path string, data []byte) {
	t.Helper()
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, data, 0o700) //nolint:gosec // it is a program
	syscall.ForkLock.RUnlock()
	require.NoError(t, err)
}

// does runs a verb of a ccbot to its end.
func does(t *testing.T, ccbot string, env []string, code int, args ...string) (said string) {
	t.Helper()
	cmd := exec.Command(ccbot, args...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	assert.Equal(t, code, cmd.ProcessState.ExitCode(), "%v: %v: %s", args, err, out)
	return string(out)
}

// TestP8_ServiceOutlivesManager installs the service; a stand-in of systemd stops, restarts,
// upgrades and kills it according to the unit. The agent survives, and each message reaches it
// once.
func TestP8_ServiceOutlivesManager(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root := filepath.Dir(w.state)
	ccbot := w.copied("ccbot", root)
	w.copied("ccbot-hook", root)
	kept := w.without("PATH", "HOME", "LANG", "TERM", "CCBOT_DIR", "DEMOAGENT_LOG", "GORACE")
	w.settings(w.env...)
	shell := slices.DeleteFunc(kept, func(kv string) bool { return strings.HasPrefix(kv, "DEMOAGENT_LOG=") })
	said := does(t, ccbot, shell, 0, "service", "install")
	assert.Contains(t, said, "written: ")
	assert.Contains(t, said, "systemctl --user enable --now ccbot")
	assert.Contains(t, does(t, ccbot, shell, 0, "service", "install"), "unchanged: ")
	assert.Contains(t, does(t, ccbot, shell, 1, "service", "status"), "this one")

	m := manage(w, filepath.Join(root, ".config/systemd/user/ccbot.service"))
	m.start(true)
	w.open("work", w.dir)
	w.hear(w.say("say one"), "one")
	agents := w.agents()
	require.NotEmpty(t, agents)

	m.stop()
	two := w.say("say two")
	m.start(true)
	w.hear(two, "two")

	w.copied("ccbot", root) // an upgrade, while it runs
	w.copied("ccbot-hook", root)
	m.stop()
	m.start(true)
	b, _ := m.main()
	assert.Equal(t, ccbot, b.cmd.Path, "the new program runs")
	w.hear(w.say("say three"), "three")

	four := w.say("say four")
	for _, end := range []os.Signal{os.Kill, syscall.SIGABRT} { // the second is the signal of a watchdog or a crash
		up := m.count(&m.ready)
		b, _ = m.main()
		require.NoError(t, b.cmd.Process.Signal(end))
		m.isUp(up)
	}
	w.hear(four, "four")
	assert.Equal(t, 5, m.count(&m.starts))

	w.ofANewerOne(m)
	w.hear(w.say("say five"), "five")
	w.drained()
	assert.Equal(t, []string{"say one", "say two", "say three", "say four", "say five"}, w.received())
	assert.Equal(t, agents, w.agents())
	m.stop()
	assert.Contains(t, does(t, ccbot, shell, 0, "service", "uninstall"), "removed: ")
	assert.Equal(t, agents, w.agents())
}

// ofANewerOne lets a newer ccbot use the folder for a while. The service ends, its start limit ends
// the repeats, and it runs again when the folder is its own.
func (w *world) ofANewerOne(m *manager) {
	w.t.Helper()
	format := filepath.Join(w.state, "format")
	own, err := os.ReadFile(format)
	require.NoError(w.t, err)
	m.stop()
	require.NoError(w.t, os.WriteFile(format, []byte("99\n"), 0o600))
	m.start(false)
	w.until("it is given up", func() bool { return m.count(&m.failed) == 1 })
	b, _ := m.main()
	assert.Contains(w.t, b.log.String(), "a newer ccbot wrote the folder")
	require.NoError(w.t, os.WriteFile(format, own, 0o600))
	m.start(true)
}

// TestP8_VerbsLeaveNewerFolder: each verb reports the reason and changes nothing in a newer ccbot's
// folder.
func TestP8_VerbsLeaveNewerFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	asked := w.say("/kill work")
	w.tap(w.hear(asked, "End work"), "Kill")
	w.hear(asked, "work is archived")
	w.until("nothing of it lives", func() bool { return w.records()[0].State == session.Archived })
	w.drained()
	w.kill9()
	ccbot := filepath.Join(binaries, "ccbot")
	require.NoError(t, os.WriteFile(filepath.Join(w.state, "format"), []byte("99\n"), 0o600))
	before := w.contents()
	for _, args := range [][]string{{"run"}, {"recover"}, {"recover", "--dry-run"}, {"resume", "work"}, {"forget", "--yes", "work"}, {"list", "--all"}, {"why", "work"}} {
		assert.Contains(t, does(t, ccbot, w.env, 1, args...), "a newer ccbot wrote the folder "+w.state+" (version 99 of the folder", "%v", args)
	}
	assert.Equal(t, before, w.contents())
}

// contents returns the state folder's content, without the files of hooks.
func (w *world) contents() map[string]string {
	w.t.Helper()
	all := make(map[string]string)
	walkFiles(w.t, w.state, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == "events" || d.Name() == "status" || d.Name() == "bindings" {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		data := []byte{}
		if d.Type().IsRegular() {
			data, err = os.ReadFile(path)
		}
		all[path] = string(data)
		return err
	})
	return all
}
