package transcript

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/history"
)

func TestPlaceOf(t *testing.T) {
	for dir, want := range map[string]string{
		"/tmp/proj/We ird_dir.x/ünï-é@1": "-tmp-proj-We-ird-dir-x--n----1", // of the real CLI
		"/srv/api":                       "-srv-api",
		"/s/🙂":                           "-s---",
	} {
		assert.Equal(t, want, placeOf(dir))
	}
}

func TestInFolder(t *testing.T) {
	projects := t.TempDir()
	find := func(dir string) (all []history.Conversation) {
		t.Helper()
		require.NoError(t, InFolder(t.Context(), projects, dir, func(c history.Conversation) bool { all = append(all, c); return len(all) < 2 }))
		return all
	}
	assert.Empty(t, find("/srv/a-b"))
	place := filepath.Join(projects, "-srv-a-b")
	require.NoError(t, os.MkdirAll(filepath.Join(place, uuid.NewString()+".jsonl"), 0o700))
	write := func(name string, at int64, lines ...string) {
		path := filepath.Join(place, name)
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
		require.NoError(t, os.Chtimes(path, time.Unix(at, 0), time.Unix(at, 0)))
	}
	here, there, silent := uuid.New(), uuid.New(), uuid.New()
	said := `{"type":"user","uuid":"u1","message":{"role":"user","content":"mend it"}`
	write(here.String()+".jsonl", 10, `{"type":"mode","mode":"x"}`, said+`,"cwd":"/srv/a-b"}`, said+`,"cwd":"/srv/elsewhere"}`)
	write(there.String()+".jsonl", 20, said+`,"cwd":"/srv/a/b"}`)
	write(silent.String()+".jsonl", 30, `{"type":"mode"}`)
	write("notes.jsonl", 40)
	write(strings.ToUpper(uuid.NewString())+".jsonl", 40)
	write(uuid.NewString()+".txt", 40)
	all := find("/srv/a-b")
	require.Len(t, all, 2)
	assert.Equal(t, []uuid.UUID{silent, here}, []uuid.UUID{all[0].ID, all[1].ID}, "last written first")
	assert.Len(t, find("/srv/a/b"), 2)
	for i, want := range []string{"", "mend it"} {
		assert.Equal(t, want, Form().LastPrompt(t.Context(), all[i].Path))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, InFolder(ctx, projects, "/srv/a-b", func(history.Conversation) bool { return true }), context.Canceled)
	gone := all[0].Path
	require.NoError(t, os.Remove(gone))
	assert.False(t, isFrom(gone, "/srv/a-b"))
	require.NoError(t, syscall.Mkfifo(gone, 0o600))
	assert.False(t, isFrom(gone, "/srv/a-b"), "a pipe in its place is not waited for")
}
