package host

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/transcript"
	"ccbot/agent/jsonl"
	"ccbot/internal/session"
	"ccbot/internal/watch"
	"ccbot/internal/watch/watchtest"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

func saysLine(text string) string {
	return `{"type":"assistant","message":{"content":[{"type":"text","text":"` + text + `"}]}}` + "\n"
}

// writes is a session that writes a transcript, in a state.
func writes(path string, s session.State) session.Record {
	return session.Record{ID: uuid.New(), State: s, Cursors: []talk.Cursor{{Path: path}}}
}

// talkers are the sessions of a test.
type talkers map[uuid.UUID]session.Record

func (all talkers) Get(id uuid.UUID) (session.Record, bool) { r, ok := all[id]; return r, ok }

func (all talkers) Shared() []session.Record { return slices.Collect(maps.Values(all)) }

// talks are the transcripts of some sessions.
func talks(t *testing.T, all ...session.Record) (*Transcripts, talkers) {
	known := make(talkers)
	for _, r := range all {
		known[r.ID] = r
	}
	out := &Transcripts{Agents: agents, Records: known, Watch: watchtest.Run(t, watch.New(slog.New(slog.DiscardHandler))), Log: slog.New(slog.DiscardHandler)}
	t.Cleanup(out.Close)
	return out, known
}

func said(items []talk.Item) (texts []string) {
	for _, item := range items {
		texts = append(texts, item.Text)
	}
	return texts
}

func TestTranscriptsOfEndedSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	r := writes(path, session.Archived)
	all, known := talks(t, r)
	start := talk.Cursor{Path: path}
	items, err := all.Next(t.Context(), r.ID, start, 9, true)
	require.NoError(t, err)
	assert.Empty(t, items, "what does not exist yet is empty")

	require.NoError(t, os.WriteFile(path, []byte(saysLine("one")+saysLine("two")), 0o600))
	items, err = all.Next(t.Context(), r.ID, start, 9, true)
	require.NoError(t, err)
	require.Equal(t, []string{"one", "two"}, said(items))
	one, end := items[0].Next, items[1].Next
	items, err = all.Next(t.Context(), r.ID, start, 1, true)
	require.NoError(t, err)
	assert.Equal(t, []string{"one"}, said(items))
	items, err = all.Next(t.Context(), r.ID, end, 9, true)
	require.NoError(t, err)
	assert.Empty(t, items, "it is not waited for")
	assert.Empty(t, all.kept)
	found, err := all.End(t.Context(), start)
	require.NoError(t, err)
	assert.Equal(t, end, found)

	for from, want := range map[*talk.Cursor]int{nil: 2, &one: 1} {
		said, _, err := all.Between(t.Context(), from, end)
		require.NoError(t, err)
		assert.Len(t, said, want)
	}

	r.TranscriptEnd = one.Offset
	known[r.ID] = r
	items, err = all.Next(t.Context(), r.ID, start, 9, true)
	require.NoError(t, err)
	assert.Equal(t, []string{"one"}, said(items), "the rest was written at the desk")

	require.NoError(t, os.WriteFile(path, []byte(saysLine("x")), 0o600))
	_, err = all.Next(t.Context(), r.ID, end, 9, true)
	require.True(t, refusal.Is(err, refusal.Replaced))
}

// A transcript that is written is waited for; it stays open between two calls, and no longer than
// its session.
func TestTranscriptsOfOpenSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	r := writes(path, session.Running)
	other := writes(filepath.Join(t.TempDir(), "o.jsonl"), session.Archived)
	all, known := talks(t, r, other)
	came := make(chan []talk.Item)
	next := func(from talk.Cursor) {
		items, err := all.Next(t.Context(), r.ID, from, 9, true)
		assert.NoError(t, err)
		came <- items
	}
	go next(talk.Cursor{Path: path})
	require.NoError(t, os.WriteFile(path, []byte(saysLine("one")), 0o600))
	items := <-came
	require.Equal(t, []string{"one"}, said(items))
	kept := all.kept[r.ID]
	require.NotNil(t, kept)

	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	defer f.Close()
	go next(items[0].Next)
	_, err = f.WriteString(saysLine("two"))
	require.NoError(t, err)
	two := <-came
	require.Equal(t, []string{"two"}, said(two))
	assert.Same(t, kept, all.kept[r.ID], "it goes on where it was")

	go next(items[0].Next) // an earlier place
	assert.Equal(t, []string{"two"}, said(<-came))
	again := all.kept[r.ID]
	assert.NotSame(t, kept, again)

	ended, stop := context.WithCancel(t.Context())
	stop()
	_, err = all.Next(ended, r.ID, two[0].Next, 9, true)
	require.ErrorIs(t, err, context.Canceled)
	assert.Same(t, again, all.kept[r.ID], "a call that ends early changes nothing")

	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path, []byte(saysLine("one")+saysLine("x")), 0o600))
	_, err = all.Next(t.Context(), r.ID, two[0].Next, 9, true)
	require.True(t, refusal.Is(err, refusal.Replaced), "another file of the same size is another one")
	assert.Empty(t, all.kept)

	go next(talk.Cursor{Path: path})
	<-came
	require.Len(t, all.kept, 1)
	r.State = session.Archived
	known[r.ID] = r
	_, err = all.Next(t.Context(), other.ID, talk.Cursor{Path: other.Cursors[0].Path}, 9, true)
	require.NoError(t, err)
	assert.Empty(t, all.kept, "the session is over")
}

// An earlier transcript is read to its end, not waited for.
func TestTranscriptsBeforeTheLast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	r := writes(path, session.Running)
	r.Cursors = append(r.Cursors, talk.Cursor{Path: "/new"}, talk.Cursor{Path: path, Offset: 7})
	all, _ := talks(t, r)
	items, err := all.Next(t.Context(), r.ID, talk.Cursor{Path: path}, 9, true)
	require.NoError(t, err)
	assert.Empty(t, items)
}

func TestItemHasTool(t *testing.T) {
	call := itemOf(jsonl.Item{Kind: jsonl.ToolUse, Tool: &jsonl.Tool{Name: "Bash", ID: "t1",
		Input: []byte(`{"command":"go test ./...","description":"tests"}`)}})
	assert.Equal(t, &talk.Tool{ID: "t1", Name: "Bash", Step: "go test ./..."}, call.Tool)
	edit := itemOf(jsonl.Item{Kind: jsonl.ToolUse, Tool: &jsonl.Tool{Name: "Edit", ID: "t2",
		Input: []byte(`{"file_path":"/w/a.go","old_string":"x"}`)}})
	assert.Equal(t, "Edit /w/a.go", edit.Tool.Step)
	end := itemOf(jsonl.Item{Kind: jsonl.ToolResult, Tool: &jsonl.Tool{ID: "t1", IsError: true, Denial: "user-rejected"}})
	assert.Equal(t, &talk.Tool{ID: "t1", Failed: true, Denied: true}, end.Tool)
	assert.True(t, itemOf(jsonl.Item{Kind: jsonl.Text, Last: true}).Last)
}

// itemOf is an item of Claude Code as the chat takes it.
func itemOf(item jsonl.Item) talk.Item {
	shown, _ := transcript.Form().ItemOf(item)
	return shown
}
