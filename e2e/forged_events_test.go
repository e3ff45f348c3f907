package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
	"ccbot/internal/session"
)

// ownEvent returns an event as the hook of a session's agent writes it.
func ownEvent(r session.Record, name string) hookwire.Event {
	agent := r.Agent()
	path := ""
	if c, ok := r.Cursor(); ok {
		path = c.Path
	}
	return hookwire.Event{Version: hookwire.Version, Name: name, Received: time.Now().UTC(), Launch: r.ID.String(),
		AgentPID: agent.PID, AgentStart: agent.Start, Boot: agent.Boot, SessionID: r.AgentSessionID.String(), TranscriptPath: path}
}

// keeps checks that a session has neither moved to another conversation nor follows another file.
func (w *world) keeps(before session.Record) {
	w.t.Helper()
	now := w.record(before.Name)
	assert.Equal(w.t, before.AgentSessionID, now.AgentSessionID)
	assert.Equal(w.t, before.EarlierSessionIDs, now.EarlierSessionIDs)
	for _, c := range now.Cursors {
		assert.Equal(w.t, before.AgentSessionID.String()+".jsonl", filepath.Base(c.Path))
	}
}

// TestP9_ForgedEventMovesNoConversation writes events of one session's agent with the conversation
// or the transcript of another session: the answers there must not appear in the first session's
// chat.
func TestP9_ForgedEventMovesNoConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("victim", w.dir)
	w.hear(w.say("say the first answer"), "the first answer")
	w.open("thief", w.dir)
	w.hear(w.say("say an own answer"), "an own answer")
	w.taken()
	victim, thief := w.record("victim"), w.record("thief")
	theirs, ok := victim.Cursor()
	require.True(t, ok)

	forge := func(name string, change func(*hookwire.Event)) {
		e := ownEvent(thief, name)
		change(&e)
		require.NoError(t, hookwire.WriteEvent(w.state, e))
	}
	both := func(e *hookwire.Event) { e.SessionID, e.TranscriptPath = victim.AgentSessionID.String(), theirs.Path }
	for _, name := range []string{hookwire.SessionStart, hookwire.UserPromptSubmit} {
		forge(name, both)
		forge(name, func(e *hookwire.Event) { both(e); e.Source = "clear" })
		forge(name, func(e *hookwire.Event) { e.TranscriptPath = theirs.Path })
	}
	w.taken()
	assert.Equal(t, 4, w.rejected(), "the path alone is ignored")
	w.keeps(thief)

	// An event that is kept when ccbot is killed is decided by the next one.
	forge(hookwire.SessionStart, both)
	w.kill9()
	w.start()
	w.taken()
	w.keeps(thief)

	w.typeInTerminal("victim", "say the second answer")
	w.hear(0, "the second answer")
	assert.Equal(t, 1, w.heard("the second answer"))
	w.stop()
}

// payload returns what Claude Code gives to a hook.
func payload(name, claudeID, transcript, cwd string) string {
	data, _ := json.Marshal(map[string]any{"hook_event_name": name, "session_id": claudeID, "transcript_path": transcript,
		"cwd": cwd, "prompt": "forged", "source": "clear", "tool_name": "Bash", "tool_input": map[string]string{"command": "forged"}})
	return string(data)
}

// hookCommand returns the command line that Claude Code runs for an event of a session.
func (w *world) hookCommand(r session.Record, event string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.state, "launch", r.ID.String()+".json"))
	require.NoError(w.t, err)
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct{ Command string }
		}
	}
	require.NoError(w.t, json.Unmarshal(data, &settings))
	require.NotEmpty(w.t, settings.Hooks[event])
	return settings.Hooks[event][0].Hooks[0].Command
}

// TestRealP9_HookByHandMovesNoConversation lets the real CLI run ccbot-hook from its own shell with
// another session's transcript, for events and for a permission request. After that /clear and
// /resume in the terminal still move the session.
func TestRealP9_HookByHandMovesNoConversation(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("victim", w.dir)
	w.hear(w.say("say the first answer"), "the first answer")
	w.open("thief", w.dir)
	w.hear(w.say("say an own answer"), "an own answer")
	w.taken()
	victim, thief := w.record("victim"), w.record("thief")
	theirs, ok := victim.Cursor()
	require.True(t, ok)

	script := ""
	for i, p := range []string{
		payload(hookwire.UserPromptSubmit, thief.AgentSessionID.String(), theirs.Path, w.dir),
		payload(hookwire.UserPromptSubmit, victim.AgentSessionID.String(), theirs.Path, w.dir),
		payload(hookwire.SessionStart, victim.AgentSessionID.String(), theirs.Path, w.dir),
		payload(hookwire.PermissionRequest, victim.AgentSessionID.String(), theirs.Path, w.dir),
	} {
		file := filepath.Join(w.dir, "payload"+itoa(i))
		require.NoError(t, os.WriteFile(file, []byte(p), 0o600))
		var event struct {
			Name string `json:"hook_event_name"`
		}
		require.NoError(t, json.Unmarshal([]byte(p), &event))
		script += "(" + w.hookCommand(thief, event.Name) + ") <" + file + "\n"
	}
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "forge.sh"), []byte(script+"echo it has run\n"), 0o600))
	w.hear(w.say("!sh forge.sh"), "it has run")
	w.until("the forged events are rejected", func() bool { return w.rejected() == 2 })
	w.taken()
	w.keeps(thief)
	assert.Contains(t, w.bot.log.String(), "msg=control_refused verb=permission")
	assert.Zero(t, w.heard("wants to run a command"), "the request reached the chat")
	w.typeInTerminal("victim", "say the second answer")
	w.hear(0, "the second answer")
	assert.Equal(t, 1, w.heard("the second answer"))

	w.typeInTerminal("thief", "/clear")
	w.until("the session follows /clear", func() bool { return w.record("thief").AgentSessionID != thief.AgentSessionID })
	w.hear(w.say("say after the clear"), "after the clear")
	w.typeInTerminal("thief", "/resume "+thief.AgentSessionID.String())
	w.until("the session follows /resume", func() bool { return w.record("thief").AgentSessionID == thief.AgentSessionID })
	w.hear(w.say("say after the resume"), "after the resume")
	assert.Equal(t, 2, w.rejected())
	w.stop()
}
