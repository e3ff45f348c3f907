package host

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/git"
	"ccbot/port/folders"
	"ccbot/port/refusal"
)

// shown returns everything that the chat can get about the changes since a moment, as one text.
func (w *work) shown(since folders.Since) string {
	w.t.Helper()
	c := w.changes(since)
	all, err := json.Marshal(c)
	require.NoError(w.t, err)
	text := string(all)
	for _, f := range c.Files {
		p, err := w.Patch(w.t.Context(), w.r.ID, since, f.Path)
		require.NoError(w.t, err)
		text += "\n" + f.Path + "\n" + p.Text
	}
	return text
}

// paths returns the paths of the changed files.
func paths(c folders.Changes) (all []string) {
	for _, f := range c.Files {
		all = append(all, f.Path)
	}
	return all
}

func (w *work) link(to, name string) {
	w.t.Helper()
	require.NoError(w.t, os.Link(to, filepath.Join(w.root, name)))
}

func (w *work) remove(name string) {
	w.t.Helper()
	require.NoError(w.t, os.RemoveAll(filepath.Join(w.root, name)))
}

// TestP9_ChangesStayInFolder: files of the repository outside of the session's folder are counted,
// and neither named nor shown.
func TestP9_ChangesStayInFolder(t *testing.T) {
	long := strings.Repeat("secret line\n", 20)
	tests := []struct {
		name         string
		before, then func(w *work)
		files        []string
		outside      int
	}{
		{"untracked", nil, func(w *work) { w.file("secret", long); w.file("below-secret/x", long) }, nil, 2},
		{"an untracked folder around", nil, func(w *work) { w.file("other/secret", long); w.file("below/new", "x\n") }, []string{"below/new"}, 1},
		{"changed", func(w *work) { w.file("secret", "x\n") }, func(w *work) { w.file("secret", long) }, nil, 1},
		{"staged", nil, func(w *work) { w.file("secret", long); w.git("add", "secret") }, nil, 1},
		{"committed", nil, func(w *work) { w.file("secret", long); w.file("below/b", "x\n"); w.commit() }, []string{"below/b"}, 1},
		{"deleted", func(w *work) { w.file("secret", long) }, func(w *work) { w.remove("secret") }, nil, 1},
		{"deleted and committed", func(w *work) { w.file("secret", long) }, func(w *work) { w.git("rm", "-q", "secret"); w.commit() }, nil, 1},
		{"renamed into the folder", func(w *work) { w.file("secret", strings.Repeat("line\n", 20)) },
			func(w *work) { w.git("mv", "secret", "below/b") }, []string{"below/b"}, 1},
		{"renamed out of the folder", func(w *work) { w.file("below/b", strings.Repeat("line\n", 20)) },
			func(w *work) { w.git("mv", "below/b", "secret") }, []string{"below/b"}, 1},
		{"renamed into the folder, without git", func(w *work) { w.file("secret", strings.Repeat("line\n", 20)) },
			func(w *work) {
				require.NoError(w.t, os.Rename(filepath.Join(w.root, "secret"), filepath.Join(w.r.Dir, "b")))
			}, []string{"below/b"}, 1},
		{"a repository around", nil, func(w *work) { w.file("secret/x", long); w.gitIn("secret", "init", "-q") }, nil, 1},
		{"a work tree in the folder", nil, func(w *work) {
			w.git("worktree", "add", "-q", filepath.Join(w.r.Dir, "tree"))
			w.file("below/tree/secret", long)
		}, []string{"below/tree/"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWork(t)
			if tt.before != nil {
				tt.before(w)
				w.r.GitStart.Head = w.commit()
			}
			turn := w.mark()
			tt.then(w)
			for _, since := range []folders.Since{folders.SessionStart, turn} {
				c := w.changes(since)
				assert.Equal(t, since, c.Of)
				assert.Equal(t, tt.files, paths(c))
				assert.Equal(t, tt.outside, c.Outside)
				assert.NotContains(t, w.shown(since), "secret")
				_, err := w.Patch(t.Context(), w.r.ID, since, "secret")
				assert.Equal(t, refusal.Unchanged, refusal.In(err).Code)
			}
			assert.Zero(t, w.changes(w.mark()).Outside, "nothing has changed since then")
		})
	}
}

func (w *work) gitIn(folder string, args ...string) {
	w.t.Helper()
	in := *w
	in.root = filepath.Join(w.root, folder)
	in.git(args...)
}

// TestP9_ChangesOutsideAreNotKept: a moment holds no content from outside of the session's folder.
func TestP9_ChangesOutsideAreNotKept(t *testing.T) {
	w := newWork(t)
	w.file("secret", "x\n")
	w.commit()
	w.file("secret", "a secret\n")
	blob := w.git("hash-object", "secret")
	turn := w.mark()
	assert.NoFileExists(t, filepath.Join(w.Moments.of(w.r.ID), objectsIn, blob[:2], blob[2:]))
	assert.Zero(t, w.changes(turn).Outside)
	w.file("secret", "another one\n")
	assert.Equal(t, 1, w.changes(turn).Outside)
}

const token = "123456:SECRET"

// TestP9_ChangesShowNothingOfCcbot: the content of ccbot's files does not reach the chat under a
// name in the session's folder.
func TestP9_ChangesShowNothingOfCcbot(t *testing.T) {
	replace := func(w *work, name string, make func(old, new string) error) {
		w.remove(name)
		require.NoError(w.t, make(filepath.Join(w.Own.Dir, "ccbot.env"), filepath.Join(w.root, name)))
	}
	tests := []struct {
		name         string
		before, then func(w *work)
		file         string
	}{
		{"an untracked hard link", nil, func(w *work) { replace(w, "below/x", os.Link) }, "below/x"},
		{"a tracked file that became a hard link", nil, func(w *work) { replace(w, "below/a", os.Link) }, "below/a"},
		{"a hard link that is staged", nil, func(w *work) { replace(w, "below/x", os.Link); w.git("add", "-A") }, "below/x"},
		{"a tracked hard link that is committed", nil, func(w *work) { replace(w, "below/a", os.Link); w.commit() }, "below/a"},
		{"a hard link when the turn began, which goes", func(w *work) { replace(w, "below/a", os.Link) },
			func(w *work) { w.remove("below/a"); w.file("below/a", "two\n") }, "below/a"},
		{"an untracked link", nil, func(w *work) { replace(w, "below/x", os.Symlink) }, "below/x"},
		{"a tracked file that became a link", nil, func(w *work) { replace(w, "below/a", os.Symlink) }, "below/a"},
		{"ccbot.env leads to an untracked file", nil, func(w *work) {
			w.file("below/x", token)
			leads(w, "below/x")
		}, "below/x"},
		{"ccbot.env leads to a tracked file", nil, func(w *work) { w.file("below/a", token); leads(w, "below/a") }, "below/a"},
		{"ccbot.env leads to a file that is committed", nil, func(w *work) {
			w.file("below/x", token)
			w.commit()
			leads(w, "below/x")
		}, "below/x"},
		{"settings elsewhere", nil, func(w *work) {
			w.file("below/x", token)
			w.Own.Settings = filepath.Join(w.r.Dir, "x")
		}, "below/x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWork(t)
			require.NoError(t, os.WriteFile(filepath.Join(w.Own.Dir, "ccbot.env"), []byte(token), 0o600))
			if tt.before != nil {
				tt.before(w)
			}
			turn := w.mark()
			tt.then(w)
			for _, since := range []folders.Since{folders.SessionStart, turn} {
				assert.NotContains(t, w.shown(since), token)
				assert.Equal(t, []string{tt.file}, paths(w.changes(since)))
				if tt.before == nil {
					f := w.changes(since).Files[0]
					assert.True(t, f.Withheld)
					assert.Zero(t, f.Added+f.Deleted)
				}
			}
			if w.git("log", "--all", "-S", token, "--format=%H")+w.git("diff", "--cached") != "" {
				return // it is in an object of the repository
			}
			again := w.mark()
			w.remove(tt.file)
			w.file(tt.file, "three\n")
			assert.NotContains(t, w.shown(again), token)
		})
	}
}

// leads makes ccbot.env a link to a file of the repository.
func leads(w *work, name string) {
	w.t.Helper()
	settings := filepath.Join(w.Own.Dir, "ccbot.env")
	require.NoError(w.t, os.RemoveAll(settings))
	require.NoError(w.t, os.Symlink(filepath.Join(w.root, name), settings))
}

// A change is counted although the name of its file is not UTF-8, and no other file's lines are shown for it.
func TestNameThatIsNoTextIsShownWithoutLines(t *testing.T) {
	w := newWork(t)
	w.file("below/x\xff", "one\n")
	assert.Equal(t, []folders.ChangedFile{{Path: "below/x\ufffd", Kind: folders.Untracked, Added: 1, Withheld: true}}, w.changes(folders.SessionStart).Files)
	w.file("below/x\ufffd", "two\n")
	assert.Len(t, w.changes(folders.SessionStart).Files, 2)
	p, err := w.Patch(t.Context(), w.r.ID, folders.SessionStart, "below/x\ufffd")
	require.NoError(t, err)
	assert.Empty(t, p.Text)
}

// A hard link of another file is named, without its lines.
func TestHardLinkIsNamedWithoutLines(t *testing.T) {
	w := newWork(t)
	w.link(filepath.Join(w.r.Dir, "a"), "other")
	assert.Empty(t, w.changes(folders.SessionStart).Files, "it is as it was")
	w.file("below/a", "two\n") // both names
	assert.Equal(t, []folders.ChangedFile{{Path: "below/a", Kind: folders.Modified, Withheld: true}}, w.changes(folders.SessionStart).Files)
	p, err := w.Patch(t.Context(), w.r.ID, folders.SessionStart, "below/a")
	require.NoError(t, err)
	assert.Empty(t, p.Text)
	turn := w.mark()
	assert.Empty(t, w.changes(turn).Files)
	w.remove("other")
	assert.Equal(t, []folders.ChangedFile{{Path: "below/a", Kind: folders.Modified, Added: 1, Deleted: 1}}, w.changes(folders.SessionStart).Files)
}

// TestP9_ChangesNeedRealFolder: an agent may replace its folder by a link to another repository.
func TestP9_ChangesNeedRealFolder(t *testing.T) {
	w, other := newWork(t), newWork(t)
	other.file("below/secret", "x\n")
	require.NoError(t, os.Rename(w.r.Dir, w.r.Dir+"-real"))
	require.NoError(t, os.Symlink(other.r.Dir, w.r.Dir))
	w.refuses(refusal.FileLinked)
}

// TestP9_ChangesStayInRoots: the roots may have changed since the session began.
func TestP9_ChangesStayInRoots(t *testing.T) {
	w := newWork(t)
	w.file("below/a", "two\n")
	w.Roots = []string{w.r.Dir}
	assert.Len(t, w.changes(folders.SessionStart).Files, 1)
	w.Roots = []string{WithoutLinks(t.TempDir())}
	w.refuses(refusal.DirOutside)
	d := newOpens(t)
	path := d.inside(t, "x", "x")
	d.Roots = w.Roots
	assert.Equal(t, refusal.DirOutside, d.refusal(t, path))
}

// A submodule of the session's folder shows its commits; one outside is counted.
func TestChangesOfSubmodules(t *testing.T) {
	w, sub := newWork(t), newWork(t)
	for _, path := range []string{"below/sub", "sub"} {
		w.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub.root, path)
	}
	w.r.GitStart = &git.State{Head: w.commit()}
	turn := w.mark()
	for _, path := range []string{"below/sub", "sub"} {
		w.file(path+"/secret", "x\n")
		w.gitIn(path, "add", "-A")
		w.gitIn(path, "-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "-m", "x")
	}
	for _, since := range []folders.Since{folders.SessionStart, turn} {
		assert.Equal(t, []string{"below/sub"}, paths(w.changes(since)))
		assert.Equal(t, 1, w.changes(since).Outside)
		shown := w.shown(since)
		assert.Contains(t, shown, "+Subproject commit ")
		assert.NotContains(t, shown, "secret")
	}
}

// TestP9_GetRefusesSettingsElsewhere: ccbot.env may be a link into a session's folder, or a file
// there.
func TestP9_GetRefusesSettingsElsewhere(t *testing.T) {
	d := newOpens(t)
	path := d.inside(t, "secret.env", "a secret")
	settings := filepath.Join(d.Own.Dir, "ccbot.env")
	require.NoError(t, os.Remove(settings))
	require.NoError(t, os.Symlink(path, settings))
	assert.Equal(t, refusal.FileOwn, d.refusal(t, path))
	require.NoError(t, os.Remove(settings))
	d.open(t, path)
	d.Own.Settings = path
	assert.Equal(t, refusal.FileOwn, d.refusal(t, path))
}

// TestP9_OutputsAreReadWithoutLinks: a transcript names the file of a long output, and any program
// of this user can write it, and put a link where the outputs lie.
func TestP9_OutputsAreReadWithoutLinks(t *testing.T) {
	d := newOpens(t)
	project := filepath.Dir(d.outside(t, "project/t.jsonl", ""))
	beside := filepath.Join(project, "t")
	require.NoError(t, os.Mkdir(beside, 0o700))
	results := filepath.Join(beside, "tool-results")
	read := func(name string) (string, error) {
		return d.Read(t.Context(), beside+".jsonl", filepath.Join(results, name), 1<<20)
	}
	require.NoError(t, os.Symlink(d.Own.Dir, results))
	text, err := read("ccbot.env")
	require.Error(t, err)
	assert.Empty(t, text)
	require.NoError(t, os.Remove(results))
	require.NoError(t, os.Mkdir(results, 0o700))
	require.NoError(t, os.Rename(filepath.Join(d.Own.Dir, "ccbot.env"), filepath.Join(results, "x")))
	text, err = read("x")
	require.NoError(t, err)
	assert.Equal(t, "a secret", text)
	require.NoError(t, os.Symlink(filepath.Join(results, "x"), filepath.Join(d.Own.Dir, "ccbot.env")))
	_, err = read("x")
	assert.Equal(t, refusal.FileOwn, refusal.In(err).Code)
}
