package show

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port/folders"
	"ccbot/port/talk"
)

var at = time.Date(2026, 5, 4, 3, 2, 1, 0, time.Local)

// conversation holds the entries, the newest first.
type conversation struct{ talk.Conversations }

func (conversation) Read(context.Context, uuid.UUID, talk.Place, talk.Direction, int) ([]talk.Entry, error) {
	return []talk.Entry{
		{Kind: talk.EntryAnswer, Time: at, Texts: []string{"**Done**", "a\x1b[31m\tb"}, Tools: []talk.EntryTool{{Name: "Bash", Count: 2}}, Cut: true, Interrupted: true},
		{Kind: talk.EntryPrompt, Texts: []string{"fix it"}, Images: 1}}, nil
}

func (conversation) Find(context.Context, uuid.UUID, talk.Place, string, int, time.Duration) (talk.Found, error) {
	return talk.Found{Hits: []talk.Hit{{Kind: talk.EntryPrompt, Time: at, Before: "please ", Word: "fix", After: " it\nnow"}}}, nil
}

func TestHistory(t *testing.T) {
	var out strings.Builder
	require.NoError(t, Entries(t.Context(), &out, conversation{}, uuid.Nil, 2, false))
	assert.Equal(t, "-------------------  prompt\nfix it\n(1 picture)\n\n2026-05-04 03:02:01  answer, interrupted\n**Done**\n\na\uFFFD[31m\tb\n(there is more)\n(tools: Bash 2)\n", out.String())
	out.Reset()
	require.NoError(t, Entries(t.Context(), &out, conversation{}, uuid.Nil, 2, true))
	var said []Entry
	require.NoError(t, json.Unmarshal([]byte(out.String()), &said))
	assert.Equal(t, "**Done**\n\na\x1b[31m\tb", said[1].Text, "as it was written")
	out.Reset()
	require.NoError(t, Found(t.Context(), &out, conversation{}, uuid.Nil, "fix", 2, false))
	assert.Equal(t, "2026-05-04 03:02:01  prompt: please fix it now\n", out.String())
}

// repository holds the changes.
type repository struct{ folders.Diffs }

func (repository) Changes(context.Context, uuid.UUID, folders.Since) (folders.Changes, error) {
	return folders.Changes{Of: folders.LastCommit, Root: "/src", Files: []folders.ChangedFile{{Path: "b.go", From: "a.go", Kind: folders.Renamed, Added: 2, Deleted: 1},
		{Path: "x.png", Kind: folders.Untracked, Binary: true}, {Path: "key", Kind: folders.Untracked, Withheld: true}}, Outside: 2}, nil
}

// sly is a repository with names and lines that hold invisible characters.
type sly struct{ folders.Diffs }

func (sly) Changes(context.Context, uuid.UUID, folders.Since) (folders.Changes, error) {
	return folders.Changes{Files: []folders.ChangedFile{{Path: "deploy\u00a0\u202e\u3164", Kind: folders.Untracked}}}, nil
}

func (s sly) Patch(ctx context.Context, id uuid.UUID, since folders.Since, _ string) (folders.Patch, error) {
	all, err := s.Changes(ctx, id, since)
	return folders.Patch{All: all, Text: "@@ -1 +1,2 @@\n-./run x\n+./run\u00a0x \\ \n+\ty\u200b\x1b[8m\n"}, err
}

func TestP9_ChangesNameWhatIsNotSeen(t *testing.T) {
	var out strings.Builder
	require.NoError(t, Changed(t.Context(), &out, sly{}, uuid.Nil, false))
	assert.Contains(t, out.String(), " deploy···\n")
	out.Reset()
	require.NoError(t, Hunks(t.Context(), &out, sly{}, uuid.Nil, "x", false))
	assert.Equal(t, "untracked  +0 -0  deploy···\n@@ -1 +1,2 @@\n-./run x\n+./run⟨U+00A0⟩x \\⟨1×␠⟩\n+⇥   y⟨U+200B⟩⟨U+001B⟩[8m\n", out.String())
}

func (r repository) Patch(ctx context.Context, id uuid.UUID, since folders.Since, _ string) (folders.Patch, error) {
	all, err := r.Changes(ctx, id, since)
	return folders.Patch{All: all, Text: "@@ -1 +1 @@\n-a\n+b"}, err
}

func TestChanges(t *testing.T) {
	var out strings.Builder
	require.NoError(t, Changed(t.Context(), &out, repository{}, uuid.Nil, false))
	assert.Equal(t, "3 files changed since the last commit: +2 -1\n  renamed   +2 -1  a.go → b.go\n  untracked binary  x.png\n"+
		"  untracked not shown  key\noutside of the session's folder: 2 more files, not shown\n", out.String())
	out.Reset()
	require.NoError(t, Hunks(t.Context(), &out, repository{}, uuid.Nil, "b.go", false))
	assert.Equal(t, "renamed  +2 -1  a.go → b.go\n@@ -1 +1 @@\n-a\n+b\n", out.String())
}

func TestUsage(t *testing.T) {
	session := uuid.MustParse("019cb8f0-1111-7000-8000-0000bbbbbbbb")
	sum := talk.Sum{Input: 1, CacheWrite: 2, CacheRead: 3, Output: 4, Cost: 1.5}
	span := talk.Span{All: sum, Models: []talk.Line{{Name: "Opus", Sum: sum}}, Sessions: []talk.Line{{Session: session, Dir: "/src/web", Sum: sum}}}
	rep := talk.Report{Spans: []talk.Span{{}, {}, span}, Days: make([]float64, talk.ReportDays), Prices: "2026-05-01"}
	limits := []talk.Limit{{Window: talk.Week, Percent: 42, Resets: at}}
	var out strings.Builder
	require.NoError(t, Used(&out, rep, limits, "", false))
	assert.Equal(t, `limit of the week: 42% used, until 2026-05-04 03:02:01
1d       $0.00, tokens: 0 in, 0 from the cache, 0 out
7d       $0.00, tokens: 0 in, 0 from the cache, 0 out
30d      $1.50, tokens: 3 in, 3 from the cache, 4 out
models of 30 days
  Opus  $1.50, tokens: 3 in, 3 from the cache, 4 out
sessions of 30 days
  web 019cb8f0  $1.50, tokens: 3 in, 3 from the cache, 4 out
costs are estimates, by prices of 2026-05-01
`, out.String())
}
