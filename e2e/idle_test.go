package e2e

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/longtest"
	"ccbot/internal/programtest"
)

// idleSessions and idleTime are what "idle costs nothing" is tested with.
const (
	idleSessions = 10
	idleTime     = time.Minute
	shortIdle    = 15 * time.Second // in a short run
)

// TestIdleCostsNothing leaves ten sessions idle for some time: ccbot and its tmux server start no
// process, no file of ccbot or Claude Code changes, tmux gets no command, and the Bot API only
// polls.
func TestIdleCostsNothing(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		programtest.Skip(t, "spawned processes are counted through /proc")
	}
	w := newWorld(t)
	w.start()
	w.tmux("set-option", "-s", "message-limit", "100000") // commands counts the lines of this log
	for i := range idleSessions {
		name := fmt.Sprintf("idle-%d", i)
		w.say("/new " + name + " " + w.dir)
	}
	for i := range idleSessions {
		w.hear(0, fmt.Sprintf("idle-%d is ready", i))
	}
	w.until("the last update is finished", func() bool {
		left, err := filepath.Glob(filepath.Join(w.state, "*box", "*.json"))
		return err == nil && len(left) == 0
	})
	w.until("what follows the last message is written, too", func() bool {
		files, spawned, commands := w.files(), w.spawned(), w.commands()
		time.Sleep(3 * time.Second)
		return maps.Equal(files, w.files()) && maps.Equal(spawned, w.spawned()) && commands == w.commands()
	})

	files, spawned, commands, began := w.files(), w.spawned(), w.commands(), time.Now()
	time.Sleep(time.Duration(longtest.Size(int(shortIdle), int(idleTime))))
	assert.Equal(t, commands, w.commands(), "what tmux was asked")
	for _, c := range w.api.Calls() {
		assert.True(t, c.At.Before(began) || strings.EqualFold(c.Method, "getUpdates"), "%s %v", c.Method, c.Params)
	}
	assert.Equal(t, spawned, w.spawned(), "page faults of ended children: each process that ended had some")
	assert.Equal(t, files, w.files(), "names, sizes and times of all files")
	w.stop()
}

// commands counts what others than the test's own have asked of tmux since its server began, by its
// own list.
func (w *world) commands() (n int) {
	w.t.Helper()
	for line := range strings.Lines(w.tmux("show-messages")) {
		_, command, ok := strings.Cut(line, " command: ")
		if ok && !strings.HasPrefix(command, "show-messages") && !strings.HasPrefix(command, `display-message -p "#{pid}"`) {
			n++
		}
	}
	return n
}

// files are the name, size and time of change of every file and folder that
// ccbot or an agent keeps. The one that says that ccbot is there has no other use
// than its time.
func (w *world) files() map[string]string {
	w.t.Helper()
	all := make(map[string]string)
	for _, root := range []string{w.state, w.claude, w.dir} {
		walkFiles(w.t, root, func(path string, d fs.DirEntry, err error) error {
			var info fs.FileInfo
			if err == nil {
				info, err = d.Info()
			}
			if err != nil {
				return err
			}
			if path == filepath.Join(w.state, "alive") {
				all[path] = fmt.Sprint(info.Size())
				return nil
			}
			all[path] = fmt.Sprint(info.Size(), info.ModTime())
			return nil
		})
	}
	return all
}

// spawned returns the children of ccbot and the tmux server, and the page faults of their ended
// children. Every process has faults, so a new process shows in one of them.
func (w *world) spawned() map[string]string {
	w.t.Helper()
	server := w.tmux("display-message", "-p", "#{pid}")
	all := make(map[string]string)
	for name, pid := range map[string]string{"ccbot": itoa(w.bot.cmd.Process.Pid), "tmux": server} {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		require.NoError(w.t, err)
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest) // from field 3 on
		all[name] = "faults of ended children " + fields[8] + " and " + fields[10] + ", children " + strings.Join(w.childrenOf(pid), " ")
	}
	return all
}

// childrenOf returns the pids of the children of a process.
func (w *world) childrenOf(pid string) (all []string) {
	w.t.Helper()
	tasks, err := filepath.Glob("/proc/" + pid + "/task/*/children")
	require.NoError(w.t, err)
	for _, f := range tasks {
		if data, err := os.ReadFile(f); err == nil {
			all = append(all, strings.Fields(string(data))...)
		}
	}
	return all
}
