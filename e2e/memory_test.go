package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/programtest"
)

// littleMemory makes a version 1 cgroup with a limit, below the test's cgroup. A process joins it
// by enter, a shell command. Processes left in it belong to the test.
func littleMemory(t *testing.T, limit int) (dir, enter string) {
	t.Helper()
	mine, err := os.ReadFile("/proc/self/cgroup")
	require.NoError(t, err)
	group, found := "", false
	for line := range strings.Lines(string(mine)) {
		if _, controllers, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			names, path, _ := strings.Cut(controllers, ":")
			if slices.Contains(strings.Split(names, ","), "memory") {
				group, found = path, true
			}
		}
	}
	parent := filepath.Join("/sys/fs/cgroup/memory", group)
	if _, err := os.Stat(parent); !found || err != nil {
		t.Skip("SKIPPED: this machine has no memory controller of cgroups version 1")
	}
	dir = filepath.Join(parent, "ccbot-test-"+uuid.NewString()[:8])
	require.NoError(t, os.Mkdir(dir, 0o755))
	t.Cleanup(func() { assert.NoError(t, os.Remove(dir)) })
	require.NoError(t, os.WriteFile(filepath.Join(dir, "memory.limit_in_bytes"), []byte(strconv.Itoa(limit)), 0o600))
	return dir, fmt.Sprintf("echo $$ > '%s/cgroup.procs'", dir)
}

// transcripts returns the transcripts of the world's sessions.
func (w *world) transcripts() []string {
	w.t.Helper()
	all, err := filepath.Glob(filepath.Join(w.claude, "projects", "*", "*.jsonl"))
	require.NoError(w.t, err)
	return all
}

// TestP5_TenLongLinesIn64MB_AsRoot: a process of 64 MB has ten lines of 10 MB to read, at its start
// and while it runs. Nothing ends it, all lines are shown in full, and every session answers.
func TestP5_TenLongLinesIn64MB_AsRoot(t *testing.T) {
	programtest.RequireRoot(t)
	t.Parallel()
	dir, enter := littleMemory(t, 64<<20)
	w := newWorld(t)
	w.start()
	names := []string{"one", "two", "three"}
	for _, name := range names {
		w.open(name, w.dir)
		w.hear(w.say("say first "+name), "first "+name)
	}
	w.drained()
	w.stop() // tmux and the agents stay outside of the cgroup

	files := w.transcripts()
	require.Len(t, files, len(names))
	answer := map[string]any{"type": "text", "text": strings.Repeat("0123456789", 1<<20)}
	result := map[string]any{"type": "tool_result", "tool_use_id": "toolu_1", "content": answer["text"]}
	grow := func(lines int) {
		for n := range lines {
			kind, content := "assistant", answer
			if n%2 == 1 {
				kind, content = "user", result
			}
			line, err := json.Marshal(map[string]any{"type": kind, "uuid": uuid.NewString(),
				"message": map[string]any{"id": uuid.NewString(), "role": kind, "stop_reason": "tool_use", "content": []any{content}}})
			require.NoError(t, err)
			f, err := os.OpenFile(files[n%len(files)], os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.Write(append(line, '\n'))
			require.NoError(t, err)
			require.NoError(t, f.Close())
		}
	}
	grow(5)
	w.before = enter
	w.start()
	pid := w.bot.cmd.Process.Pid
	grow(5)
	w.hear(w.say("/list"), "✓ three")
	w.hear(w.say("say last"), "last")
	for _, name := range names {
		list := w.hear(w.say("/list"), "✓ ")
		for _, b := range slices.Concat(list.Keyboard...) { // a session with an unopened answer also has a sign
			if strings.Contains(b.Text, name) {
				w.tap(list, b.Text)
			}
		}
		w.hear(w.say("say again "+name), "again "+name)
	}
	w.until("each answer of 10 MB is there", func() bool {
		files := 0
		for _, m := range w.api.Messages(w.chat()) {
			if m.Document != nil && m.Document.FileSize == 10<<20 {
				files++
			}
		}
		return files == 6 // lines 0, 2 and 4 of each half
	})
	assert.False(t, w.bot.over())
	peak, err := os.ReadFile(filepath.Join(dir, "memory.max_usage_in_bytes"))
	require.NoError(t, err)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM") {
			t.Logf("peak of the cgroup %s, of ccbot %s", strings.TrimSpace(string(peak)), strings.TrimSpace(line))
		}
	}
	w.stop()
}
