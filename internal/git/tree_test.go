package git

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/ownfile"
	"ccbot/internal/waittest"
)

func (r repo) open() *Tree {
	r.t.Helper()
	return r.openFor(".")
}

// anyFile opens every regular file.
type anyFile string

func (a anyFile) Open(rel string) (*os.File, fs.FileInfo, error) {
	return ownfile.Open(filepath.Join(string(a), rel), ownfile.Others)
}

// openFor opens the tree for a folder in it.
func (r repo) openFor(folder string) *Tree {
	r.t.Helper()
	dir := filepath.Join(r.dir, folder)
	tree, err := OpenTree(context.Background(), dir, anyFile(dir), r.env, r.t.TempDir())
	require.NoError(r.t, err)
	require.NotNil(r.t, tree)
	r.t.Cleanup(func() { assert.NoError(r.t, tree.Close()) })
	return tree
}

func (r repo) mark() Moment {
	r.t.Helper()
	m, err := r.open().Snapshot(context.Background(), filepath.Join(r.t.TempDir(), "objects"))
	require.NoError(r.t, err)
	return m
}

// since says in a line each what has changed.
func (r repo) since(m Moment) []string {
	r.t.Helper()
	found, err := r.open().Since(context.Background(), m)
	require.NoError(r.t, err)
	assert.False(r.t, found.Cut)
	assert.Zero(r.t, found.Outside)
	said := []string{}
	for _, c := range found.Files {
		line := fmt.Sprintf("%c %s +%d -%d", c.Status, c.Path, c.Added, c.Deleted)
		if c.From != "" {
			line += " from " + c.From
		}
		if c.Binary {
			line += " binary"
		}
		if c.TooLarge {
			line += " too large"
		}
		if c.Withheld {
			line += " withheld"
		}
		said = append(said, line)
	}
	return said
}

func (r repo) patch(m Moment, path string) string {
	r.t.Helper()
	tree := r.open()
	found, err := tree.Since(context.Background(), m)
	require.NoError(r.t, err)
	for _, c := range found.Files {
		if c.Path == path {
			text, cut, err := tree.Patch(context.Background(), m, c)
			require.NoError(r.t, err)
			assert.False(r.t, cut)
			return text
		}
	}
	require.Fail(r.t, "it has not changed", path)
	return ""
}

func (r repo) commitAll() string {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "all")
	return r.git("rev-parse", "HEAD")
}

func TestSince(t *testing.T) {
	strange := "a\tb \"c\"\n\x01\xff"
	tests := []struct {
		name         string
		before, then func(r repo)
		want         []string
	}{
		{"nothing", func(r repo) { r.commit("a") }, func(repo) {}, []string{}},
		{"before the first commit", func(r repo) { r.file("a", "x\n"); r.git("add", "a") },
			func(r repo) { r.file("a", "y\n"); r.file("b", "1\n2") }, []string{"M a +1 -1", "? b +2 -0"}},
		{"the first commit", func(repo) {}, func(r repo) { r.commit("a") }, []string{"A a +1 -0"}},
		{"what was changed before and is as it was then", func(r repo) { r.commit("a"); r.file("a", "two\n"); r.file("u", "x") },
			func(repo) {}, []string{}},
		{"what was changed before and is changed on", func(r repo) { r.commit("a"); r.file("a", "two\n") },
			func(r repo) { r.file("a", "two\nthree\n") }, []string{"M a +1 -0"}},
		{"what was changed before and is as committed", func(r repo) { r.commit("a"); r.file("a", "two\n") },
			func(r repo) { r.file("a", "one\n") }, []string{"M a +1 -1"}},
		{"committed since", func(r repo) { r.commit("a") },
			func(r repo) { r.commit("b"); r.file("c", "x\n"); r.commitAll() }, []string{"A b +1 -0", "A c +1 -0"}},
		{"what was not committed is committed", func(r repo) { r.commit("a"); r.file("a", "two\n") },
			func(r repo) { r.commitAll() }, []string{}},
		{"untracked before and tracked now, with the same words", func(r repo) { r.commit("a"); r.file("u", "x\n") },
			func(r repo) { r.commitAll() }, []string{}},
		{"untracked before and changed", func(r repo) { r.commit("a"); r.file("u", "x\n") },
			func(r repo) { r.file("u", "x\ny\n") }, []string{"? u +2 -0"}},
		{"renamed", func(r repo) { r.file("a", strings.Repeat("line\n", 20)); r.commitAll() },
			func(r repo) { r.git("mv", "a", "b") }, []string{"R b +0 -0 from a"}},
		{"deleted", func(r repo) { r.commit("a"); r.commit("b") },
			func(r repo) { require.NoError(r.t, os.Remove(filepath.Join(r.dir, "a"))); r.git("rm", "-q", "b") },
			[]string{"D a +0 -1", "D b +0 -1"}},
		{"not tracked any more", func(r repo) { r.commit("a") }, func(r repo) { r.git("rm", "-q", "--cached", "a") }, []string{"D a +0 -1"}},
		{"binary", func(r repo) { r.file("a", "x\x00y"); r.commitAll() },
			func(r repo) { r.file("a", "x\x00z"); r.file("b", "\x00") }, []string{"M a +0 -0 binary", "? b +0 -0 binary"}},
		{"only touched", func(r repo) { r.commit("a"); r.file("b", "\x00"); r.commitAll() }, func(r repo) {
			later := time.Now().Add(time.Hour)
			require.NoError(r.t, os.Chtimes(filepath.Join(r.dir, "a"), later, later))
			require.NoError(r.t, os.Chtimes(filepath.Join(r.dir, "b"), later, later))
		}, []string{}},
		{"made executable", func(r repo) { r.commit("a") },
			func(r repo) { require.NoError(r.t, os.Chmod(filepath.Join(r.dir, "a"), 0o700)) }, []string{"M a +0 -0"}},
		{"a file that becomes a link", func(r repo) { r.commit("a") }, func(r repo) {
			require.NoError(r.t, os.Remove(filepath.Join(r.dir, "a")))
			require.NoError(r.t, os.Symlink("/etc/passwd", filepath.Join(r.dir, "a")))
			require.NoError(r.t, os.Symlink("/etc/passwd", filepath.Join(r.dir, "u")))
		}, []string{"M a +0 -0 withheld", "? u +0 -0 withheld"}},
		{"a folder that has become a link", func(r repo) { r.commit("d/a"); r.commit("e/a") }, func(r repo) {
			require.NoError(r.t, os.RemoveAll(filepath.Join(r.dir, "d")))
			require.NoError(r.t, os.Symlink("e", filepath.Join(r.dir, "d")))
		}, []string{"? d +0 -0 withheld", "D d/a +0 -1"}},
		{"strange names", func(r repo) { r.file(strange, "x\n"); r.commitAll() },
			func(r repo) { r.file(strange, "y\n"); r.file(":!u\n", "z\n"); r.file("--output=x", "z") },
			[]string{"? --output=x +1 -0", "? :!u\n +1 -0", "M " + strange + " +1 -1"}},
		{"ignored", func(r repo) { r.file(".git/info/exclude", "built\n") }, func(r repo) { r.file("built", "x") }, []string{}},
		{"a pipe", func(r repo) { r.commit("a") },
			func(r repo) { require.NoError(r.t, syscall.Mkfifo(filepath.Join(r.dir, "pipe"), 0o600)) }, []string{}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := newRepo(t)
			tc.before(r)
			m := r.mark()
			tc.then(r)
			assert.Equal(t, tc.want, r.since(m))
		})
	}
}

// The states of a work tree in which git itself would stumble.
func TestMarkOfStrangeStates(t *testing.T) {
	tests := []struct {
		name string
		make func(r repo)
	}{
		{"a merge with conflicts", func(r repo) {
			r.commit("a")
			r.git("checkout", "-q", "-b", "side")
			r.file("a", "side\n")
			r.commitAll()
			r.git("checkout", "-q", "main")
			r.file("a", "main\n")
			r.commitAll()
			cmd := exec.Command("git", "merge", "side")
			cmd.Dir, cmd.Env = r.dir, r.env
			require.Error(r.t, cmd.Run())
		}},
		{"a conflict whose file is deleted", func(r repo) {
			blob := r.commit("a")
			blob = r.git("rev-parse", blob+":a")
			cmd := exec.Command("git", "update-index", "--index-info")
			cmd.Dir, cmd.Env = r.dir, r.env
			cmd.Stdin = strings.NewReader("0 " + strings.Repeat("0", 40) + "\ta\n100644 " + blob + " 1\ta\n100644 " + blob + " 2\ta\n")
			require.NoError(r.t, cmd.Run())
			require.NoError(r.t, os.Remove(filepath.Join(r.dir, "a")))
		}},
		{"a file in the place of a folder, and a folder in that of a file", func(r repo) {
			r.commit("a/b")
			r.commit("c")
			require.NoError(r.t, os.RemoveAll(filepath.Join(r.dir, "a")))
			require.NoError(r.t, os.Remove(filepath.Join(r.dir, "c")))
			r.file("a", "x\n")
			r.file("c/d", "x\n")
		}},
		{"a link in the place of a folder", func(r repo) {
			r.commit("d/a")
			r.commit("e/a")
			require.NoError(r.t, os.RemoveAll(filepath.Join(r.dir, "d")))
			require.NoError(r.t, os.Symlink("e", filepath.Join(r.dir, "d")))
		}},
		{"a file that is meant to be added", func(r repo) {
			r.file("a", "x\n")
			r.git("add", "-N", "a")
		}},
		{"an index in two parts", func(r repo) {
			r.commit("a")
			r.git("update-index", "--split-index")
			r.file("b", "x\n")
			r.git("add", "b")
			r.file("a", "two\n")
		}},
		{"a sparse checkout", func(r repo) {
			r.commit("in/a")
			r.commit("out/b")
			r.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
			r.file("in/a", "two\n")
		}},
		{"ids of another kind", func(r repo) {
			require.NoError(r.t, os.RemoveAll(filepath.Join(r.dir, ".git")))
			r.git("init", "-q", "-b", "main", "--object-format=sha256")
			r.file("a", "x\n")
			r.git("add", "a")
		}},
		{"another tree in the configuration", func(r repo) {
			r.commit("a")
			r.git("config", "core.worktree", r.t.TempDir())
		}},
		{"a submodule that has changed", func(r repo) {
			sub := newRepo(r.t)
			sub.commit("s")
			r.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub.dir, "sub")
			r.git("config", "-f", ".git/modules/sub/config", "core.fsmonitor", "touch "+filepath.Join(r.dir, "ran"))
			r.git("-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "-m", "sub")
			r.file("sub/s", "two\n")
		}},
		{"a name with a colon and quotes", func(r repo) {
			r.commit("a")
			r.file("a", "two\n")
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := newRepo(t)
			tc.make(r)
			before := snapshot(t, r.dir)
			m := r.mark()
			assert.Empty(t, r.since(m))
			r.file("new", "x\n")
			assert.Equal(t, []string{"? new +1 -0"}, r.since(m))
			require.NoError(t, os.Remove(filepath.Join(r.dir, "new")))
			assert.Equal(t, before, snapshot(t, r.dir), "the repository is as it was")
		})
	}
}

// Of a submodule its commit is shown; nothing runs there.
func TestSubmoduleAtAnotherCommit(t *testing.T) {
	r, sub := newRepo(t), newRepo(t)
	sub.commit("s")
	r.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub.dir, "sub")
	start := r.commitAll()
	in := repo{t: t, dir: filepath.Join(r.dir, "sub"), env: r.env}
	in.git("config", "user.name", "n")
	in.git("config", "user.email", "e")
	in.commit("t")
	middle := r.mark()
	assert.Equal(t, []string{"M sub +1 -1"}, r.since(Moment{Tree: start}))
	assert.Contains(t, r.patch(Moment{Tree: start}, "sub"), "+Subproject commit "+in.git("rev-parse", "HEAD"))
	assert.Empty(t, r.since(middle))
	in.commit("u")
	ran := filepath.Join(t.TempDir(), "ran")
	r.git("config", "-f", ".git/modules/sub/config", "core.fsmonitor", "touch "+ran)
	assert.Equal(t, []string{"M sub +1 -1"}, r.since(middle))
	require.NoError(t, os.RemoveAll(in.dir))
	assert.Equal(t, []string{"D sub +0 -1"}, r.since(middle))
	assert.NoFileExists(t, ran)
}

// snapshot is every file below a folder, with its words and its time.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir { // whose time changes when a test puts a file there
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := fmt.Sprint(info.Mode())
		// An object that git finds there, and need not write, gets a new time.
		if !strings.Contains(path, "/.git/objects/") && !strings.Contains(path, "/.git/sharedindex.") {
			what += fmt.Sprint(info.ModTime().UnixNano())
		}
		if info.Mode().IsRegular() && info.Mode().Perm() != 0 {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what += fmt.Sprintf(" %x", sha256.Sum256(data))
		}
		all[path] = what
		return nil
	}))
	return all
}

func TestPatch(t *testing.T) {
	r := newRepo(t)
	r.file("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n")
	r.file("moved", strings.Repeat("line\n", 20))
	r.file("mode", "x\n")
	r.commitAll()
	r.file("a", "1\nzwei\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n")
	m := r.mark()
	r.file("a", "1\nzwei\n--- 3\n4\n5\n6\n7\n8\n9\n10\n11\n")
	r.file("u", "new\nend")
	r.file("empty", "")
	r.file("bin", "\x00")
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(r.dir, "link")))
	require.NoError(t, os.Chmod(filepath.Join(r.dir, "mode"), 0o700))
	r.git("mv", "moved", "there")
	r.file("there", strings.Repeat("line\n", 20)+"more\n")
	assert.Equal(t, "@@ -1,6 +1,6 @@\n 1\n zwei\n-3\n+--- 3\n 4\n 5\n 6\n@@ -9,4 +9,3 @@ zwei\n 9\n 10\n 11\n-12\n", r.patch(m, "a"))
	assert.Equal(t, "@@ -0,0 +1,2 @@\n+new\n+end\n\\ No newline at end of file\n", r.patch(m, "u"))
	assert.Equal(t, "@@ -18,3 +18,4 @@ line\n line\n line\n line\n+more\n", r.patch(m, "there"))
	for _, path := range []string{"empty", "bin", "mode", "link"} {
		assert.Empty(t, r.patch(m, path), path)
	}
}

func TestSinceACommit(t *testing.T) {
	r := newRepo(t)
	first := r.commit("a")
	r.file("a", "two\n")
	r.commit("b")
	assert.Equal(t, []string{"A b +1 -0"}, r.since(Moment{Tree: first})[1:])
	assert.Equal(t, []string{"A a +1 -0", "A b +1 -0"}, r.since(Moment{}), "since before the first commit")
	for _, tree := range []string{strings.Repeat("0", 40), "main", "--output=x", "-1", r.git("rev-parse", "HEAD:a")} {
		_, err := r.open().Since(t.Context(), Moment{Tree: tree})
		require.ErrorIs(t, err, ErrNoMoment, tree)
	}
	branch, commit := r.open().Head(t.Context())
	assert.Equal(t, "main", branch)
	assert.Equal(t, r.git("rev-parse", "HEAD"), commit)
	branch, commit = newRepo(t).open().Head(t.Context())
	assert.Equal(t, "main", branch)
	assert.Empty(t, commit)
}

// A pipe in the place of a file, which git itself does not compare, holds nothing up.
func TestPipeInPlaceOfFile(t *testing.T) {
	r := newRepo(t)
	start := r.commit("a")
	require.NoError(t, os.Remove(filepath.Join(r.dir, "a")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(r.dir, "a"), 0o600))
	assert.Equal(t, []string{"D a +0 -1"}, r.since(Moment{Tree: start}))
	m := r.mark()
	assert.Empty(t, r.since(m))
	require.NoError(t, os.Remove(filepath.Join(r.dir, "a")))
	assert.Empty(t, r.since(m))
}

// A moment depends on its folder of objects.
func TestMomentWithoutObjects(t *testing.T) {
	r := newRepo(t)
	r.commit("a")
	r.file("a", "two\n")
	m := r.mark()
	require.NoError(t, os.RemoveAll(m.Objects))
	_, err := r.open().Since(t.Context(), m)
	require.ErrorIs(t, err, ErrNoMoment)
}

func TestOpenTreeWhereThereIsNone(t *testing.T) {
	bare := filepath.Join(t.TempDir(), "bare.git")
	r := newRepo(t)
	r.git("init", "-q", "--bare", bare)
	around := t.TempDir()
	r.git("init", "-q", "--bare", filepath.Join(around, ".git"))
	for _, dir := range []string{t.TempDir(), bare, around, filepath.Join(r.dir, "gone"), ""} {
		tree, err := OpenTree(t.Context(), dir, anyFile(dir), r.env, t.TempDir())
		require.NoError(t, err, dir)
		assert.Nil(t, tree, dir)
	}
}

func TestOpenTreeOfAWorktree(t *testing.T) {
	r := newRepo(t)
	r.commit("a")
	side := filepath.Join(t.TempDir(), `si:d"e`)
	r.git("worktree", "add", "-q", "-b", "side", side)
	s := r
	s.dir = side
	m := s.mark()
	s.file("a", "two\n")
	assert.Equal(t, []string{"M a +1 -1"}, s.since(m))
	assert.Empty(t, r.since(r.mark()))
}

func TestOpenTreeSaysWhatGitRefuses(t *testing.T) {
	r := newRepo(t)
	r.file(".git/config", "[core")
	_, err := OpenTree(t.Context(), r.dir, anyFile(r.dir), r.env, t.TempDir())
	refused := (*Refused)(nil)
	require.ErrorAs(t, err, &refused)
	assert.Contains(t, refused.Output, "config")
}

// Each of these programs would run without the guards, see
// TestCompareRunsNothingFromRepository.
func TestTreeRunsNothingFromRepository(t *testing.T) {
	r := newRepo(t)
	r.file("a", "one\n")
	r.file("b", "one\n")
	r.commitAll()
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\ntouch "+ran+"\ncat\n"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(r.dir, ".git", "hooks"), 0o700))
	for _, hook := range []string{"post-index-change", "pre-commit"} {
		require.NoError(t, os.Symlink(program, filepath.Join(r.dir, ".git", "hooks", hook)))
	}
	for _, key := range []string{"core.fsmonitor", "filter.f.clean", "filter.f.smudge", "filter.f.process", "diff.external", "diff.d.command",
		"diff.d.textconv", "core.pager", "pager.diff", "core.sshCommand", "core.editor", "core.alternateRefsCommand", "interactive.diffFilter"} {
		r.git("config", key, program)
	}
	r.file(".git/info/attributes", "* filter=f diff=d\n")
	r.file("a", "two\n")
	r.git("config", "hook.evil.command", program)
	r.git("config", "hook.evil.enabled", "true")
	r.git("config", "hook.evil.event", "post-index-change")
	g, err := open(t.Context(), r.dir, r.env)
	require.NoError(t, err)
	assert.Contains(t, g.options, "hook.evil.enabled=false", "git before 2.54 runs none")
	m := r.mark()
	r.file("a", "2\n")
	r.file("b", "2\n")
	r.file("u", "x\n")
	assert.Equal(t, []string{"M a +1 -1", "M b +1 -1", "? u +1 -0"}, r.since(m))
	assert.Equal(t, "@@ -1 +1 @@\n-two\n+2\n", r.patch(m, "a"))
	assert.NoFileExists(t, ran)
}

func TestPatchIsBounded(t *testing.T) {
	r := newRepo(t)
	r.commit("a")
	m := r.mark()
	huge := bytes.Repeat([]byte(strings.Repeat("x", 99)+"\n"), 500_000) // 50 MB
	for _, path := range []string{"a", "u"} {
		require.NoError(t, os.WriteFile(filepath.Join(r.dir, path), huge, 0o600))
	}
	tree := r.open()
	found, err := tree.Since(t.Context(), m)
	require.NoError(t, err)
	assert.False(t, found.Cut)
	assert.Equal(t, []Change{{Path: "a", Status: Modified, Added: 500_000, Deleted: 1},
		{Path: "u", Status: Untracked, TooLarge: true}}, found.Files, "what is not tracked is not counted at that size")
	for _, c := range found.Files {
		text, cut, err := tree.Patch(t.Context(), m, c)
		require.NoError(t, err)
		assert.True(t, cut, c.Path)
		assert.LessOrEqual(t, len(text), 2*maxPatch, c.Path)
		assert.True(t, strings.HasPrefix(text, "@@ -"), c.Path)
	}
	later := r.mark() // in which it is known by its print only
	assert.Empty(t, r.since(later))
	assert.Contains(t, later.Known, "a")
}

func TestManyFilesAreCut(t *testing.T) {
	r := newRepo(t)
	dir := strings.Repeat("d", 200)
	require.NoError(t, os.MkdirAll(filepath.Join(r.dir, dir, dir), 0o700))
	for i := range maxList/402 + 100 {
		require.NoError(t, os.WriteFile(filepath.Join(r.dir, dir, dir, fmt.Sprint(i)), nil, 0o600))
	}
	tree := r.open()
	found, err := tree.Since(t.Context(), Moment{})
	require.NoError(t, err)
	assert.True(t, found.Cut)
	m := r.mark()
	assert.True(t, m.Partial)
	waittest.Until(t, func() bool {
		require.NoError(t, os.WriteFile(filepath.Join(r.dir, dir, dir, "0"), []byte("x\n"), 0o600))
		found, err := r.open().Since(t.Context(), m)
		require.NoError(t, err)
		return len(found.Files) == 1
	}, "what is older than the moment has not changed")
}

func FuzzParseList(f *testing.F) {
	f.Add(":100644 100644 0123 4567 M\x00a\x00:100644 100644 0123 4567 R087\x00b\x00c\x001\t2\ta\x00-\t-\t\x00b\x00c\x00")
	f.Add(":000000 100644 0 0 U\x00a\x00:\x00")
	f.Fuzz(func(t *testing.T, said string) {
		seen := make(map[string]bool)
		for _, c := range parseList(strings.Split(said, "\x00")) {
			assert.NotEmpty(t, c.Path)
			assert.False(t, seen[c.Path], "a file stands there once")
			seen[c.Path] = true
			assert.False(t, c.Added < 0 || c.Deleted < 0)
			assert.True(t, c.From == "" || c.Status == Renamed)
		}
	})
}

func FuzzHunks(f *testing.F) {
	f.Add("diff --git a/a b/a\nindex 1..2\n--- a/a\n+++ b/a\n@@ -1 +1,2 @@ func\n-a\n+b\n+--- c\n\\ No newline at end of file\ndiff --git a/c b/c\n--- a/c\n")
	f.Add("@@ -1,99999999999999999999 +1 @@\n x")
	f.Fuzz(func(t *testing.T, patch string) {
		kept := hunks(patch)
		assert.LessOrEqual(t, len(kept), len(patch))
		assert.True(t, kept == "" || strings.HasPrefix(kept, "@@ -"), "it begins with a hunk")
		assert.Equal(t, kept, hunks(kept), "nothing in it is around a hunk")
	})
}

// The modes do not depend on the umask, because the objects contain uncommitted content.
func TestP9_ObjectsArePrivate(t *testing.T) {
	r := newRepo(t)
	r.file("a", "1\n")
	r.commitAll()
	r.file("a", "2\n")
	defer syscall.Umask(syscall.Umask(0))
	m := r.mark()
	seen := 0
	require.NoError(t, filepath.WalkDir(m.Objects, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		assert.Zero(t, info.Mode().Perm()&0o077, path)
		seen++
		return nil
	}))
	assert.Greater(t, seen, 4, "two objects, each in a folder")
}

// ending is a context that ends after *left calls.
type ending struct {
	context.Context
	left *int
}

func (e ending) Err() error {
	if *e.left--; *e.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// Git lists hundreds of thousands of files within a second, but each is then read.
func TestSinceEndsWithContext(t *testing.T) {
	r := newRepo(t)
	for _, name := range []string{"a", "b", "c"} {
		r.file(name, "x\n")
	}
	tree, err := OpenTree(t.Context(), r.dir, anyFile(r.dir), r.env, t.TempDir())
	require.NoError(t, err)
	defer tree.Close()
	calls := 4 // of git
	_, err = tree.Since(ending{t.Context(), &calls}, Moment{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// swapping opens a file and replaces it by another one before it returns.
type swapping struct {
	anyFile
	other string
}

func (s swapping) Open(rel string) (*os.File, fs.FileInfo, error) {
	f, info, err := s.anyFile.Open(rel)
	if err == nil {
		name := filepath.Join(string(s.anyFile), rel)
		err = errors.Join(os.Remove(name), os.Link(s.other, name))
	}
	return f, info, err
}

// TestP9_GitReadsOpenedFile: the content that git shows or keeps is read from the file that was
// opened, not by its name.
func TestP9_GitReadsOpenedFile(t *testing.T) {
	r := newRepo(t)
	start := r.commit("a")
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("secret\n"), 0o600))
	for _, use := range []func(tree *Tree) Moment{
		func(*Tree) Moment { return Moment{Tree: start} },
		func(tree *Tree) Moment {
			m, err := tree.Snapshot(t.Context(), filepath.Join(t.TempDir(), "objects"))
			require.NoError(t, err)
			return m
		},
	} {
		for _, name := range []string{"a", "u"} {
			require.NoError(t, os.RemoveAll(filepath.Join(r.dir, name)))
			r.file(name, "two\n")
		}
		open := func() *Tree {
			tree, err := OpenTree(t.Context(), r.dir, swapping{anyFile(r.dir), secret}, r.env, t.TempDir())
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, tree.Close()) })
			return tree
		}
		m := use(open())
		kept := r.with(m, "grep", "-r", "secret", m.Tree)
		assert.Empty(t, kept)
		require.NoError(t, os.RemoveAll(filepath.Join(r.dir, "a")))
		r.file("a", "three\n")
		tree := open()
		found, err := tree.Since(t.Context(), m)
		require.NoError(t, err)
		for _, c := range found.Files {
			text, _, err := tree.Patch(t.Context(), m, c)
			require.NoError(t, err)
			if c.Path == "a" {
				assert.Contains(t, text, "+three\n")
				assert.NotContains(t, text, "secret")
			}
		}
	}
}

// with returns the output of git, which also finds the objects of a moment.
func (r repo) with(m Moment, args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = r.dir, append(r.env, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+m.Objects)
	out, _ := cmd.Output() // grep fails if it finds nothing
	return string(out)
}

// TestP9_OnlyTheFolderIsShown: a tree is opened for a folder, and files elsewhere are counted.
func TestP9_OnlyTheFolderIsShown(t *testing.T) {
	r := newRepo(t)
	r.file("in/a", "one\n")
	r.file("in-between", "one\n")
	start := r.commitAll()
	r.file("in/a", "two\n")
	r.file("in/u", "x\n")
	r.file("in-between", "two\n")
	r.file("u", "x\n")
	tree := r.openFor("in")
	found, err := tree.Since(t.Context(), Moment{Tree: start})
	require.NoError(t, err)
	assert.Equal(t, Found{Outside: 2, Files: []Change{{Path: "in/a", Status: Modified, Added: 1, Deleted: 1},
		{Path: "in/u", Status: Untracked, Added: 1}}}, found)
	text, _, err := tree.Patch(t.Context(), Moment{Tree: start}, Change{Path: "u", Status: Untracked})
	require.NoError(t, err)
	assert.Empty(t, text)
}

// Line ends that git converts when it adds a file are not changes.
func TestConvertedLinesAreNoChange(t *testing.T) {
	r := newRepo(t)
	r.file(".gitattributes", "*.bat text eol=crlf\n")
	r.file("a.bat", "one\r\ntwo\r\n")
	start := r.commitAll()
	assert.Equal(t, "one\ntwo", r.git("show", start+":a.bat"))
	r.file("a.bat", "one\r\ntwo\r\nthree\r\n")
	assert.Equal(t, []string{"M a.bat +1 -0"}, r.since(Moment{Tree: start}))
	m := r.mark()
	assert.Empty(t, r.since(m))
}
