package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/history"
	"ccbot/internal/git"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/talk"
)

// worked is a session whose record was saved before its transcript has grown.
func worked(t *testing.T) session.Record {
	t.Helper()
	r := session.Record{ID: uuid.New(), AgentSessionID: uuid.New(), Dir: "/src", GitStart: &git.State{Head: "abc"}}
	path := filepath.Join(t.TempDir(), r.AgentSessionID.String()+".jsonl")
	todo := `{"type":"assistant","message":{"id":"m","usage":{"input_tokens":1},"content":[{"type":"tool_use","id":"t","name":"TodoWrite","input":{"todos":[{"content":"mend it","status":"in_progress"}]}}]}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}}
`
	require.NoError(t, os.WriteFile(path, []byte(todo), 0o600))
	r.Cursors = []talk.Cursor{{Path: path}}
	return r
}

// TestWorkIsAsOfNow: the record has none of the to-do items of a running turn yet.
func TestWorkIsAsOfNow(t *testing.T) {
	r := worked(t)
	m := Sessions{Terminals: Terminals{Agents: agents, Records: &records{r}}}
	w, err := m.Work(t.Context(), r.ID)
	require.NoError(t, err)
	assert.Equal(t, []port.Task{{Text: "mend it", Status: "in_progress"}}, w.Tasks)
	assert.Nil(t, w.Git)
	none, err := m.Work(t.Context(), uuid.New())
	require.NoError(t, err)
	assert.Equal(t, port.Work{}, none)

	r.AgentSessionID = uuid.New() // after a /clear, whose transcript is not there yet
	r.Progress = history.Progress{Path: "/none", Turns: 3}
	w, err = Sessions{Terminals: Terminals{Agents: agents, Records: &records{r}}}.Work(t.Context(), r.ID)
	require.NoError(t, err)
	assert.Equal(t, 3, w.Turns)
	assert.Empty(t, w.Tasks, "that was another conversation")
}

// The table has git's answers and its failures.
func TestWorkReadsGit(t *testing.T) {
	r := worked(t)
	for _, tt := range []struct {
		name    string
		state   *git.State
		changes *git.Changes
		err     error
		want    *port.Git
	}{
		{"nothing in time", nil, nil, errors.New("late"), nil},
		{"no repository", nil, nil, nil, &port.Git{}},
		{"no changes in time", &git.State{Root: "/src", Branch: "main"}, nil, errors.New("late"), &port.Git{Root: "/src", Branch: "main", Start: "abc"}},
		{"all", &git.State{Root: "/src"}, &git.Changes{Files: 1, Insertions: 2, Deletions: 3, Untracked: 4}, nil,
			&port.Git{Root: "/src", Start: "abc", Changes: &port.Changes{Files: 1, Insertions: 2, Deletions: 3, Untracked: 4}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := Sessions{Terminals: Terminals{Agents: agents, Records: &records{r}}, Git: func(_ context.Context, dir, since string) (*git.State, *git.Changes, error) {
				assert.Equal(t, []string{"/src", "abc"}, []string{dir, since})
				return tt.state, tt.changes, tt.err
			}}
			got, err := m.Work(t.Context(), r.ID)
			require.NoError(t, err)
			assert.Equal(t, tt.want, got.Git)
		})
	}
}

// TestP9_WorkOutsideAsksNoGit: an agent may have gone outside of the folders that are shown.
func TestP9_WorkOutsideAsksNoGit(t *testing.T) {
	r := worked(t)
	m := Sessions{Roots: []string{"/srv"}, Terminals: Terminals{Agents: agents, Records: &records{r}}, Git: func(context.Context, string, string) (*git.State, *git.Changes, error) {
		t.Error("git was asked")
		return nil, nil, nil
	}}
	got, err := m.Work(t.Context(), r.ID)
	require.NoError(t, err)
	assert.Equal(t, &port.Git{Outside: true}, got.Git)
}
