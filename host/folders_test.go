package host

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/agent/claude"
	"ccbot/agent/history"
	"ccbot/internal/programtest"
	"ccbot/internal/session"
	"ccbot/port/folders"
	"ccbot/port/refusal"
)

// listed are records in memory.
type listed []session.Record

func (l listed) Shared() []session.Record { return l }

func (l listed) Get(uuid.UUID) (session.Record, bool) { return session.Record{}, false }

func TestChildren(t *testing.T) {
	base := tree(t, []string{"root/b", "root/A", "root/.git", "root/sub/deep", "out"},
		map[string]string{"root/link": "root/b", "root/leads-out": "out", "root/dangling": "nowhere"})
	require.NoError(t, os.WriteFile(filepath.Join(base, "root/file"), nil, 0o600))
	require.NoError(t, syscall.Mkfifo(filepath.Join(base, "root/pipe"), 0o600))
	at := func(name string) string { return filepath.Join(base, name) }
	m := &Machine{Roots: []string{at("root")}}
	names, more, err := m.Children(t.Context(), at("root"), false)
	require.NoError(t, err)
	assert.Equal(t, []string{"A", "b", "leads-out", "link", "sub"}, names)
	assert.False(t, more)
	names, _, err = m.Children(t.Context(), at("root"), true)
	require.NoError(t, err)
	assert.Contains(t, names, ".git")
	for dir, code := range map[string]refusal.Code{"root/none": refusal.DirMissing, "root/file": refusal.DirNotADir, "root/pipe": refusal.DirNotADir,
		"root/leads-out": refusal.DirOutside, "out": refusal.DirOutside, "root/b/../..": refusal.DirOutside} {
		_, _, err := m.Children(t.Context(), at(dir), false)
		assert.True(t, refusal.Is(err, code), "%s: %v", dir, err)
	}
}

func TestChildrenOfFullFolderAreCalledSome(t *testing.T) {
	dir := t.TempDir()
	for i := range mostChildren + 1 {
		require.NoError(t, syscall.Mknod(filepath.Join(dir, strconv.Itoa(i)), syscall.S_IFREG|0o600, 0))
	}
	_, more, err := (&Machine{}).Children(t.Context(), dir, false)
	require.NoError(t, err)
	assert.True(t, more)
}

func TestConversations(t *testing.T) {
	base := tree(t, []string{"api", "projects"}, nil)
	dir := filepath.Join(base, "api")
	var ids []uuid.UUID
	projects := filepath.Join(base, "projects")
	m := &Machine{Agents: agent.Agents{agent.Default: claude.New(projects, agent.Launch{}, nil)}, Written: func(context.Context, ...uuid.UUID) (map[uuid.UUID]bool, error) {
		return map[uuid.UUID]bool{ids[1]: true}, nil
	}}
	said := func(text string) {
		place := filepath.Join(projects, notAlnum(dir))
		require.NoError(t, os.MkdirAll(place, 0o700))
		ids = append(ids, uuid.New())
		line := fmt.Sprintf(`{"type":"user","uuid":"u","cwd":%q,"message":{"role":"user","content":%q}}`, dir, text)
		path := filepath.Join(place, ids[len(ids)-1].String()+".jsonl")
		require.NoError(t, os.WriteFile(path, []byte(line+"\n"), 0o600))
	}
	said("one")
	said("two")
	owner := session.Record{ID: uuid.New(), AgentSessionID: ids[0], State: session.Archived}
	open := session.Record{ID: uuid.New(), AgentSessionID: ids[0], State: session.Running}
	m.Records = listed{owner, open}
	all, more, err := m.Conversations(t.Context(), dir, 0, 5)
	require.NoError(t, err)
	assert.False(t, more)
	require.Len(t, all, 2)
	for _, c := range all {
		assert.Equal(t, c.AgentSessionID == ids[1], c.Written)
		assert.Equal(t, c.AgentSessionID == ids[0], c.Session == open.ID, "an open session goes before one that is over")
	}
	first, more, err := m.Conversations(t.Context(), dir, 0, 1)
	require.NoError(t, err)
	assert.True(t, more)
	second, more, err := m.Conversations(t.Context(), dir, 1, 1)
	require.NoError(t, err)
	assert.False(t, more)
	assert.NotEqual(t, first[0].AgentSessionID, second[0].AgentSessionID)

	m.Written = func(context.Context, ...uuid.UUID) (map[uuid.UUID]bool, error) { return nil, assert.AnError }
	all, _, err = m.Conversations(t.Context(), dir, 0, 5)
	require.NoError(t, err)
	assert.True(t, all[0].Written && all[1].Written, "unknown is no free conversation (P6)")
	assert.True(t, all[0].Unseen && all[1].Unseen)
	require.NoError(t, os.Remove(dir))
	_, _, err = m.Conversations(t.Context(), dir, 0, 5)
	assert.True(t, refusal.Is(err, refusal.DirMissing), err)
}

// TestConversationsOfAllAgents lists the conversations of each installed agent by the time of the
// last write, across pages.
func TestConversationsOfAllAgents(t *testing.T) {
	base := tree(t, []string{"api"}, nil)
	dir := filepath.Join(base, "api")
	self, err := os.Executable()
	require.NoError(t, err)
	times := map[string]int{"claude": 2, "codex": 1, "gone": 4} // the first is the newest
	m := &Machine{Records: listed{}, Agents: agent.Agents{}, Written: func(context.Context, ...uuid.UUID) (map[uuid.UUID]bool, error) { return nil, nil }}
	for name, first := range times {
		of := talksOf{hours: []int{first, first + 2}}
		one := agent.Agent{Folders: of, Proof: of, Launch: agent.Launch{Command: self}}
		if name != agent.Default {
			one.Product = strings.ToUpper(name)
		}
		if name == "gone" {
			one.Launch.Command = filepath.Join(base, "nothing")
		}
		m.Agents[name] = one
	}
	var seen []string
	for from := range 5 {
		all, more, err := m.Conversations(t.Context(), dir, from, 1)
		require.NoError(t, err)
		assert.Equal(t, from < 3, more)
		for _, c := range all {
			seen = append(seen, c.LastQuestion+" "+c.Agent+" "+c.Product)
		}
	}
	assert.Equal(t, []string{"1 codex CODEX", "2  ", "3 codex CODEX", "4  "}, seen)
}

// talksOf has conversations that were written so many hours ago, the newest first.
type talksOf struct {
	agent.Proof
	hours []int
}

func (h talksOf) HasCommand(string, string) bool { return false }

func (h talksOf) InFolder(_ context.Context, _ string, see func(history.Conversation) bool) error {
	for _, ago := range h.hours {
		if !see(history.Conversation{ID: uuid.New(), Path: strconv.Itoa(ago), Changed: time.Now().Add(-time.Duration(ago) * time.Hour)}) {
			return nil
		}
	}
	return nil
}

func (talksOf) LastPrompt(_ context.Context, path string) string { return path }

// beside is a machine with a repository of one commit, in a separate folder.
func beside(t *testing.T) (m *Machine, dir string, run func(args ...string)) {
	t.Helper()
	programtest.Require(t, "git")
	dir = filepath.Join(WithoutLinks(t.TempDir()), "api")
	require.NoError(t, os.Mkdir(dir, 0o700))
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	run = func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=n@localhost"}, args...)...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	run("init", "-q", "-b", "main")
	run("commit", "-q", "--allow-empty", "-m", "a")
	return &Machine{GitEnv: env, Records: listed{}, Folders: new(session.Gate)}, dir, run
}

func TestConcurrentStartsGetTwoWorktrees(t *testing.T) {
	m, dir, _ := beside(t)
	add := func(key string) string {
		made, err := m.Add(t.Context(), dir, key)
		assert.NoError(t, err)
		return made
	}
	second := make(chan string)
	go func() { second <- add("two") }()
	assert.ElementsMatch(t, []string{dir + "-2", dir + "-3"}, []string{add("one"), <-second})
	first := add("one")
	m.Records = listed{{ID: uuid.New(), Dir: first, Origin: "one", State: session.Starting}}
	require.NoError(t, m.Done(t.Context(), "", "one"))
	assert.Equal(t, first, add("one"), "its session has begun")
	given := add("two")
	assert.Equal(t, dir+"-4", add("three"))
	err := m.Remove(t.Context(), given)
	assert.True(t, refusal.Is(err, refusal.WrongState), "a session is about to begin there: %v", err)
	require.NoError(t, m.Done(t.Context(), "", "two"))
	assert.Equal(t, given, add("four"), "the other start was given up")
}

func TestWorktreeIsRefused(t *testing.T) {
	m, dir, run := beside(t)
	m.Roots = []string{dir}
	_, err := m.Add(t.Context(), dir, "one")
	assert.True(t, refusal.Is(err, refusal.DirOutside), err)
	m.Roots = nil
	_, err = m.Add(t.Context(), t.TempDir(), "one")
	assert.True(t, refusal.Is(err, refusal.NoRepository), err)
	run("checkout", "-q", "--orphan", "other")
	_, err = m.Add(t.Context(), dir, "one")
	assert.True(t, refusal.Is(err, refusal.NoCommit), err)
}

// A work tree that git does not report is gone only if its folder is.
func TestUnknownWorktreeIsNotGone(t *testing.T) {
	m, dir, run := beside(t)
	made, err := m.Add(t.Context(), dir, "one")
	require.NoError(t, err)
	require.NoError(t, m.Done(t.Context(), "", "one"))
	w, found, err := m.Find(t.Context(), made)
	require.NoError(t, err)
	assert.Equal(t, folders.Worktree{Dir: made, Of: dir, Branch: "api-2"}, w)
	assert.True(t, found)

	run("config", "filter.a=b.clean", "cat") // with a filter of such a name git does not run
	w, found, err = m.Find(t.Context(), made)
	require.Error(t, err)
	assert.Equal(t, []any{made, true}, []any{w.Dir, found})
	run("config", "--unset", "filter.a=b.clean")

	end, err := m.Folders.Begin(t.Context(), made)
	require.NoError(t, err)
	err = m.Remove(t.Context(), made)
	assert.True(t, refusal.Is(err, refusal.WrongState), "a session begins there: %v", err)
	end()
	for _, state := range []session.State{session.Running, session.CleanupFailed} {
		m.Records = listed{{ID: uuid.New(), Dir: made, State: state}}
		err = m.Remove(t.Context(), made)
		assert.True(t, refusal.Is(err, refusal.WrongState), "a %s session may write there: %v", state, err)
	}
	m.Records = listed{{ID: uuid.New(), Dir: made, State: session.Archived}}
	m.Unread = func(inside func(dir string) bool) bool { return inside(made) }
	err = m.Remove(t.Context(), made)
	assert.True(t, refusal.Is(err, refusal.WrongState), "the session of an unread record may work there: %v", err)
	m.Unread = func(inside func(dir string) bool) bool { return inside(dir) }
	require.NoError(t, m.Remove(t.Context(), made))
	_, found, err = m.Find(t.Context(), made)
	require.NoError(t, err)
	assert.False(t, found)
	err = m.Remove(t.Context(), made)
	assert.True(t, refusal.Is(err, refusal.DirMissing), err)
}

// A link that leads to another work tree of ccbot, whose removal was not requested.
func TestP9_RemoveFollowsNoLink(t *testing.T) {
	m, dir, _ := beside(t)
	asked, err := m.Add(t.Context(), dir, "one")
	require.NoError(t, err)
	other, err := m.Add(t.Context(), dir, "two")
	require.NoError(t, err)
	require.NoError(t, m.Done(t.Context(), "", "one"))
	require.NoError(t, m.Done(t.Context(), "", "two"))
	require.NoError(t, os.Rename(asked, asked+".old"))
	require.NoError(t, os.Symlink(other, asked))
	err = m.Remove(t.Context(), asked)
	assert.True(t, refusal.Is(err, refusal.DirMissing), err)
	assert.DirExists(t, other)
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
