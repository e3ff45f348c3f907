package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/port/refusal"
	"ccbot/internal/session"
)

// listed are records in memory.
type listed []session.Record

func (l listed) Shared() []session.Record { return l }

func (l listed) Get(uuid.UUID) (session.Record, bool) { return session.Record{}, false }

func TestChildren(t *testing.T) {
	base := tree(t, []string{"root/b", "root/A", "root/.git", "root/sub/deep", "out"},
		map[string]string{"root/link": "root/b", "root/leads-out": "out", "root/dangling": "nowhere"})
	require.NoError(t, os.WriteFile(filepath.Join(base, "root/file"), nil, 0o600))
	at := func(name string) string { return filepath.Join(base, name) }
	m := &Machine{Roots: []string{at("root")}}
	names, err := m.Children(t.Context(), at("root"), false)
	require.NoError(t, err)
	assert.Equal(t, []string{"A", "b", "leads-out", "link", "sub"}, names)
	names, err = m.Children(t.Context(), at("root"), true)
	require.NoError(t, err)
	assert.Contains(t, names, ".git")
	for dir, code := range map[string]refusal.Code{"root/none": refusal.DirMissing, "root/file": refusal.DirNotADir,
		"root/leads-out": refusal.DirOutside, "out": refusal.DirOutside, "root/b/../..": refusal.DirOutside} {
		_, err := m.Children(t.Context(), at(dir), false)
		assert.True(t, refusal.Is(err, code), "%s: %v", dir, err)
	}
}

func TestConversations(t *testing.T) {
	base := tree(t, []string{"api", "projects"}, nil)
	dir := filepath.Join(base, "api")
	var ids []uuid.UUID
	m := &Machine{ProjectsDir: filepath.Join(base, "projects"), Written: func(_ context.Context, claude ...uuid.UUID) (map[uuid.UUID]bool, error) {
		return map[uuid.UUID]bool{ids[1]: true}, nil
	}}
	said := func(text string) {
		place := filepath.Join(m.ProjectsDir, notAlnum(dir))
		require.NoError(t, os.MkdirAll(place, 0o700))
		ids = append(ids, uuid.New())
		line := fmt.Sprintf(`{"type":"user","uuid":"u","cwd":%q,"message":{"role":"user","content":%q}}`, dir, text)
		path := filepath.Join(place, ids[len(ids)-1].String()+".jsonl")
		require.NoError(t, os.WriteFile(path, []byte(line+"\n"), 0o600))
	}
	said("one")
	said("two")
	owner := session.Record{ID: uuid.New(), ClaudeSessionID: ids[0], State: session.Archived}
	open := session.Record{ID: uuid.New(), ClaudeSessionID: ids[0], State: session.Running}
	m.Records = listed{owner, open}
	all, more, err := m.Conversations(t.Context(), dir, 0, 5)
	require.NoError(t, err)
	assert.False(t, more)
	require.Len(t, all, 2)
	for _, c := range all {
		assert.Equal(t, c.Claude == ids[1], c.Written)
		assert.Equal(t, c.Claude == ids[0], c.Session == open.ID, "an open session goes before one that is over")
	}
	first, more, err := m.Conversations(t.Context(), dir, 0, 1)
	require.NoError(t, err)
	assert.True(t, more)
	second, more, err := m.Conversations(t.Context(), dir, 1, 1)
	require.NoError(t, err)
	assert.False(t, more)
	assert.NotEqual(t, first[0].Claude, second[0].Claude)

	m.Written = func(context.Context, ...uuid.UUID) (map[uuid.UUID]bool, error) { return nil, assert.AnError }
	all, _, err = m.Conversations(t.Context(), dir, 0, 5)
	require.NoError(t, err)
	assert.True(t, all[0].Written && all[1].Written, "unknown is no free conversation (P6)")
	assert.True(t, all[0].Unseen && all[1].Unseen)
	require.NoError(t, os.Remove(dir))
	_, _, err = m.Conversations(t.Context(), dir, 0, 5)
	assert.True(t, refusal.Is(err, refusal.DirMissing), err)
}

// notAlnum is the name of a folder of transcripts.
func notAlnum(dir string) string {
	out := []byte(dir)
	for i, b := range out {
		if !(b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z') {
			out[i] = '-'
		}
	}
	return string(out)
}
