package engine

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/archive"
	"ccbot/cmd/ccbot/ccbottest"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/offline"
	"ccbot/internal/session"
	"ccbot/internal/session/sessiontest"
	"ccbot/lifecycle/outcome"
	"ccbot/loop"
	"ccbot/port"
	"ccbot/schedule"
)

// Shorter names for most tests here.
var (
	one, idOf = sessiontest.Over, sessiontest.ID
	folder    = ccbottest.Text
)

// newEngine returns an engine with its files and without its processes.
func newEngine(t *testing.T) *Engine {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	e := &Engine{Settings: Settings{Config: config.Config{Dir: t.TempDir(), PermissionMode: agent.ModeAsk}, Log: log}}
	e.Coding = offline.AgentsToStart(e.Config, &offline.Hook{Path: "/bin/true"})
	require.NoError(t, e.OpenRecords())
	quarantine := filepath.Join(e.Dir, "quarantine")
	e.Loops = &loop.Keeper{Log: log, Now: time.Now}
	require.NoError(t, e.Loops.Open(offline.Loops(e.Dir), quarantine))
	e.Schedules = &schedule.Keeper{Log: log, Now: time.Now}
	require.NoError(t, e.Schedules.Open(offline.Schedules(e.Dir), quarantine))
	return e
}

// outcomes has the prompts of which only the outcome is asked.
type outcomes struct {
	PlannedPrompts
	all map[uuid.UUID]outcome.Prompt
}

func (p outcomes) OutcomeOf(key uuid.UUID) (outcome.Prompt, error) {
	if q, known := p.all[key]; known {
		return q, nil
	}
	return outcome.Prompt{Finished: true}, nil
}

// TestUnreadRecordIsNoForgottenOne: loops of its session wait.
func TestUnreadRecordIsNoForgottenOne(t *testing.T) {
	e := newEngine(t)
	for id, text := range map[uuid.UUID]string{uuid.New(): `{"version":9999}`, uuid.New(): `{"version":`} {
		require.NoError(t, os.WriteFile(filepath.Join(e.Dir, "sessions", id.String()+".json"), []byte(text), 0o600))
	}
	require.NoError(t, e.OpenRecords())
	require.Len(t, e.Store.Unloaded(), 2)
	for _, a := range e.Store.Unloaded() {
		assert.True(t, (&loopEngine{Engine: e}).Unread(a.ID), a.Why)
	}
	assert.False(t, (&loopEngine{Engine: e}).Unread(uuid.New()))
}

// TestP9_LoopsAreForgottenFirst: a crash before the record goes leaves a session that can be
// forgotten again, not a task of a session that is gone.
func TestP9_LoopsAreForgottenFirst(t *testing.T) {
	f := newEngine(t)
	r := session.Record{ID: uuid.New(), AgentSessionID: uuid.New(), Name: "api", Dir: f.Dir, State: session.Archived, CreatedAt: time.Now()}
	require.NoError(t, f.Store.Create(r))
	id := uuid.New()
	data, err := json.Marshal(loop.Loop{Version: loop.Version, Loop: port.Loop{ID: id, Session: r.ID, Task: "secret", State: port.LoopPaused, Step: port.LoopAsk, Iteration: 1, Attempt: 1}})
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(offline.Loops(f.Dir), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(offline.Loops(f.Dir), id.String()+".json"), data, 0o600))
	require.NoError(t, f.Loops.Open(offline.Loops(f.Dir), filepath.Join(f.Dir, "quarantine")))
	all, err := f.Loops.All(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
	f.Lasting = LastingIn(t.Context())
	f.Keeper = &archive.Keeper{Records: f.Store, Copies: copiesOf(f), Clear: func(context.Context, session.Record) error { return errors.New("a crash") }, Now: time.Now, Log: f.Log}
	require.Error(t, f.Forget(t.Context(), r.ID))
	all, err = f.Loops.All(t.Context())
	require.NoError(t, err)
	assert.Empty(t, all)
	assert.NotContains(t, folder(t, offline.Loops(f.Dir)), "secret")
}
