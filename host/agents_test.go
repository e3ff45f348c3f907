package host_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/agent/toy"
	"ccbot/host"
	"ccbot/internal/ledger"
	"ccbot/internal/session"
	"ccbot/port/talk"
)

// toys is a machine with a session of Claude Code, and one of an agent that writes another form of
// transcripts.
type toys struct {
	agents  agent.Agents
	records allRecords
	dir     string
	path    string // of the toy's transcript
}

func newToys(t *testing.T) toys {
	t.Helper()
	dir := t.TempDir()
	w := toys{dir: dir, agents: agents(filepath.Join(dir, "projects"))}
	w.agents["toy"] = toy.New(dir, agent.Launch{})
	conversation := uuid.New()
	w.path = filepath.Join(toy.Folder(dir), toy.Name(conversation))
	w.records = allRecords{{ID: uuid.New(), Name: "plain", AgentSessionID: uuid.New(), State: session.Archived},
		{ID: uuid.New(), Name: "api", AgentName: "toy", AgentSessionID: conversation, State: session.Archived,
			Cursors: []talk.Cursor{{Path: w.path}}}}
	text := ""
	for i, l := range []toy.Line{{Kind: toy.Prompt, Text: "fix the test"}, {Kind: toy.Words, Text: "I look."}, {Kind: toy.Call, Text: "make"},
		{Kind: toy.Result, Text: "ok"}, {Kind: toy.Words, Text: "Done, the test passes."}, {Kind: toy.End},
		{Kind: toy.Prompt, Text: "again"}, {Kind: toy.Words, Text: "No."}, {Kind: toy.Stop}} {
		l.At = noon.Add(time.Duration(i) * time.Minute)
		text += l.String()
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(w.path), 0o700))
	require.NoError(t, os.WriteFile(w.path, []byte(text), 0o600))
	return w
}

var noon = time.Date(2026, 5, 5, 12, 0, 0, 0, time.UTC)

// TestHistoryOfOtherAgent: a conversation is read by the agent of its session's record.
func TestHistoryOfOtherAgent(t *testing.T) {
	w := newToys(t)
	c := host.Conversations{Agents: w.agents, Records: w.records, Dir: filepath.Join(w.dir, "exports"), Tickets: new(host.Tickets)}
	id := w.records[1].ID
	entries, err := c.Read(t.Context(), id, "", talk.Older, 10)
	require.NoError(t, err)
	require.Len(t, entries, 4)
	assert.True(t, entries[0].Interrupted)
	assert.Equal(t, []string{"again"}, entries[1].Texts)
	assert.Equal(t, []string{"I look.", "Done, the test passes."}, entries[2].Texts)
	assert.Equal(t, []talk.EntryTool{{Name: "Run", Count: 1}}, entries[2].Tools)
	assert.Equal(t, talk.EntryPrompt, entries[3].Kind)
	newer, err := c.Read(t.Context(), id, entries[2].At, talk.Newer, 2)
	require.NoError(t, err)
	assert.Equal(t, entries[1:3], newer)
	found, err := c.Find(t.Context(), id, "", "TEST", 10, time.Minute)
	require.NoError(t, err)
	require.Len(t, found.Hits, 2)
	assert.Equal(t, "test", found.Hits[0].Word)
	days, err := c.Days(t.Context(), id, "", 5, time.Minute)
	require.NoError(t, err)
	assert.Len(t, days.Days, 1)
	last, err := c.LastQuestions(t.Context(), []uuid.UUID{w.records[0].ID, id})
	require.NoError(t, err)
	assert.Equal(t, []string{"", "again"}, last)
	f, err := c.Export(t.Context(), id, 1<<20, talk.Words{Title: "T", Answer: "Answer"})
	require.NoError(t, err)
	text, err := c.Tickets.ReadPart(t.Context(), f.Ticket, 0)
	require.NoError(t, err)
	assert.Contains(t, string(text), "Done, the test passes.")

	all := &host.Transcripts{Agents: w.agents, Records: w.records, Log: slog.New(slog.DiscardHandler)}
	end, err := all.End(t.Context(), talk.Cursor{Path: w.path})
	require.NoError(t, err)
	items, _, err := all.Between(t.Context(), nil, end)
	require.NoError(t, err)
	require.Len(t, items, 1)
	assert.Equal(t, "No.", items[0].Text)
	items, _, err = all.Between(t.Context(), &talk.Cursor{Path: w.path}, end)
	require.NoError(t, err)
	assert.Len(t, items, 3)

	// After a new conversation the record keeps the id of the former one, and not its cursor.
	w.records[1].EarlierSessionIDs = []uuid.UUID{w.records[1].AgentSessionID}
	w.records[1].AgentSessionID, w.records[1].Cursors = uuid.New(), nil
	items, _, err = all.Between(t.Context(), nil, end)
	require.NoError(t, err)
	assert.Len(t, items, 1)
}

// TestUsageOfAllAgents: each agent counts its own files. What was counted of an agent that is not
// known any more stays in the index.
func TestUsageOfAllAgents(t *testing.T) {
	w := newToys(t)
	projects := filepath.Join(w.dir, "projects")
	require.NoError(t, os.CopyFS(projects, os.DirFS("../internal/ledger/testdata/projects")))
	clock, log := func() time.Time { return noon.Add(time.Hour) }, slog.New(slog.DiscardHandler)
	spent := func(of agent.Agents, records ...session.Record) talk.Report {
		t.Helper()
		s := &host.Spending{Ledger: ledger.New(of, filepath.Join(w.dir, "usage"), clock, log), Agents: of, Dir: w.dir, Records: allRecords(records), Now: clock, Log: log}
		report, err := s.Spent(t.Context(), time.Minute)
		require.NoError(t, err)
		assert.NotEmpty(t, report.Prices)
		return report
	}
	alone := spent(agents(projects), w.records[0])
	both := spent(w.agents, w.records...)
	const letters = int64(len("I look." + "Done, the test passes." + "No."))
	assert.Equal(t, alone.Spans[1].All.Output+letters, both.Spans[1].All.Output)
	assert.InDelta(t, alone.Spans[1].All.Cost, both.Spans[1].All.Cost, 1e-9, "the toy has no prices")
	assert.Contains(t, both.Spans[1].Sessions, talk.Line{Name: "api", Session: w.records[1].ID, Sum: talk.Sum{Output: letters, Unpriced: true}})
	assert.Contains(t, both.Spans[1].Models, talk.Line{Name: "the toy", Sum: talk.Sum{Output: letters, Unpriced: true}})

	require.NoError(t, os.Remove(w.path))
	assert.Equal(t, alone, spent(agents(projects), w.records[0]))
	assert.Equal(t, both, spent(w.agents, w.records...))
}

// TestCommandsOfSessionsAgent: two agents work in one folder.
func TestCommandsOfSessionsAgent(t *testing.T) {
	w := newToys(t)
	w.records[0].Dir, w.records[1].Dir = w.dir, w.dir
	commands := filepath.Join(w.dir, ".claude", "commands")
	require.NoError(t, os.MkdirAll(commands, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(commands, "deploy.md"), nil, 0o600))
	m := &host.Machine{Agents: w.agents, Records: w.records}
	for id, want := range map[uuid.UUID]bool{w.records[0].ID: true, w.records[1].ID: false, uuid.New(): false} {
		has, err := m.HasCommand(t.Context(), id, "deploy")
		require.NoError(t, err)
		assert.Equal(t, want, has)
	}
}

// TestUnknownAgentIsNamed: a terminal prints the error itself.
func TestUnknownAgentIsNamed(t *testing.T) {
	_, err := host.Sessions{Terminals: host.Terminals{Agents: newToys(t).agents}}.Abilities(t.Context(), "", "codec")
	assert.EqualError(t, err, `ccbot has no agent "codec"`)
}
