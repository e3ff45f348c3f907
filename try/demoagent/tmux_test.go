package demoagent

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/waittest"
	"ccbot/try/demoagent/agenttest"
)

func TestSessionInTmux(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	id := uuid.New()
	w, p := s.idle("--session-id", id.String())

	assert.Equal(t, id, p.SessionID)
	assert.Equal(t, w.PID(), p.PID)
	assert.Equal(t, s.cwd, p.Cwd)
	assert.Equal(t, procStart(w.PID()), p.ProcStart)
	assert.Equal(t, w.Format("main:#{window_id}.#{pane_id}"), p.Tmux)
	assert.Equal(t, "claude", w.Format("#{pane_current_command}"))
	screen := w.WaitFor("Claude Code v"+version, "⏸ manual mode on · ? for shortcuts", "\n❯\u00a0")
	assert.Equal(t, 2, strings.Count(screen, strings.Repeat("─", 120)))
	_, err := os.Stat(transcriptPath(s.config, s.cwd, id))
	require.ErrorIs(t, err, os.ErrNotExist, "no transcript before the first prompt")

	w.Submit("say hi\nthere")
	w.WaitFor("❯ say hi", "● hi", "✻ Worked for ")
	s.waitStatus(w, "idle")
	names, payloads := s.events()
	assert.Equal(t, []string{"SessionStart/startup", "UserPromptSubmit", "Stop"}, names)
	assert.Equal(t, "say hi\nthere", payloads[1]["prompt"])
	assert.Equal(t, "hi\nthere", payloads[2]["last_assistant_message"])
	assert.Equal(t, transcriptPath(s.config, s.cwd, id), payloads[0]["transcript_path"])
	assert.Equal(t, "mode\npermission-mode\nuser say hi\nthere\nassistant [text] hi\nthere\nsystem:stop_hook_summary\nsystem:turn_duration", s.shape(id))

	w.Submit("/exit")
	assert.Equal(t, "0", w.WaitDead())
	assert.Contains(t, strings.ReplaceAll(w.Screen(), "\n", ""), id.String(), "the line may be wrapped")
	s.waitEvent("SessionEnd/prompt_input_exit")
	_, err = os.Stat(filepath.Join(s.config, "sessions", strconv.Itoa(w.PID())+".json"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestIDsInUseAndUnknown(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	id := uuid.New()
	w, _ := s.idle("--session-id", id.String())
	w.Submit("say first")
	w.WaitFor("● first")
	s.waitStatus(w, "idle")

	tests := []struct{ name, flag, value, text string }{
		{"in use", "--session-id", id.String(), "Error: Session ID " + id.String() + " is already in use."},
		{"unknown", "--resume", uuid.Nil.String()[:35] + "1", "No conversation found with session ID:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			other := *s
			other.t = t
			end := other.start(tt.flag, tt.value)
			assert.Equal(t, "1", end.WaitDead())
			assert.Contains(t, end.History(), tt.text)
		})
	}
	t.Run("resumed beside the first", func(t *testing.T) {
		other := *s
		other.t = t
		again, p := other.idle("--resume=" + id.String())
		assert.Equal(t, id, p.SessionID)
		again.WaitFor("❯ say first", "● first")
		again.Submit("say second")
		again.WaitFor("● second")
	})
	t.Run("forked", func(t *testing.T) {
		other := *s
		other.t = t
		again, p := other.idle("-r", id.String(), "--fork-session")
		assert.NotEqual(t, id, p.SessionID)
		again.Submit("say forked")
		again.WaitFor("● forked")
		assert.Contains(t, other.shape(p.SessionID), "user say first")
	})
}

func TestPermissionDialog(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		act  func(w *agenttest.Terminal)
		ran  bool
	}{
		{"Enter approves, letters and pastes are ignored", func(w *agenttest.Terminal) {
			w.Type("hello")
			w.Paste("4")
			w.Press("Enter")
		}, true},
		{"digit 1", func(w *agenttest.Terminal) { w.Press("1") }, true},
		{"digit 4", func(w *agenttest.Terminal) { w.Press("4") }, false},
		{"Escape", func(w *agenttest.Terminal) { w.Press("Escape") }, false},
		{"down and Enter on No", func(w *agenttest.Terminal) { w.Press("Down", "Down", "Down", "Enter") }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			w, p := s.idle()
			w.Submit("bash touch x")
			w.WaitFor("Do you want to proceed?", "❯ 1. Yes", "4. No")
			assert.Equal(t, "permission prompt", s.waitStatus(w, "waiting").WaitingFor)
			s.waitEvent("PermissionRequest/Bash")
			tt.act(w)
			s.waitStatus(w, "idle")
			_, err := os.Stat(filepath.Join(s.cwd, "x"))
			require.ErrorIs(t, err, os.ErrNotExist, "nothing is ever run")
			shape := s.shape(p.SessionID)
			if tt.ran {
				assert.Contains(t, shape, "[tool_result] (pretended: touch x)")
				s.waitEvent("Stop")
				return
			}
			assert.Contains(t, shape, "[Request interrupted by user for tool use]")
			names, _ := s.events()
			assert.NotContains(t, names, "Stop")
		})
	}
}

func TestPermissionHook(t *testing.T) {
	t.Parallel()
	decide := func(d string) string {
		return `printf '%s' '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":` + d + `}}'`
	}
	tests := []struct{ name, hook, prompt, result string }{
		{"allow", decide(`{"behavior":"allow"}`), "bash x", "[tool_result] (pretended: x)"},
		{"allow with another command", decide(`{"behavior":"allow","updatedInput":{"command":"y"}}`), "bash x", "[tool_result] (pretended: y)"},
		{"deny", decide(`{"behavior":"deny","message":"not now"}`), "bash x", "[text] I did not do it. You said: not now"},
		{"answers", decide(`{"behavior":"allow","updatedInput":{"answers":{"Which colour?":"Blue"}}}`), "ask one", `"Which colour?"="Blue"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			s.settings(tt.hook)
			w, p := s.idle()
			w.Submit(tt.prompt)
			s.waitEvent("Stop")
			s.waitStatus(w, "idle")
			assert.Contains(t, s.shape(p.SessionID), tt.result)
		})
	}
	t.Run("a bare allow answers no question", func(t *testing.T) {
		s := newStage(t)
		s.settings(decide(`{"behavior":"allow"}`))
		w, p := s.idle()
		w.Submit("ask")
		w.WaitFor("☐ Database", "Which database?")
		assert.Equal(t, "input needed", s.waitStatus(w, "waiting").WaitingFor)
		w.Press("2")
		w.WaitFor("☒ Database", "Which language?")
		w.Press("1")
		w.WaitFor("Review your answers", "→ SQLite", "→ Go")
		w.Press("1")
		s.waitEvent("Stop")
		assert.Contains(t, s.shape(p.SessionID), `Your questions have been answered: "Which database?"="SQLite", "Which language?"="Go"`)
	})
}

func TestQueueAndInterrupt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	w, p := s.idle()
	w.Submit("slow 60")
	w.WaitFor("slow word slow word", "esc to interrupt")
	w.Submit("say q1")
	w.Submit("say q2")
	w.WaitFor("❯ say q2", "Queued · ctrl+x ctrl+s to send now", "Press up to edit queued messages")
	waittest.Until(t, func() bool { names, _ := s.events(); return len(names) == 4 }, "the hooks of the queued prompts")
	w.Press("Escape")
	w.WaitFor("Interrupted · What should Claude do instead?", "● q1", "● q2")
	s.waitStatus(w, "idle")
	shape := s.shape(p.SessionID)
	assert.Contains(t, shape, "queue-operation:enqueue\nqueue-operation:enqueue\nassistant [text] slow word")
	assert.Contains(t, shape, "[Request interrupted by user]\nqueue-operation:dequeue\nqueue-operation:dequeue\nuser say q1\nuser say q2\n")
	names, _ := s.events()
	assert.Equal(t, []string{"SessionStart/startup", "UserPromptSubmit", "UserPromptSubmit", "UserPromptSubmit", "Stop"}, names)
}

func TestBoxAsThePersonSeesIt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	w, p := s.idle()

	long := strings.TrimSuffix(strings.Repeat("a line of a long paste\n", 90), "\n")
	w.Paste(long)
	w.WaitFor("❯\u00a0[Pasted text #1 +89 lines]")
	w.Press("Enter")
	s.waitEvent("Stop")
	_, payloads := s.events()
	assert.Regexp(t, `^\n\n<pasted_content id="[0-9a-f]{4}">\na line (?s:.*)\n</pasted_content id="[0-9a-f]{4}">\n$`, payloads[1]["prompt"])
	assert.Equal(t, []string{long}, s.submitted())

	s.waitStatus(w, "idle")
	w.Paste("one\ntwo\nthree")
	w.WaitFor("❯\u00a0one\n  two\n  three")
	w.Press("C-u", "C-u", "C-u")
	w.WaitFor("❯\u00a0one\n\n─")
	w.Press("C-u", "C-u")
	w.WaitFor("─\n❯\u00a0\n─")

	w.Type(`first\`)
	w.Press("Enter")
	w.Type("second\tx")
	w.WaitFor("❯\u00a0first\n  second")
	w.Resize(60, 30)
	w.WaitFor("\n" + strings.Repeat("─", 60) + "\n❯\u00a0first\n  second")
	assert.NotContains(t, w.Screen(), strings.Repeat("─", 61))
	w.Press("Escape", "Escape")
	waittest.Until(t, func() bool { return !strings.Contains(w.Screen(), "  second") })

	w.Submit("!echo $((20+3)); pwd")
	w.WaitFor("! echo $((20+3)); pwd", "⎿ \u00a023")
	s.waitStatus(w, "idle")
	assert.Contains(t, s.shape(p.SessionID), "user <bash-input>echo $((20+3)); pwd</bash-input>\nuser <bash-stdout>23\n"+s.cwd+"</bash-stdout>")
}

func TestClearStatusCompact(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	w, before := s.idle()
	w.Submit("/status")
	w.WaitFor("Settings", before.SessionID.String(), "Esc to close")
	assert.Equal(t, "dialog open", s.waitStatus(w, "waiting").WaitingFor)
	w.Submit("lost")
	w.Press("Escape")
	s.waitStatus(w, "idle")

	w.Submit("/clear")
	s.waitEvent("SessionStart/clear")
	assert.Equal(t, before.SessionID.String(), s.waitEvent("SessionEnd/clear")["session_id"])
	after := s.waitStatus(w, "idle")
	assert.NotEqual(t, before.SessionID, after.SessionID)
	assert.Contains(t, s.shape(after.SessionID), "<command-name>/clear</command-name>")

	w.Submit("/compact")
	w.WaitFor("Compacted")
	s.waitEvent("SessionStart/compact")
	w.Submit("/nosuch thing")
	w.WaitFor("● Unknown command: /nosuch")
	assert.Equal(t, []string{"/status", "/clear", "/compact", "/nosuch thing"}, s.submitted())
}

func TestDialogOpensBetweenPasteAndEnter(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	w, _ := s.idle()
	w.Submit("dialog-on-paste")
	s.waitEvent("Stop")
	s.waitStatus(w, "idle")
	w.Paste("say never")
	s.waitStatus(w, "waiting")
	w.WaitFor("from the general-purpose agent", "Do you want to proceed?")
	w.Press("Escape")
	s.waitStatus(w, "idle")
	w.WaitFor("❯\u00a0say never")
	assert.Equal(t, []string{"dialog-on-paste"}, s.submitted())
}

func TestEnds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, prompt string
		signal       syscall.Signal // 0 for none
		status       string
		ended, stale bool
	}{
		{"TERM", "say hi", syscall.SIGTERM, "143", true, false},
		{"HUP while busy", "slow 60", syscall.SIGHUP, "129", true, false},
		{"INT", "say hi", syscall.SIGINT, "0", true, false},
		{"crash", "crash", 0, "3", false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			w, _ := s.idle()
			w.Submit(tt.prompt)
			if tt.signal != 0 {
				waittest.Until(t, func() bool { names, _ := s.events(); return slices.Contains(names, "UserPromptSubmit") })
				require.NoError(t, syscall.Kill(w.PID(), tt.signal))
			}
			assert.Equal(t, tt.status, w.WaitDead())
			names, _ := s.events()
			if tt.ended {
				assert.Equal(t, "SessionEnd/other", names[len(names)-1])
			} else {
				assert.NotContains(t, names, "SessionEnd/other")
			}
			_, err := os.Stat(filepath.Join(s.config, "sessions", strconv.Itoa(w.PID())+".json"))
			assert.Equal(t, tt.stale, err == nil)
		})
	}
}

func TestTrustDialogComesFirst(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.env = append(s.env, "DEMOAGENT_TRUST=1")
	w := s.start()
	w.WaitFor("Quick safety check", "❯ No, exit", "  Yes, I trust this folder")
	names, _ := s.events()
	assert.Empty(t, names)
	_, err := os.Stat(filepath.Join(s.config, "sessions"))
	require.ErrorIs(t, err, os.ErrNotExist)
	w.Press("Down")
	w.WaitFor("❯ Yes, I trust this folder")
	w.Press("Enter")
	s.waitStatus(w, "idle")
	s.waitEvent("SessionStart/startup")

	t.Run("a blind Enter exits", func(t *testing.T) {
		other := newStage(t)
		other.env = append(other.env, "DEMOAGENT_TRUST=1")
		blind := other.start()
		blind.WaitFor("❯ No, exit")
		blind.Press("Enter")
		assert.Equal(t, "1", blind.WaitDead())
	})
	t.Run("asked once", func(t *testing.T) {
		other := *s
		other.t = t
		other.idle()
	})
}

func TestUnknownHookEventWarns(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "settings.json"), []byte(`{"hooks":{"Nope":[]}}`), 0o600))
	w := s.start()
	w.WaitFor("Settings Warning", "hooks.Nope", "❯ 1. Continue")
	w.Press("Enter")
	s.waitStatus(w, "idle")
}

// A supervisor must cope with an agent that survives a hang-up, and with a tool's child that
// outlives it.
func TestStubbornAgentAndItsChild(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.env = append(s.env, "DEMOAGENT_IGNORE_SIGNALS=1")
	w, _ := s.idle()
	w.Submit("child 600")
	w.WaitFor("$ sleep 600")
	agent := w.PID()
	table, err := process.NewTable()
	require.NoError(t, err)
	child := 0
	waittest.Until(t, func() bool {
		snap, err := table.Snapshot(t.Context())
		require.NoError(t, err)
		children := snap.Children(agent)
		if len(children) == 1 {
			child = children[0].PID
		}
		return len(children) == 1
	})

	require.NoError(t, syscall.Kill(agent, syscall.SIGTERM))
	require.NoError(t, syscall.Kill(agent, syscall.SIGHUP))
	w.Submit("say still here")
	w.WaitFor("Queued")
	waittest.Until(t, func() bool { // its hook outlives it
		names, _ := s.events()
		return strings.Count(strings.Join(names, " "), "UserPromptSubmit") == 2
	})

	require.NoError(t, syscall.Kill(agent, syscall.SIGKILL))
	assert.Equal(t, "signal 9", w.WaitDead())
	require.NoError(t, syscall.Kill(child, 0), "the child outlives the agent")
	require.NoError(t, syscall.Kill(child, syscall.SIGKILL))
}

func TestSilentAgents(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, variable string }{
		{"no presence", "DEMOAGENT_NO_PRESENCE=1"},
		{"inside another session's tool call", "CLAUDE_CODE_CHILD_SESSION=1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			s.env = append(s.env, tt.variable)
			w := s.start()
			s.waitEvent("SessionStart/startup")
			waittest.Until(t, func() bool {
				w.Submit("say heard")
				return strings.Contains(w.Screen(), "● heard")
			})
			_, err := os.Stat(filepath.Join(s.config, "sessions"))
			require.ErrorIs(t, err, os.ErrNotExist)
		})
	}
	t.Run("no hooks", func(t *testing.T) {
		s := newStage(t)
		s.env = append(s.env, "DEMOAGENT_NO_HOOKS=1")
		w, _ := s.idle()
		w.Submit("say unheard")
		w.WaitFor("✻ Worked")
		names, _ := s.events()
		assert.Empty(t, names)
	})
}
