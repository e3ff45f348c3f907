package host

import (
	"os"
	"os/user"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port/refusal"
)

// tree makes folders, and links with what they lead to; it gives their base.
func tree(t *testing.T, dirs []string, links map[string]string) (base string) {
	t.Helper()
	base = WithoutLinks(t.TempDir())
	for _, dir := range dirs {
		require.NoError(t, os.MkdirAll(filepath.Join(base, dir), 0o700))
	}
	for link, to := range links {
		require.NoError(t, os.Symlink(filepath.Join(base, to), filepath.Join(base, link)))
	}
	return base
}

func TestInRoots(t *testing.T) {
	base := tree(t, []string{"root/in", "root2", "rootless", "out/deep"},
		map[string]string{"root/leads-out": "out", "root/stays-in": "root/in", "out/leads-in": "root/in"})
	at := func(name string) string { return filepath.Join(base, name) }
	roots := []string{at("root"), at("root2")}
	for _, tt := range []struct {
		name, dir string
		want      bool
	}{
		{"the root itself", "root", true},
		{"below it", "root/in", true},
		{"another root", "root2", true},
		{"above it", ".", false},
		{"beside it", "out", false},
		{"a name that begins like a root's", "rootless", false},
		{"a link out", "root/leads-out", false},
		{"below a link out", "root/leads-out/deep", false},
		{"a link inside", "root/stays-in", true},
		{"a link in from outside", "out/leads-in", true},
		{"missing, inside: that it is missing is told later", "root/none", true},
		{"missing, outside", "none", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.True(t, InRoots(nil, at(tt.dir)), "no roots: all are allowed")
			assert.Equal(t, tt.want, InRoots(roots, at(tt.dir)))
			_, err := (&Machine{Roots: roots}).Resolve(t.Context(), "", at(tt.dir))
			assert.Equal(t, tt.want, !refusal.Is(err, refusal.DirOutside))
		})
	}
}

func TestResolve(t *testing.T) {
	base := tree(t, []string{"home/project", "away"}, map[string]string{"home/link": "away", "home/gone": "nowhere"})
	require.NoError(t, os.WriteFile(filepath.Join(base, "home/file"), nil, 0o600))
	m := &Machine{Home: filepath.Join(base, "home")}
	for _, tt := range []struct {
		name, base, path string
		want             string
	}{
		{"nothing: home", "", "", "home"},
		{"nothing: the base", "home/project", "", "home/project"},
		{"home", "home/project", "~", "home"},
		{"a link", "", "link", "away"},
		{"a base that is a link", "home/link", ".", "away"},
		{"above a link, as it was typed", "home/link", "..", "home"},
		{"below a link, missing", "", "~/link/new/deep", "away/new/deep"},
		{"a link to nothing", "", "gone", "home/gone"},
		{"a file", "", "file", "home/file"},
		{"below a file", "", "file/x", "home/file/x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.base != "" {
				tt.base = filepath.Join(base, tt.base)
			}
			dir, err := m.Resolve(t.Context(), tt.base, tt.path)
			assert.Equal(t, filepath.Join(base, tt.want), dir)
			assert.NoError(t, err)
		})
	}
}

// ~user is the home of that user, as in a shell, and never a folder of that name.
func TestResolveTheHomeOfAnotherUser(t *testing.T) {
	root, err := user.Lookup("root")
	require.NoError(t, err)
	m := &Machine{Home: t.TempDir()}
	for path, want := range map[string]string{"~root": root.HomeDir, "~root/none": root.HomeDir + "/none", "./~root": m.Home + "/~root"} {
		dir, err := m.Resolve(t.Context(), "", path)
		require.NoError(t, err)
		assert.Equal(t, WithoutLinks(want), dir)
	}
	for _, path := range []string{"~nobody-of-this-name", "~nobody-of-this-name/x"} {
		_, err := m.Resolve(t.Context(), "", path)
		assert.True(t, refusal.Is(err, refusal.DirMissing))
		assert.Equal(t, path, refusal.In(err).Dir)
	}
}

func TestMake(t *testing.T) {
	base := tree(t, []string{"root", "out"}, map[string]string{"root/leads-out": "out"})
	require.NoError(t, os.WriteFile(filepath.Join(base, "root/file"), nil, 0o600))
	for _, tt := range []struct {
		name, dir string
		code      refusal.Code
	}{
		{"inside", "root/a/b", refusal.Internal},
		{"there already", "root", refusal.Internal},
		{"outside", "out/a", refusal.DirOutside},
		{"a link out", "root/leads-out/a", refusal.DirOutside},
		{"below a file", "root/file/a", refusal.DirNoAccess},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(base, tt.dir)
			err := (&Machine{Roots: []string{filepath.Join(base, "root")}}).Make(t.Context(), dir)
			assert.Equal(t, tt.code, refusal.In(err).Code)
			if err == nil {
				assert.DirExists(t, dir)
				return
			}
			assert.NoDirExists(t, dir)
			if tt.code == refusal.DirNoAccess {
				assert.Equal(t, "not a directory", refusal.In(err).Reason)
			}
		})
	}
	dir := filepath.Join(base, "anywhere", "deep")
	require.NoError(t, (&Machine{}).Make(t.Context(), dir))
	assert.DirExists(t, dir)
}
