package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/programtest"
)

// TestP3_MainJob is a whole day in one chat: start, prompt, answer, list, permission, end, resume,
// continue, also after a restart.
func TestP3_MainJob(t *testing.T) {
	inShortRun(t, "a session from its start to its receipt")
	t.Parallel()
	newWorld(t).mainJob()
}

func (w *world) mainJob() {
	w.start()
	w.open("work", w.dir)

	w.hear(w.say("say hello from the agent"), "hello from the agent")
	w.hear(w.say("/list"), "work")

	prompt := w.say("bash touch a-marker")
	w.tap(w.hear(prompt, "wants to run a command"), "Allow")
	w.hear(prompt, "pretended")

	asked := w.hear(w.say("/kill"), "End work")
	w.tap(asked, "Kill")
	receipt := w.hear(asked.ID, "work is archived")
	require.Empty(w.t, w.windows(), "the window is closed")

	w.tap(receipt, "Undo")
	w.hear(receipt.ID, "work is ready")
	w.hear(w.say("say back again"), "back again")
	w.stop()
	w.start()
	w.hear(w.say("say after a restart"), "after a restart")
	w.stop()
}

// TestP3_MainJobInHostilePlaces repeats that day in unusual environments. With any umask, other
// users cannot read ccbot's files.
func TestP3_MainJobInHostilePlaces(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, umask, env, without string }{
		{name: "umask 000", umask: "000"},
		{name: "umask 077", umask: "077"},
		{name: "no UTF-8", env: "LANG=C"},
		{name: "no language", without: "LANG="},
		{name: "no terminal", without: "TERM="},
		{name: "home that nobody can write to", env: "HOME=/proc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tt.env)
			if tt.umask != "" {
				w.before = "umask " + tt.umask
			}
			w.env = slices.DeleteFunc(w.env, func(s string) bool { return tt.without != "" && strings.HasPrefix(s, tt.without) })
			w.mainJob()
			w.assertPrivate()
		})
	}
}

// TestP3_MainJobAcrossFileSystems is that day with the home and the state on another file system
// than the project.
func TestP3_MainJobAcrossFileSystems(t *testing.T) {
	t.Parallel()
	const memory = "/dev/shm"
	home, err := os.MkdirTemp(memory, "e2e-")
	if err != nil {
		programtest.Skip(t, "no place in "+memory+": "+err.Error())
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(home)) })
	w := newWorld(t, "HOME="+home, "CCBOT_DIR="+filepath.Join(home, "state"))
	w.state = filepath.Join(home, "state")
	w.mainJob()
	w.assertPrivate()
}

// assertPrivate sees that only the owner gets at the state folder.
func (w *world) assertPrivate() {
	w.t.Helper()
	walkFiles(w.t, w.state, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && d.Type()&fs.ModeSymlink == 0 {
			assert.Zero(w.t, info.Mode().Perm()&0o077, "%s: %s", name, info.Mode())
		}
		return err
	})
}
