package running

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"ccbot/agent"
	"ccbot/agent/agenttest"
	"ccbot/agent/toy"
	"ccbot/cmd/ccbot/ccbottest"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/offline"
	"ccbot/hooks"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/talk"
)

// pair is a machine with two coding agents: the demo agent as Claude Code, and the toy, which keeps
// its files in another folder.
type pair struct {
	*system
	t      *testing.T
	claude session.Record
	toy    session.Record
}

// inPair runs a test while the parts run that look after sessions.
func inPair(t *testing.T, test func(ctx context.Context, p *pair)) {
	environ := slices.DeleteFunc(machine(t), func(one string) bool { return strings.HasPrefix(one, "DEMOAGENT_NO_HOOKS=") })
	c, err := config.Load(environ)
	require.NoError(t, err)
	home := t.TempDir()
	hook := &offline.Hook{Path: filepath.Join(home, "ccbot-hook")}
	out, err := exec.Command("go", "build", "-o", hook.Path, "ccbot/cmd/ccbot-hook").CombinedOutput()
	require.NoError(t, err, string(out))
	self, err := os.Executable()
	require.NoError(t, err)
	link, starts := filepath.Join(home, agenttest.ToyName), filepath.Join(home, "start-toy")
	require.NoError(t, os.Symlink(self, link))
	require.NoError(t, os.WriteFile(starts, []byte("#!/bin/sh\nCLAUDE_CONFIG_DIR='"+home+"' exec '"+link+"' \"$@\"\n"), 0o700))
	known := offline.AgentsToStart(c, hook)
	known["toy"] = toy.New(home, agent.Launch{Command: starts, PermissionMode: agent.ModeAsk})
	s, err := beginWith(t.Context(), c, known, "cli", hook, environ, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer s.end()
	require.NoError(t, s.alone(t.Context(), func(ctx context.Context, s *system) error {
		ctx, stop := context.WithCancel(ctx)
		var g errgroup.Group
		for _, part := range []func(context.Context) error{s.Watch.Run, s.Lifecycle.Run, s.Events.Run, s.FollowPresences} {
			g.Go(func() error { return part(ctx) })
		}
		defer func() {
			stop()
			_ = g.Wait() // the parts return the context's error
		}()
		test(ctx, &pair{system: s, t: t})
		return nil
	}))
}

func (p *pair) starts(ctx context.Context, name string) session.Record {
	p.t.Helper()
	r, err := p.Lifecycle.Start(ctx, port.Start{Dir: p.t.TempDir(), Agent: name, Owner: 1, Conversation: session.Conversation{ChatID: 1}})
	require.NoError(p.t, err)
	return r
}

// until waits until a session's record has what is expected, and returns it.
func (p *pair) until(id uuid.UUID, has func(r session.Record) bool) (r session.Record) {
	p.t.Helper()
	require.Eventually(p.t, func() bool { r, _ = p.Store.Get(id); return has(r) }, ccbottest.Timeout, 5*time.Millisecond)
	return r
}

// TestP2_SessionsAreServedByTheirAgents: two agents live in one ccbot, with its real parts.
func TestP2_SessionsAreServedByTheirAgents(t *testing.T) {
	inPair(t, func(ctx context.Context, p *pair) {
		p.claude, p.toy = p.starts(ctx, agent.Default), p.starts(ctx, "toy")
		hooked := func(r session.Record) bool { return r.State == session.Running && !r.ReportsAt.IsZero() }
		p.claude = p.until(p.claude.ID, hooked)
		p.toy = p.until(p.toy.ID, func(r session.Record) bool {
			f, err := p.Coding.Of("toy").Presence(ctx, r.Agent().PID)
			return err == nil && r.State == session.Running && r.AgentSessionID == f.SessionID
		})

		// Start: the settings of a launch, with the hooks and the status line.
		settings := func(r session.Record) string { return filepath.Join(p.Dir, "launch", r.ID.String()+".json") }
		assert.FileExists(t, settings(p.claude))
		assert.NotEmpty(t, p.claude.HookDigest)
		assert.NoFileExists(t, settings(p.toy))
		assert.Empty(t, p.toy.HookDigest)
		assert.Equal(t, []string{"", "toy"}, []string{p.claude.AgentName, p.toy.AgentName})

		// Hooks: events and bindings.
		assert.True(t, p.toy.ReportsAt.IsZero())
		require.Eventually(t, func() bool { // the hook writes it after the event
			bindings, _ := hooks.Bindings(p.Dir)
			return len(bindings) == 1 && bindings[0].PID == p.claude.Agent().PID
		}, ccbottest.Timeout, 5*time.Millisecond)

		// Witness: the command line, and the presence file of the agent's own folder.
		written, err := p.Evidence.Written(ctx, p.claude.AgentSessionID, p.toy.AgentSessionID)
		require.NoError(t, err)
		assert.Equal(t, map[uuid.UUID]bool{p.claude.AgentSessionID: true, p.toy.AgentSessionID: true}, written)
		for _, r := range []session.Record{p.claude, p.toy} {
			is, err := p.Table.Inspect(r.Agent().PID)
			require.NoError(t, err)
			assert.Equal(t, r.AgentName, p.Evidence.AgentName(is))
			assert.NoError(t, p.Evidence.Names(ctx, r.AgentName, r.Agent(), r.AgentSessionID))
			other := map[string]string{"": "toy", "toy": ""}[r.AgentName]
			assert.ErrorIs(t, p.Evidence.Names(ctx, other, r.Agent(), r.AgentSessionID), hooks.ErrNotNamed)
			above, err := p.Evidence.AgentAbove(ctx, []process.Process{is})
			require.NoError(t, err)
			assert.Equal(t, []any{r.ID, r.AgentName}, []any{above.Session, above.AgentName})
		}

		// Status: what they do, and what the status line says.
		for _, r := range []session.Record{p.claude, p.toy} {
			require.Eventually(t, func() bool {
				v := p.Observer.View(ctx, r)
				return v.State.Known == view.StateWritten && v.State.Phase == talk.PhaseIdle && v.TypeSafe() && v.ByHook == (r.AgentName == "")
			}, ccbottest.Timeout, 5*time.Millisecond, r.AgentName)
		}
		assert.Nil(t, p.Observer.Usage(p.toy))

		// Ending, and what an archived session leaves when it is forgotten.
		require.NoError(t, p.Lifecycle.Archive(ctx, p.claude.ID, session.Archived, port.Cause{Why: "a test"}))
		require.NoError(t, p.Lifecycle.Archive(ctx, p.toy.ID, session.Archived, port.Cause{Why: "a test"}))
		for _, r := range []session.Record{p.claude, p.toy} {
			p.until(r.ID, func(r session.Record) bool { return r.State == session.Archived })
			assert.Equal(t, process.Gone, p.Table.Liveness(r.Agent()))
			require.NoError(t, p.Clear(ctx, r))
			assert.NoFileExists(t, settings(r))
		}
	})
}
