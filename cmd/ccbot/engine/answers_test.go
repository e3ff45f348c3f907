package engine

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/internal/watch"
	"ccbot/internal/watch/watchtest"
	"ccbot/lifecycle/view"
	"ccbot/port/talk"
)

// TestLoopListensToAllAgents: to the agent of a session, and to subagents whose folder does not
// exist yet.
func TestLoopListensToAllAgents(t *testing.T) {
	f := newEngine(t)
	r := one(1, "api")
	path := filepath.Join(t.TempDir(), r.AgentSessionID.String()+".jsonl")
	r.Cursors = []talk.Cursor{{Path: path}}
	require.NoError(t, f.Store.Create(r))
	f.Watch, f.Observer = watchtest.Run(t, watch.New(slog.New(slog.DiscardHandler))), &view.Observer{Agents: f.Coding}
	heard := make(chan struct{}, 100)
	ctx, end := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		(&loopEngine{Engine: f}).Listen(ctx, r.ID, func() { heard <- struct{}{} })
	}()
	hears := func(what string) {
		t.Helper()
		waittest.Next(t, heard, "it hears %s", what)
	}
	silence := func() {
		for quiet := false; !quiet; {
			select {
			case <-heard:
			case <-time.After(200 * time.Millisecond):
				quiet = true
			}
		}
	}
	hears("what was there")
	silence()
	require.NoError(t, os.WriteFile(path, []byte("{}\n"), 0o600))
	hears("the agent")
	silence()
	subagents := filepath.Join(filepath.Dir(path), r.AgentSessionID.String(), "subagents")
	require.NoError(t, os.MkdirAll(subagents, 0o700))
	silence()
	require.NoError(t, os.WriteFile(filepath.Join(subagents, "agent-1.jsonl"), []byte("{}\n"), 0o600))
	hears("a subagent")
	silence()

	require.NoError(t, f.Store.Do(ctx, r.ID, func(r *session.Record, save func() error) error { // as after /clear
		r.AgentSessionID = idOf(77)
		r.Cursors = append(r.Cursors, talk.Cursor{Path: filepath.Join(filepath.Dir(path), r.AgentSessionID.String()+".jsonl")})
		return save()
	}))
	hears("what the next conversation has")
	silence()
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(path), idOf(77).String()+".jsonl"), []byte("{}\n"), 0o600))
	hears("the next conversation")
	silence()
	for tries, quiet := 0, false; !quiet; tries++ { // a report of the next one may come late
		require.Less(t, tries, 20, "the former conversation is no longer its own")
		require.NoError(t, os.WriteFile(path, []byte("{}\n{}\n"), 0o600))
		select {
		case <-heard:
			silence()
		case <-time.After(200 * time.Millisecond):
			quiet = true
		}
	}
	end()
	<-done
}
