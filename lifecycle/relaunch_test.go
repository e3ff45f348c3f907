package lifecycle

import (
	coding "ccbot/agent"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude"
	"ccbot/agent/history"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/port/talk"
	"ccbot/tmux/tmuxtest"
)

const seenLine = `{"type":"assistant","requestedModel":"claude-x[1m]","message":{"id":"m","model":"claude-x","content":[],"usage":{"output_tokens":1}}}`

func TestLaunchIsNoted(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.configure(func(l *coding.Launch) { l.Flags = []string{"--verbose"} })
		r, _ := w.starting()
		assert.Equal(t, &session.Launch{Command: w.command(), Flags: []string{"--verbose"}, PermissionMode: "ask"}, r.Launch)
		assert.Equal(t, []string{"--session-id", r.AgentSessionID.String(), "--verbose"}, w.argvOf(r))
	})
}

// The intent to start has the way of launching, so that a crash in between loses nothing.
func TestP8_LaunchIsNotedBeforeWindow(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.configure(func(l *coding.Launch) { l.Flags = []string{"--verbose"} })
		var onDisk []session.Record
		w.tmux.onLaunch = func(*agent, *tmuxtest.Process) { onDisk = w.Store.List() }
		w.starting()
		require.Len(t, onDisk, 1)
		require.NotNil(t, onDisk[0].Launch)
		assert.Equal(t, []string{"--verbose"}, onDisk[0].Launch.Flags)
	})
}

// A restore starts the agent as it was: its flags, and the model and the mode that a person has
// switched it to, also in the terminal after the end.
func TestRestoreRepeatsLaunch(t *testing.T) {
	tests := []struct {
		name string
		life func(w *world, r session.Record) // before the restore
		want func(w *world) []string          // flags
	}{
		{"its flags, not those of now", func(w *world, _ session.Record) {
			w.configure(func(l *coding.Launch) { l.Flags = []string{"--debug"} })
		},
			func(*world) []string { return []string{"--permission-mode", "default", "--verbose", "--model", "opus"} }},
		{"its mode and its model", func(w *world, r session.Record) { w.write(r, seenLine); w.write(r, planModeLine) },
			func(*world) []string {
				return []string{"--permission-mode", "plan", "--verbose", "--model", "claude-x[1m]"}
			}},
		{"a record that an older program wrote", func(w *world, r session.Record) {
			w.edit(r.ID, func(r *session.Record) { r.Launch, r.Progress = nil, history.Progress{} })
			w.configure(func(l *coding.Launch) { l.Flags = []string{"--debug"} })
		}, func(*world) []string { return []string{"--permission-mode", "default", "--debug"} }},
		{"of an older program, what the transcript says", func(w *world, r session.Record) {
			w.write(r, planModeLine)
			w.edit(r.ID, func(r *session.Record) { r.Launch, r.Progress = nil, history.Progress{} })
		}, func(*world) []string { return []string{"--permission-mode", "plan", "--verbose", "--model", "opus"} }},
		{"not what asks nobody", func(w *world, r session.Record) { w.write(r, `{"type":"permission-mode","permissionMode":"auto"}`) },
			func(*world) []string { return []string{"--permission-mode", "default", "--verbose", "--model", "opus"} }},
		{"not what is not configured any more", func(w *world, r session.Record) {
			w.edit(r.ID, func(r *session.Record) {
				r.Launch.PermissionMode, r.Launch.Flags = "bypass", []string{"--verbose", "--dangerously-skip-permissions"}
			})
		}, func(*world) []string { return []string{"--permission-mode", "default", "--verbose"} }},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.configure(func(l *coding.Launch) { l.Flags = []string{"--verbose", "--model", "opus"} })
				r := w.archived()
				tc.life(w, r)
				r, err := w.restoreIt(r.ID)
				require.NoError(t, err)
				assert.Equal(t, append([]string{"--resume", r.AgentSessionID.String()}, tc.want(w)...), w.argvOf(r))
				assert.Equal(t, &session.Launch{Command: w.command(), Flags: tc.want(w), PermissionMode: "ask"}, r.Launch, "and is noted")
				w.hook(r, hookwire.SessionStart, func(e *hookwire.Event) { e.Source = "resume" })
				w.pass(time.Second)
				assert.Equal(t, session.Running, w.get(r.ID).State)
			})
		})
	}
}

// A restore that is refused notes nothing.
func TestRefusedRestoreKeepsLaunch(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		w.write(r, planModeLine)
		w.processes.StartNow(777, resume(r.AgentSessionID))
		_, err := w.restoreIt(r.ID)
		require.Error(t, err)
		assert.Equal(t, r.Launch, w.get(r.ID).Launch)
		assert.Equal(t, r.Progress, w.get(r.ID).Progress)
	})
}

// The earlier command may be one that never asks, and was replaced for that reason.
func TestRestoreUsesConfiguredCommand(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		w.configure(func(l *coding.Launch) { l.Command = filepath.Join(w.base, "other") })
		require.NoError(t, os.WriteFile(w.command(), []byte("#!/bin/sh\n"), 0o700))
		r, err := w.restoreIt(r.ID)
		require.NoError(t, err)
		assert.Equal(t, w.command(), w.tmux.Process(w.tmux.agentOf(r).pane).Spec.Argv[0])
		assert.Equal(t, w.command(), r.Launch.Command)
		w.archive(w.get(r.ID))

		require.NoError(t, os.Remove(w.command()))
		_, err = w.restoreIt(r.ID)
		require.ErrorIs(t, err, claude.ErrNotInstalled)
	})
}

// Claude Code starts a copy in the mode of its original, which may be one that never asks.
func TestForkIsAsStrictAsStart(t *testing.T) {
	for seen, want := range map[string]string{"auto": "default", "plan": "plan"} {
		t.Run(seen, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				original := w.archived()
				w.write(original, `{"type":"permission-mode","permissionMode":"`+seen+`"}`)
				q := w.request()
				q.ForkOf = original.AgentSessionID
				r, err := w.Start(w.ctx, q)
				require.NoError(t, err)
				assert.Equal(t, []string{"--permission-mode", want}, w.argvOf(r)[5:])
				assert.Zero(t, r.Progress, "it has said nothing itself")
			})
		})
	}
}

func TestRestoreStartsNewPhase(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		old := w.archived()
		require.Equal(t, string(talk.PhaseIdle), old.Phase)
		r, err := w.restoreIt(old.ID)
		require.NoError(t, err)
		assert.Empty(t, r.Phase)
		w.hook(r, hookwire.SessionStart, func(e *hookwire.Event) { e.Source = "resume" })
		w.pass(time.Minute)
		now := w.get(r.ID)
		assert.Equal(t, string(talk.PhaseIdle), now.Phase)
		assert.False(t, now.PhaseAt.Before(r.StartedAt))
		assert.Equal(t, old.Progress.Turns, now.Progress.Turns)
	})
}

// Right after its window was made the process may still be tmux's own, or env.
func TestBindingHasAgentsProgram(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.starting()
		first, err := w.processes.Inspect(a.id.PID)
		require.NoError(t, err)
		assert.Equal(t, process.ArgvHash(first.Args), r.Binding.ArgvDigest)
		w.processes.Change(a.id.PID, func(p *process.Process) { p.Exe, p.Args = "/opt/claude", []string{"claude", "--later"} })
		w.report(r)
		w.pass(time.Second)
		r = w.get(r.ID)
		require.Equal(t, session.Running, r.State)
		assert.Equal(t, "/opt/claude", r.Binding.Exe)
		assert.Equal(t, "/opt/claude", r.Exe)
		assert.Equal(t, process.ArgvHash([]string{"claude", "--later"}), r.Binding.ArgvDigest)
	})
}
