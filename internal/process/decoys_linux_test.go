package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// decoys look like the agent of id to anything that reads command lines carelessly. They end with
// their standard input or with this process, so nothing outlives a test that dies.
func decoys(t *testing.T, id string) []*exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"claude", "vim", "claude-watch"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\nread x\n"), 0o700))
	}
	transcript := filepath.Join(dir, id+".jsonl")
	require.NoError(t, os.WriteFile(transcript, nil, 0o600))
	claude, vim, watch := filepath.Join(dir, "claude"), filepath.Join(dir, "vim"), filepath.Join(dir, "claude-watch")

	kinds := []func() *exec.Cmd{
		run("/bin/sh", "-c", "read x # claude --resume "+id),      // a shell that mentions it
		run("/bin/sh", "-c", "read x", "claude", "--resume", id),  // as separate words
		run("/usr/bin/env", "sh", "-c", "read x; : --resume "+id), // through env
		run("tail", "--pid="+strconv.Itoa(os.Getpid()), "-f", transcript),
		run(vim, "--resume", id),
		run(watch, "--session-id="+id),
		// not what they are called
		named("sleep", "--resume", id),
		named("sleep", "--session-id="+id),
		named("grep", "-r", id),
		named("pgrep", "-f", "claude.*--resume "+id),
		named("vim", "--resume", id),
		named("ssh", "host", "claude", "--resume", id),
		named("tmux", "new-window", "claude", "--resume", id),
		named("sudo", "claude", "--resume", id),
		named("-bash", "-c", "claude --resume "+id),
		named("node", "/x/server.js", "--session-id", id),
		named("Claude", "--resume", id),
		// agents, but not of this session
		run(claude, "--resume", textY),
		run(claude, "--resume", id, "--fork-session"), // a fork of it
		run(claude, "-p", "claude --resume "+id),      // an agent whose prompt names it
		run(claude, "--", "--resume", id),             // no longer an option
		run(claude, "--append-system-prompt", "--resume", id),
		run(claude, "--resume", "{"+id+"}"),
		run(claude, "--resume", id[:35]),
		run(claude),
		func() *exec.Cmd { return named("claude", "--resume", uuid.NewString())() },
		func() *exec.Cmd { return named("claude", "--session-id", uuid.NewString())() },
	}
	all := make([]*exec.Cmd, 200)
	for i := range all {
		all[i] = kinds[i%len(kinds)]()
	}
	return all
}

func run(args ...string) func() *exec.Cmd {
	return func() *exec.Cmd { return exec.Command(args[0], args[1:]...) }
}

// named is this test binary under any name and with any arguments.
func named(args ...string) func() *exec.Cmd {
	return func() *exec.Cmd {
		return &exec.Cmd{Path: "/proc/self/exe", Args: args, Env: append(os.Environ(), childMode+"=wait")}
	}
}

// Every process of this test is offered to End; for all others the test only checks whether it
// could be ended.
func TestP2_End_twoHundredDecoysSurvive(t *testing.T) {
	table := newTestTable(t)
	id := uuid.New()
	var foreign []started
	for _, cmd := range decoys(t, id.String()) {
		foreign = append(foreign, start(t, table, cmd))
	}
	writer := startAgent(t, table, "wait", "--resume", id.String())

	s, err := table.Snapshot(t.Context())
	require.NoError(t, err)
	prove := proveFrom(table, s, id)
	ours := map[int]bool{}
	for _, p := range s.Descendants(os.Getpid()) {
		ours[p.PID] = true
	}
	require.GreaterOrEqual(t, len(ours), 201)
	var ended []int
	for _, p := range s.Processes {
		if !ours[p.PID] {
			assert.Error(t, prove(p), p.Args)
			continue
		}
		out, err := table.End(t.Context(), p.Identity, prove, nil, Grace{})
		require.NoError(t, err)
		if out.Ended && out.How != HowAlreadyGone {
			ended = append(ended, p.PID)
		}
	}
	assert.Equal(t, []int{writer.id.PID}, ended)
	for _, decoy := range foreign {
		assert.Equal(t, Alive, table.Liveness(decoy.id), decoy.Args)
	}
}
