package lifecycle

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	coding "ccbot/agent"
	"ccbot/agent/claude"
	"ccbot/hooks"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/dialog"
	"ccbot/lifecycle/view"
	"ccbot/port"
)

// otherAgent is a second coding agent. It has a command line and files of its own.
type otherAgent struct {
	claude.Starter
	claude.Transcripts
	folder string
}

// Argv implements agent.Starter.
func (otherAgent) Argv(program string, _ coding.Launch, s coding.Start) []string {
	return []string{program, "--thread", s.Conversation.String()}
}

// Names implements witness.Witness.
func (otherAgent) Names() []string { return []string{"other"} }

// Conversations implements witness.Witness.
func (otherAgent) Conversations(args []string) (all []uuid.UUID) {
	for i, arg := range args {
		if id, err := uuid.Parse(arg); err == nil && i > 0 && args[i-1] == "--thread" {
			all = append(all, id)
		}
	}
	return all
}

// PrintsOnce implements witness.Witness.
func (otherAgent) PrintsOnce([]string) bool { return false }

// Sibling implements agent.Transcripts.
func (o otherAgent) Sibling(_ string, id uuid.UUID) string {
	return filepath.Join(o.folder, id.String()+".log")
}

// Own implements agent.Transcripts.
func (o otherAgent) Own(path string, id uuid.UUID) string {
	if path == o.Sibling("", id) {
		return path
	}
	return ""
}

// Find implements agent.Transcripts.
func (o otherAgent) Find(id uuid.UUID) (string, error) {
	path := o.Sibling("", id)
	_, err := os.Stat(path)
	return path, err
}

// Check implements agent.Keeper.
func (o otherAgent) Check(id uuid.UUID) (coding.Health, error) {
	path, err := o.Find(id)
	return coding.Health{Path: path, Size: 1 << 10}, err
}

// inTwoAgents runs a test in a world with a second agent, "other".
func inTwoAgents(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	base := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, base)
		o := otherAgent{folder: filepath.Join(base, "threads")}
		require.NoError(t, os.Mkdir(o.folder, 0o700))
		program := filepath.Join(base, "other")
		require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700))
		w.others = coding.Agents{"other": {Starter: o, Witness: o, Transcripts: o, Replies: o, Keeper: o, Proof: claude.NewTranscripts(""),
			Keys: w.Agents.Of("").Keys, Manners: w.Agents.Of("").Manners, Reader: w.Agents.Of("").Reader, Launch: coding.Launch{Command: program, PermissionMode: "ask"}}}
		w.restart()
		w.run()
		test(t, w)
	})
}

// TestSessionUsesPartsOfItsAgent: two agents live in one bot.
func TestSessionUsesPartsOfItsAgent(t *testing.T) {
	inTwoAgents(t, func(t *testing.T, w *world) {
		argv := func(r session.Record) []string { return w.tmux.Process(w.tmux.agentOf(r).pane).Spec.Argv }
		q := w.request()
		q.Agent = coding.Default
		first, err := w.Start(w.ctx, q)
		require.NoError(t, err)
		assert.Empty(t, first.AgentName, "a record without a name has the default agent")
		q = w.request()
		q.Agent = "other"
		second, err := w.Start(w.ctx, q)
		require.NoError(t, err)
		assert.Equal(t, []string{filepath.Join(w.base, "claude"), "--settings", filepath.Join(w.base, first.ID.String()+".settings"),
			"--session-id", first.AgentSessionID.String()}, argv(first), "start")
		assert.Equal(t, []string{filepath.Join(w.base, "other"), "--thread", second.AgentSessionID.String()}, argv(second), "start")

		assert.NoFileExists(t, filepath.Join(w.base, second.ID.String()+".settings"), "settings")
		assert.NotEmpty(t, first.HookDigest, "settings")
		assert.Empty(t, second.HookDigest, "settings")
		assert.Equal(t, view.StateWritten, w.Observer.View(w.ctx, first).State.Known, "presence file")
		assert.Equal(t, view.StateUnwritten, w.Observer.View(w.ctx, second).State.Known, "presence file")

		for _, r := range []session.Record{first, second} {
			p, err := w.processes.Inspect(r.Binding.Agent.PID)
			require.NoError(t, err)
			assert.True(t, w.Evidence.StartedFor(r, p), "witness")
			assert.Equal(t, r.AgentName, w.Evidence.AgentName(p), "witness")
			swapped := r
			swapped.AgentName = map[string]string{"": "other", "other": ""}[r.AgentName]
			assert.False(t, w.Evidence.StartedFor(swapped, p), "the other agent reads this command line in another way")
			above, err := w.Evidence.AgentAbove(w.ctx, []process.Process{p})
			require.NoError(t, err)
			assert.Equal(t, []any{r.ID, r.AgentName}, []any{above.Session, above.AgentName}, "witness")
		}

		named := func(name string) error {
			return w.Evidence.Names(w.ctx, name, first.Binding.Agent, first.AgentSessionID)
		}
		require.NoError(t, named(""), "presence file")
		require.ErrorIs(t, named("other"), hooks.ErrNotNamed, "presence file")

		for _, r := range []session.Record{first, second} {
			path := w.Agents.Of(r.AgentName).Transcripts.Sibling(filepath.Join(w.base, "projects", "-src", "x"), r.AgentSessionID)
			require.NoError(t, os.WriteFile(path, []byte("{}\n"), 0o600))
			assert.Equal(t, path, w.TranscriptPath(r), "transcript")
		}
		assert.Equal(t, filepath.Join(w.base, "threads", second.AgentSessionID.String()+".log"), w.TranscriptPath(second), "transcript")

		require.NoError(t, w.Archive(w.ctx, second.ID, session.Archived, port.Cause{Why: "a test"}))
		_, err = w.restoreIt(second.ID)
		require.NoError(t, err)
		second = w.get(second.ID)
		assert.Equal(t, []string{filepath.Join(w.base, "other"), "--thread", second.AgentSessionID.String()}, argv(second), "restore")
		w.pass(time.Second)
	})
}

// TestCopyHasAgentOfOriginal: the request for a copy names a conversation only.
func TestCopyHasAgentOfOriginal(t *testing.T) {
	inTwoAgents(t, func(t *testing.T, w *world) {
		q := w.request()
		q.Agent = "other"
		original, err := w.Start(w.ctx, q)
		require.NoError(t, err)
		require.NoError(t, w.Archive(w.ctx, original.ID, session.Archived, port.Cause{Why: "a test"}))

		q = w.request()
		q.ForkOf = original.AgentSessionID
		r, err := w.Start(w.ctx, q)
		require.NoError(t, err)
		assert.Equal(t, "other", r.AgentName)
		assert.Equal(t, filepath.Join(w.base, "other"), w.tmux.Process(w.tmux.agentOf(r).pane).Spec.Argv[0])
		w.pass(time.Second)
	})
}

// TestP2_SessionOfUnknownAgentIsLeftAlone: it is neither run nor ended as if its agent was another.
func TestP2_SessionOfUnknownAgentIsLeftAlone(t *testing.T) {
	inTwoAgents(t, func(t *testing.T, w *world) {
		q := w.request()
		q.Agent = "third"
		_, err := w.Start(w.ctx, q)
		require.EqualError(t, err, `start: the agent "third" is not known`)
		assert.Empty(t, w.Store.List())

		first, _ := w.starting()
		q.Agent = "other"
		second, err := w.Start(w.ctx, q)
		require.NoError(t, err)
		path := filepath.Join(w.base, "state", "sessions", second.ID.String()+".json")
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, []any{nil, "other"}, []any{w.onRecord(first)["agent_name"], w.onRecord(second)["agent_name"]})

		w.others = nil
		w.restart()
		w.run()
		w.pass(time.Hour)
		unloaded := w.Store.Unloaded()
		require.Len(t, unloaded, 1)
		assert.Equal(t, `this ccbot does not know its agent "other"`, unloaded[0].Why)
		require.ErrorIs(t, w.Archive(w.ctx, second.ID, session.Archived, port.Cause{Why: "a test"}), session.ErrNotFound)
		_, err = w.restoreIt(second.ID)
		require.Error(t, err)
		after, err := os.ReadFile(filepath.Join(w.base, "state", "quarantine", "sessions-"+filepath.Base(path)))
		require.NoError(t, err)
		assert.Equal(t, string(before), string(after))
		_, err = w.processes.Inspect(second.Binding.Agent.PID)
		require.NoError(t, err, "its agent lives")
	})
}

// onRecord returns the fields of a session's record on disk.
func (w *world) onRecord(r session.Record) (fields map[string]any) {
	data, err := os.ReadFile(filepath.Join(w.base, "state", "sessions", r.ID.String()+".json"))
	require.NoError(w.t, err)
	require.NoError(w.t, json.Unmarshal(data, &fields))
	return fields
}

// TestDialogOfAgentWithoutHooks: no hook brings it to the chat, so nothing is awaited and nothing
// is missing.
func TestDialogOfAgentWithoutHooks(t *testing.T) {
	inTwoAgents(t, func(t *testing.T, w *world) {
		q := w.request()
		q.Agent = "other"
		r, err := w.Start(w.ctx, q)
		require.NoError(t, err)
		w.report(r)
		w.pass(time.Minute)
		require.Equal(t, session.Running, w.get(r.ID).State)
		m, a := askBash("touch x"), w.tmux.agentOf(r)
		m.permission = true
		a.asks(m)
		w.Wake(r.ID)
		w.pass(dialog.Rest)
		assert.Len(t, w.posted(), 1)
		d, err := w.Dialog(w.ctx, r.ID)
		require.NoError(t, err)
		assert.True(t, d.Open)
		assert.False(t, d.Unasked)
	})
}
