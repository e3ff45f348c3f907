package git

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An unpacked archive may bring a .git that leads to any repository of this user. Nothing of that
// repository is shown.
func TestP9_RepositoryElsewhereIsNotShown(t *testing.T) {
	head := "ref: refs/heads/main\n"
	tests := []struct {
		name string
		make func(r repo, secret string)
	}{
		{"file", func(r repo, secret string) { r.file(".git", "gitdir: "+secret+"\n") }},
		{"link", func(r repo, secret string) { r.link(secret, ".git") }},
		{"shared folder", func(r repo, secret string) {
			r.file(".git/HEAD", head)
			r.file(".git/commondir", secret+"\n")
		}},
		{"links to all data", func(r repo, secret string) {
			r.file(".git/HEAD", head)
			for _, name := range []string{"objects", "refs", "config"} {
				r.link(filepath.Join(secret, name), ".git/"+name)
			}
		}},
		{"link to one branch", func(r repo, secret string) {
			r.git("init", "-q", "-b", "main")
			r.link(filepath.Join(secret, "refs/heads/main"), ".git/refs/heads/main")
			r.file(".git/objects/info/alternates", filepath.Join(secret, "objects")+"\n")
		}},
		{"hard link to one branch", func(r repo, secret string) {
			r.git("init", "-q", "-b", "main")
			require.NoError(r.t, os.Link(filepath.Join(secret, "refs/heads/main"), filepath.Join(r.dir, ".git/refs/heads/main")))
			r.file(".git/objects/info/alternates", filepath.Join(secret, "objects")+"\n")
		}},
		{"link to the index", func(r repo, secret string) {
			r.git("init", "-q", "-b", "main")
			r.link(filepath.Join(secret, "index"), ".git/index")
		}},
		{"forged work tree", func(r repo, secret string) {
			r.file(".git", "gitdir: data\n")
			r.file("data/HEAD", head)
			r.file("data/commondir", secret+"\n")
			r.file("data/gitdir", filepath.Join(r.dir, ".git")+"\n")
		}},
		{"file to a link in the folder", func(r repo, secret string) {
			r.file(".git", "gitdir: data\n")
			r.link(secret, "data")
		}},
		{"submodule", func(r repo, secret string) {
			r.git("init", "-q", "-b", "main")
			r.file(".git/modules/x", "")
			r.link(secret, ".git/modules/sub")
			r.file("sub/.git", "gitdir: ../.git/modules/sub\n")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			secret, r := newRepo(t), newRepo(t)
			secret.commit("secret")
			require.NoError(t, os.RemoveAll(filepath.Join(r.dir, ".git")))
			tt.make(r, filepath.Join(secret.dir, ".git"))
			dir := r.dir
			if tt.name == "submodule" {
				dir = filepath.Join(r.dir, "sub")
			}
			tree, err := OpenTree(t.Context(), dir, anyFile(dir), r.env, t.TempDir())
			require.ErrorIs(t, err, errElsewhere)
			assert.Nil(t, tree)
			state, err := r.look(dir)
			require.ErrorIs(t, err, errElsewhere)
			assert.Nil(t, state)
		})
	}
}

func (r repo) link(to, name string) {
	r.t.Helper()
	require.NoError(r.t, os.Symlink(to, filepath.Join(r.dir, name)))
}

// Git itself keeps the data of a work tree in another folder in these cases.
func TestWorkTreeWithDataElsewhere(t *testing.T) {
	r, sub := newRepo(t), newRepo(t)
	sub.commit("s")
	r.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub.dir, "sub")
	r.commitAll()
	side := filepath.Join(t.TempDir(), "side")
	r.git("worktree", "add", "-q", side)
	repo{t, side, r.env}.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	r.link("/etc", ".git/hooks/link")
	bare := newRepo(t)
	bare.commit("a")
	require.NoError(t, os.Rename(filepath.Join(bare.dir, ".git"), filepath.Join(bare.dir, ".bare")))
	bare.file(".git", "gitdir: ./.bare\n")
	bare.git("worktree", "add", "-q", "main2")
	behindLink := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(side, behindLink))
	for _, dir := range []string{r.dir, filepath.Join(r.dir, "sub"), side, filepath.Join(side, "sub"), behindLink, bare.dir, filepath.Join(bare.dir, "main2")} {
		state, err := r.look(dir)
		require.NoError(t, err, dir)
		assert.NotNil(t, state, dir)
		tree, err := OpenTree(t.Context(), dir, anyFile(dir), r.env, t.TempDir())
		require.NoError(t, err, dir)
		require.NotNil(t, tree, dir)
		require.NoError(t, tree.Close())
	}
}

// TestWorkTreesShareRepository: linked work trees have the folder of the main one in common, and a
// submodule has its own.
func TestWorkTreesShareRepository(t *testing.T) {
	r, sub := newRepo(t), newRepo(t)
	sub.commit("s")
	r.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub.dir, "sub")
	r.commitAll()
	side := filepath.Join(t.TempDir(), "side")
	r.git("worktree", "add", "-q", side)
	shared := func(root string) string {
		t.Helper()
		folder, err := Shared(root)
		require.NoError(t, err)
		return folder
	}
	assert.Equal(t, filepath.Join(r.dir, ".git"), shared(r.dir))
	assert.Equal(t, shared(r.dir), shared(side))
	assert.NotEqual(t, shared(r.dir), shared(filepath.Join(r.dir, "sub")))
	_, err := Shared(t.TempDir())
	require.Error(t, err)
}
