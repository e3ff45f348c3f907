package outgoing

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port/refusal"
)

// place has a session's folder and CCBOT_DIR, next to each other.
type place struct {
	t         *testing.T
	dir, home string
	own       Own
}

func newPlace(t *testing.T) *place {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := &place{t: t, home: home, dir: filepath.Join(home, "api"), own: Own{Dir: filepath.Join(home, "state")}}
	p.file("api/a.txt", "hello")
	p.file("state/ccbot.env", "secret")
	p.file("state/inbox/1.json", "secret")
	return p
}

func (p *place) file(name, text string) string {
	p.t.Helper()
	path := filepath.Join(p.home, name)
	require.NoError(p.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(p.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func (p *place) link(to, name string) {
	p.t.Helper()
	require.NoError(p.t, os.Symlink(to, filepath.Join(p.home, name)))
}

// open opens the folder and a file in it.
func (p *place) open(dir, rel string) (string, error) {
	p.t.Helper()
	folder, err := Open(dir, p.own)
	if err != nil {
		return "", err
	}
	defer folder.Close()
	f, info, err := folder.Open(rel)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, 0, info.Size()))
	require.NoError(p.t, err)
	return string(data), folder.Stays()
}

// TestP9_OwnFilesByIdentity: a file of ccbot's own does not leave under any name.
func TestP9_OwnFilesByIdentity(t *testing.T) {
	tests := []struct {
		name string
		make func(p *place)
		dir  string
		rel  string
		want refusal.Code
	}{
		{"the folder above", func(*place) {}, ".", "state/ccbot.env", refusal.FileOwn},
		{"CCBOT_DIR itself", func(*place) {}, "state", "ccbot.env", refusal.FileOwn},
		{"a folder in it", func(*place) {}, "state/inbox", "1.json", refusal.FileOwn},
		{"a hard link", func(p *place) {
			require.NoError(p.t, os.Link(filepath.Join(p.own.Dir, "ccbot.env"), filepath.Join(p.dir, "x")))
		}, "api", "x", refusal.FileNamed},
		{"ccbot.env is a link into the folder", func(p *place) {
			require.NoError(p.t, os.Rename(filepath.Join(p.own.Dir, "ccbot.env"), filepath.Join(p.dir, "x")))
			p.link(filepath.Join(p.dir, "x"), "state/ccbot.env")
		}, "api", "x", refusal.FileOwn},
		{"another file of ccbot's is a link into the folder", func(p *place) {
			p.link(p.file("api/x", "secret"), "state/inbox/2.json")
		}, "api", "x", refusal.FileOwn},
		{"a folder of ccbot's is a link into the folder", func(p *place) {
			p.file("api/kept/1.json", "secret")
			p.link(filepath.Join(p.dir, "kept"), "state/sessions")
		}, "api", "kept/1.json", refusal.FileOwn},
		{"below such a folder", func(p *place) {
			p.file("api/kept/deep/1.json", "secret")
			p.link(filepath.Join(p.dir, "kept"), "state/sessions")
		}, "api/kept/deep", "1.json", refusal.FileOwn},
		{"settings that lie elsewhere", func(p *place) { p.own.Settings = p.file("api/x", "secret") }, "api", "x", refusal.FileOwn},
		{"settings elsewhere that are a link", func(p *place) {
			p.file("api/x", "secret")
			p.link("api/x", "settings")
			p.own.Settings = filepath.Join(p.home, "settings")
		}, "api", "x", refusal.FileOwn},
		{"CCBOT_DIR is a link", func(p *place) {
			p.link("state", "other")
			p.own.Dir = filepath.Join(p.home, "other")
		}, ".", "state/inbox/1.json", refusal.FileOwn},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			tt.make(p)
			text, err := p.open(filepath.Join(p.home, tt.dir), tt.rel)
			assert.Equal(t, tt.want, refusal.In(err).Code, "%v", err)
			assert.Empty(t, text)
		})
	}
}

// A link in CCBOT_DIR that leads nowhere, or in a circle, is no reason to refuse all files.
func TestOpenDespiteBrokenLinks(t *testing.T) {
	p := newPlace(t)
	p.own.Settings = filepath.Join(p.home, "none")
	p.link("gone", "state/gone")
	p.link("circle", "state/circle")
	text, err := p.open(p.dir, "a.txt")
	require.NoError(t, err)
	assert.Equal(t, "hello", text)
}

// TestP9_UnknownOwnFolderSendsNothing: ccbot's own files cannot be recognised without CCBOT_DIR.
func TestP9_UnknownOwnFolderSendsNothing(t *testing.T) {
	p := newPlace(t)
	for _, own := range []Own{{}, {Dir: filepath.Join(p.home, "gone")}, {Dir: p.own.Dir, Settings: filepath.Join(p.dir, "a.txt", "x")}} {
		p.own = own
		_, err := p.open(p.dir, "a.txt")
		require.Error(t, err, own)
	}
}

// TestP9_NamesStayOutOfCcbotsFolder: a link replaces a folder after the path was resolved, and
// CCBOT_DIR is in the session's folder.
func TestP9_NamesStayOutOfCcbotsFolder(t *testing.T) {
	p := newPlace(t)
	p.link("state", "swapped")
	p.link("state/inbox", "deeper")
	p.link("api", "inner")
	for rel, want := range map[string]refusal.Code{
		"state/ccbot.env": refusal.FileOwn, "state/inbox/1.json": refusal.FileOwn,
		"swapped/ccbot.env": refusal.FileChanged, "deeper/1.json": refusal.FileChanged, "inner/a.txt": refusal.FileChanged,
		"api": refusal.FileIrregular, "inner": refusal.FileIrregular, "none": refusal.FileMissing, "none/x": refusal.FileMissing,
	} {
		_, err := p.open(p.home, rel)
		assert.Equal(t, want, refusal.In(err).Code, rel)
	}
	for _, rel := range []string{"../state/ccbot.env", filepath.Join(p.own.Dir, "ccbot.env")} {
		_, err := p.open(p.dir, rel)
		require.Error(t, err, "a path out of the folder")
	}
}

// TestP9_SwappedFolderIsNoticed: an agent replaces its folder while a file is read.
func TestP9_SwappedFolderIsNoticed(t *testing.T) {
	p := newPlace(t)
	folder, err := Open(p.dir, p.own)
	require.NoError(t, err)
	defer folder.Close()
	require.NoError(t, folder.Stays())
	require.NoError(t, os.Rename(p.dir, p.dir+"-real"))
	assert.Equal(t, refusal.FileChanged, refusal.In(folder.Stays()).Code, "it went while it was opened")
	require.NoError(t, os.Symlink(p.dir+"-real", p.dir))
	assert.Equal(t, refusal.FileChanged, refusal.In(folder.Stays()).Code)
	_, err = Open(p.dir, p.own)
	assert.Equal(t, refusal.FileLinked, refusal.In(err).Code)
}

// TestP9_SwappedFileIsRefused: another file gets the name after the first check.
func TestP9_SwappedFileIsRefused(t *testing.T) {
	p := newPlace(t)
	folder, err := Open(p.dir, p.own)
	require.NoError(t, err)
	defer folder.Close()
	look := func(name string) fs.FileInfo {
		info, err := os.Stat(p.file("api/"+name, "x"))
		require.NoError(t, err)
		return info
	}
	one, other := look("b"), look("c")
	assert.Equal(t, refusal.FileChanged, refusal.In(folder.check(one, other)).Code)
	require.NoError(t, folder.check(one, one))
}

func TestOpenDir(t *testing.T) {
	p := newPlace(t)
	p.link(p.own.Dir, "api/linked")
	require.NoError(t, syscall.Mkfifo(filepath.Join(p.dir, "pipe"), 0o600))
	folder, err := Open(p.home, p.own)
	require.NoError(t, err)
	defer folder.Close()
	for rel, want := range map[string]refusal.Code{"state": refusal.FileOwn, "state/inbox": refusal.FileOwn, "api/linked": refusal.FileIrregular,
		"api/pipe": refusal.FileIrregular, "api/a.txt": refusal.FileIrregular, "none": refusal.FileMissing} {
		_, err := folder.OpenDir(rel)
		assert.Equal(t, want, refusal.In(err).Code, rel)
	}
	for _, rel := range []string{".", "api"} {
		dir, err := folder.OpenDir(rel)
		require.NoError(t, err, rel)
		require.NoError(t, dir.Close())
	}
}
