package git

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/programtest"
)

// repo is a separate repository, independent of the machine's configuration.
type repo struct {
	t   *testing.T
	dir string
	env []string
}

func newRepo(t *testing.T) repo {
	t.Helper()
	programtest.Require(t, "git")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	r := repo{t: t, dir: dir, env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}}
	r.git("init", "-q", "-b", "main")
	r.git("config", "user.email", "nobody@localhost")
	r.git("config", "user.name", "nobody")
	return r
}

func (r repo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = r.dir, r.env
	out, err := cmd.CombinedOutput()
	require.NoError(r.t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

func (r repo) file(name, content string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(r.t, os.WriteFile(path, []byte(content), 0o600))
}

func (r repo) commit(name string) string {
	r.t.Helper()
	r.file(name, "one\n")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", name)
	return r.git("rev-parse", "HEAD")
}

func (r repo) look(dir string) (*State, error) {
	state, _, err := comparison(r.t.Context(), dir, r.env, "")
	return state, err
}

func TestLook(t *testing.T) {
	tests := []struct {
		name string
		make func(r repo) (dir string, want State)
	}{
		{"before the first commit", func(r repo) (string, State) { return r.dir, State{Branch: "main"} }},
		{"clean", func(r repo) (string, State) {
			head := r.commit("a")
			return r.dir, State{Branch: "main", Head: head}
		}},
		{"from a folder below", func(r repo) (string, State) {
			head := r.commit("below/a")
			return filepath.Join(r.dir, "below"), State{Branch: "main", Head: head}
		}},
		{"through a link", func(r repo) (string, State) {
			link := filepath.Join(r.t.TempDir(), "link")
			require.NoError(r.t, os.Symlink(r.dir, link))
			return link, State{Branch: "main"}
		}},
		{"changed", func(r repo) (string, State) {
			head := r.commit("a")
			r.file("a", "two\n")
			return r.dir, State{Branch: "main", Head: head, Dirty: true}
		}},
		{"not tracked", func(r repo) (string, State) {
			head := r.commit("a")
			r.file("new file\nof two lines", "x")
			return r.dir, State{Branch: "main", Head: head, Dirty: true}
		}},
		{"ignored is not dirty", func(r repo) (string, State) {
			head := r.commit(".gitignore")
			r.file(".git/info/exclude", "built\n")
			r.file("built", "x")
			return r.dir, State{Branch: "main", Head: head}
		}},
		{"staged", func(r repo) (string, State) {
			head := r.commit("a")
			r.file("b", "x")
			r.git("add", "b")
			return r.dir, State{Branch: "main", Head: head, Dirty: true}
		}},
		{"detached", func(r repo) (string, State) {
			head := r.commit("a")
			r.git("checkout", "-q", "--detach")
			return r.dir, State{Head: head}
		}},
		{"a branch of several parts", func(r repo) (string, State) {
			head := r.commit("a")
			r.git("checkout", "-q", "-b", "one/two-#-three")
			return r.dir, State{Branch: "one/two-#-three", Head: head}
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := newRepo(t)
			dir, want := tc.make(r)
			before := time.Now()
			got, err := r.look(dir)
			require.NoError(t, err)
			require.NotNil(t, got)
			assert.False(t, got.At.Before(before.UTC()))
			want.Root, want.At = r.dir, got.At
			assert.Equal(t, want, *got)
		})
	}
}

func TestLookAtAWorktree(t *testing.T) {
	r := newRepo(t)
	head := r.commit("a")
	tree := filepath.Join(t.TempDir(), "tree")
	r.git("worktree", "add", "-q", "-b", "side", tree)
	tree, err := filepath.EvalSymlinks(tree)
	require.NoError(t, err)
	got, err := r.look(tree)
	require.NoError(t, err)
	assert.Equal(t, State{Root: tree, Branch: "side", Head: head, At: got.At}, *got)
}

func TestLookWhereThereIsNothing(t *testing.T) {
	empty := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(empty, "stray", ".git"), 0o700))
	tests := []struct {
		name string
		dir  string
	}{
		{"no repository", empty},
		{"no folder", filepath.Join(empty, "none")},
		{"a .git that is none", filepath.Join(empty, "stray")},
		{"no path", ""},
		{"a relative one", "."},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, _, err := comparison(t.Context(), tc.dir, []string{"PATH=" + os.Getenv("PATH")}, "")
			require.NoError(t, err)
			assert.Nil(t, got)
		})
	}
}

func TestLookWithoutGit(t *testing.T) {
	r := newRepo(t)
	t.Setenv("PATH", t.TempDir())
	got, err := r.look(r.dir)
	require.NoError(t, err)
	assert.Nil(t, got)
}

func TestLookSaysWhatGitRefuses(t *testing.T) {
	r := newRepo(t)
	r.commit("a")
	r.file(".git/config", "[core")
	got, err := r.look(r.dir)
	require.Error(t, err)
	assert.Nil(t, got)
}

// Variables of git's own would lead it to another repository, or run something.
func TestLookIgnoresGitsVariables(t *testing.T) {
	r, other := newRepo(t), newRepo(t)
	other.git("checkout", "-q", "-b", "other")
	r.env = append(r.env, "GIT_DIR="+filepath.Join(other.dir, ".git"), "GIT_WORK_TREE="+other.dir,
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=touch "+filepath.Join(r.dir, "ran"))
	got, err := r.look(r.dir)
	require.NoError(t, err)
	assert.Equal(t, "main", got.Branch)
	assert.NoFileExists(t, filepath.Join(r.dir, "ran"))
}

// A repository that came from somewhere may name programs that git runs to see
// whether a file has changed. Without the guards each of these runs.
func TestCompareRunsNothingFromRepository(t *testing.T) {
	tests := []struct {
		name string
		set  func(r repo, program string)
		fail error
	}{
		{"a file system monitor", func(r repo, program string) { r.git("config", "core.fsmonitor", program) }, nil},
		{"a filter", func(r repo, program string) {
			r.git("config", "filter.f.clean", program)
			r.git("config", "filter.f.required", "true")
			r.file(".gitattributes", "* filter=f\n")
		}, nil},
		{"a filter that stays", func(r repo, program string) {
			r.git("config", "filter.of.three.parts.process", program)
			r.file(".git/info/attributes", "* filter=of.three.parts\n")
		}, nil},
		{"a filter with a strange name", func(r repo, program string) {
			r.git("config", "filter.a=b.clean", program)
			r.file(".gitattributes", "* filter=a=b\n")
		}, errName},
		{"a hook", func(r repo, program string) {
			require.NoError(r.t, os.Symlink(program, filepath.Join(r.dir, ".git", "hooks", "post-index-change")))
		}, nil},
		{"a configured hook with a strange name", func(r repo, program string) { r.git("config", "hook.a=b.command", program) }, errName},
		{"a pager", func(r repo, program string) { r.git("config", "pager.status", program) }, nil},
		{"a pager of what has changed", func(r repo, program string) { r.git("config", "pager.diff", program) }, nil},
		{"a program that compares", func(r repo, program string) { r.git("config", "diff.external", program) }, nil},
		{"one that compares some files", func(r repo, program string) {
			r.git("config", "diff.d.command", program)
			r.file(".gitattributes", "* diff=d\n")
		}, nil},
		{"one that makes text of them", func(r repo, program string) {
			r.git("config", "diff.d.textconv", program)
			r.file(".gitattributes", "* diff=d\n")
		}, nil},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := newRepo(t)
			since := r.commit("a")
			ran := filepath.Join(t.TempDir(), "ran")
			program := filepath.Join(t.TempDir(), "program")
			require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\ntouch "+ran+"\ncat\n"), 0o700))
			require.NoError(t, os.MkdirAll(filepath.Join(r.dir, ".git", "hooks"), 0o700))
			tc.set(r, program)
			r.file("a", "two\n") // the same size: git has to read it
			got, changes, err := comparison(t.Context(), r.dir, r.env, since)
			assert.NoFileExists(t, ran)
			if tc.fail != nil {
				require.ErrorIs(t, err, tc.fail)
				return
			}
			require.NoError(t, err)
			assert.True(t, got.Dirty)
			assert.Equal(t, 1, changes.Insertions)
		})
	}
}

// Committed and uncommitted changes count alike.
func TestCompare(t *testing.T) {
	r := newRepo(t)
	first := r.commit("a")
	compare := func() Changes {
		t.Helper()
		s, c, err := comparison(t.Context(), r.dir, r.env, first)
		require.NoError(t, err)
		require.NotNil(t, s)
		return *c
	}
	assert.Equal(t, Changes{}, compare())
	r.file("a", "two\nthree\n")
	assert.Equal(t, Changes{Files: 1, Insertions: 2, Deletions: 1}, compare())
	r.commit("b")
	r.file("c", "new")
	r.file("below/d", "new")
	r.file("below/e", "new")
	assert.Equal(t, Changes{Files: 2, Insertions: 3, Deletions: 1, Untracked: 2}, compare())
	for _, since := range []string{strings.Repeat("0", 40), "main", "--output=x", "-1"} {
		s, c, err := comparison(t.Context(), r.dir, r.env, since)
		require.Error(t, err, since)
		assert.Equal(t, "main", s.Branch, "the state is known all the same")
		assert.Nil(t, c)
	}
	assert.NoFileExists(t, filepath.Join(r.dir, "x"))
	s, c, err := comparison(t.Context(), t.TempDir(), r.env, first)
	require.NoError(t, err)
	assert.Nil(t, s)
	assert.Nil(t, c)
}

// The agent may run git at the same moment: a lock of ccbot would make it fail.
func TestLookChangesNothing(t *testing.T) {
	r := newRepo(t)
	r.commit("a")
	later := time.Now().Add(time.Hour)
	// git status would refresh its index
	require.NoError(t, os.Chtimes(filepath.Join(r.dir, "a"), later, later))
	index := filepath.Join(r.dir, ".git", "index")
	before, err := os.ReadFile(index)
	require.NoError(t, err)
	got, changes, err := comparison(t.Context(), r.dir, r.env, r.git("rev-parse", "HEAD"))
	require.NoError(t, err)
	assert.False(t, got.Dirty)
	assert.Zero(t, *changes)
	after, err := os.ReadFile(index)
	require.NoError(t, err)
	assert.Equal(t, before, after)
}

// A git that does not come back is given up, with what it started.
func TestLookGivesUp(t *testing.T) {
	r := newRepo(t)
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\nexec sleep 600\n"), 0o700))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	got, _, err := Compare(ctx, r.dir, r.env, "")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Nil(t, got)
}

// TestLateOutputCounts: the output may come after git's end.
func TestLateOutputCounts(t *testing.T) {
	program := filepath.Join(t.TempDir(), "git")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n(sleep 0.5; echo said) &\n"), 0o700))
	got, err := caller{program: program, dir: t.TempDir()}.run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "said\n", string(got))
}

func TestAnswerIsCut(t *testing.T) {
	s := &start{limit: 5}
	for _, part := range []string{"abc", "def", "ghi"} {
		n, err := s.Write([]byte(part))
		require.NoError(t, err)
		assert.Equal(t, 3, n)
	}
	assert.Equal(t, "abcde", s.kept.String())
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("# branch.oid (initial)\x00# branch.head main\x00? a\x00"))
	f.Add([]byte("# branch.oid 0123\x00# branch.head (detached)\x001 .M N... 100644 100644 100644 0 0 a\x00"))
	f.Fuzz(func(t *testing.T, said []byte) {
		s, untracked := parse(said)
		assert.True(t, untracked == 0 || s.Dirty)
		assert.False(t, s.Head == "(initial)" || s.Branch == "(detached)")
	})
}

// os/exec copies the output into it as io.Copy does.
func TestOnlyTheStartIsKept(t *testing.T) {
	s := &start{limit: 10}
	n, err := io.Copy(s, strings.NewReader(strings.Repeat("x", 1<<20)))
	require.NoError(t, err)
	assert.EqualValues(t, 1<<20, n)
	assert.Equal(t, 10, s.kept.Len())
}
