package systemfont

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/programtest"
)

// machine is a folder that stands for the root folder of a machine whose root is the user of this
// test.
type machine struct {
	t    *testing.T
	root string
}

func newMachine(t *testing.T) machine {
	t.Helper()
	m := machine{t, filepath.Join(t.TempDir(), "root")}
	require.NoError(t, os.Mkdir(m.root, 0o755)) //nolint:gosec // as the folders of a machine are
	require.NoError(t, os.Chmod(m.root, 0o755)) //nolint:gosec // as above, whatever the umask is
	return m
}

// put writes a font that all users can read.
func (m machine) put(name, font string) string {
	m.t.Helper()
	path := filepath.Join(m.root, name)
	for dir := m.root; dir != path; { // each folder has a mode that no umask changes
		next, _, _ := strings.Cut(strings.TrimPrefix(path, dir+"/"), "/")
		if dir = filepath.Join(dir, next); dir != path {
			_ = os.Mkdir(dir, 0o755)                   //nolint:gosec // as the folders of a machine are
			require.NoError(m.t, os.Chmod(dir, 0o755)) //nolint:gosec // as above
		}
	}
	require.NoError(m.t, os.WriteFile(path, testFont(m.t, font), 0o644)) //nolint:gosec // as installed fonts are
	require.NoError(m.t, os.Chmod(path, 0o644))                          //nolint:gosec // as above
	return path
}

// folders are the machine's, in which a user owns the files.
func (m machine) folders(owner int) *Folders {
	return &Folders{root: m.root, paths: []string{m.root + "/usr/share/fonts", m.root + "/usr/local/share/fonts"}, owner: uint32(owner)} //nolint:gosec // a user's number
}

// has reports whether the characters have glyphs.
func (m machine) has(letters string) bool {
	return len(m.folders(os.Getuid()).Find([]rune(letters), 32)) == len([]rune(letters))
}

func TestInstalledFontsAreFound(t *testing.T) {
	m := newMachine(t)
	assert.False(t, m.has("中"), "no folder")
	m.put("usr/share/fonts/truetype/wqy/a.TTF", "outlines.ttf")
	assert.True(t, m.has("中한"))
	assert.False(t, m.has("骨"))
	m.put("usr/local/share/fonts/b.ttc", "collection.ttc")
	m.put("usr/share/fonts/truetype/noto/ColorEmoji.ttf", "emoji.ttf")
	assert.True(t, m.has("中한骨🙂⏰"), "installed after the last search")
	assert.Empty(t, m.folders(os.Getuid()).Find(nil, 32))
	assert.Empty(t, (&Folders{}).Find([]rune("中"), 32))
}

// TestUnsafeFontsAreNotRead: each row makes a machine worse whose font is read otherwise.
func TestUnsafeFontsAreNotRead(t *testing.T) {
	const dir, file = "usr/share/fonts/truetype", "usr/share/fonts/truetype/a.ttf"
	for name, worsen := range map[string]func(root string) error{
		"the group can write the file":     func(root string) error { return os.Chmod(root+"/"+file, 0o664) },
		"others can write the file":        func(root string) error { return os.Chmod(root+"/"+file, 0o646) },
		"the group can write its folder":   func(root string) error { return os.Chmod(root+"/"+dir, 0o775) },
		"others can write its folder":      func(root string) error { return os.Chmod(root+"/"+dir, 0o757|os.ModeSticky) },
		"others can write a folder above":  func(root string) error { return os.Chmod(root+"/usr", 0o777) },
		"others can write the root folder": func(root string) error { return os.Chmod(root, 0o777) },
		"the file is a link": func(root string) error {
			if err := os.Rename(root+"/"+file, root+"/b.ttf"); err != nil {
				return err
			}
			return os.Symlink(root+"/b.ttf", root+"/"+file)
		},
		"its folder is a link": func(root string) error {
			if err := os.Rename(root+"/"+dir, root+"/fonts"); err != nil {
				return err
			}
			return os.Symlink(root+"/fonts", root+"/"+dir)
		},
		"a folder above is a link": func(root string) error {
			if err := os.Rename(root+"/usr", root+"/other"); err != nil {
				return err
			}
			return os.Symlink("other", root+"/usr")
		},
		"the file is a pipe": func(root string) error {
			if err := os.Remove(root + "/" + file); err != nil {
				return err
			}
			return syscall.Mkfifo(root+"/"+file, 0o644)
		},
		"it has another name": func(root string) error { return os.Rename(root+"/"+file, root+"/"+dir+"/a.txt") },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.put(file, "outlines.ttf")
			require.True(t, m.has("中"))
			require.NoError(t, worsen(m.root))
			assert.False(t, m.has("中"))
		})
	}
}

func TestFontsOfOthersAreNotRead(t *testing.T) {
	m := newMachine(t)
	m.put("usr/share/fonts/a.ttf", "outlines.ttf")
	require.True(t, m.has("中"))
	assert.Empty(t, m.folders(os.Getuid()+1).Find([]rune("中"), 32))
}

// TestLinksAreNotFollowed also if a file becomes a link between the listing and the opening.
func TestLinksAreNotFollowed(t *testing.T) {
	m := newMachine(t)
	path := m.put("usr/share/fonts/a.ttf", "outlines.ttf")
	f := m.folders(os.Getuid())
	listed := f.candidates()
	require.Len(t, listed, 1)
	require.NoError(t, os.Rename(path, path+".old"))
	require.NoError(t, os.Symlink(path+".old", path))
	_, err := f.read(listed[0].path, []rune("中"), 32)
	assert.ErrorIs(t, err, syscall.ELOOP)
}

// TestPipesAreNotWaitedFor if a file becomes a pipe between the listing and the opening.
func TestPipesAreNotWaitedFor(t *testing.T) {
	m := newMachine(t)
	path := m.put("usr/share/fonts/a.ttf", "outlines.ttf")
	require.NoError(t, os.Remove(path))
	require.NoError(t, syscall.Mkfifo(path, 0o644))
	_, err := m.folders(os.Getuid()).read(path, []rune("中"), 32)
	assert.ErrorIs(t, err, errUnsafe)
}

// TestFontsOfRoot_AsRoot reads a font below /run, where every folder is root's.
func TestFontsOfRoot_AsRoot(t *testing.T) {
	programtest.RequireRoot(t)
	dir, err := os.MkdirTemp("/run", "ccbot-test-fonts-")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.WriteFile(dir+"/a.ttf", testFont(t, "outlines.ttf"), 0o600))
	assert.Len(t, In(dir).Find([]rune("中"), 32), 1)
	require.NoError(t, os.Chown(dir+"/a.ttf", 65_533, 0))
	assert.Empty(t, In(dir).Find([]rune("中"), 32), "another user's file")
}

// TestFontsInTemporaryFolder are not root's, or every user can write a folder above it.
func TestFontsInTemporaryFolder(t *testing.T) {
	m := newMachine(t)
	m.put("fonts/a.ttf", "outlines.ttf")
	assert.Empty(t, In(m.root+"/fonts").Find([]rune("中"), 32))
}

func TestDeepFoldersAreNotSearched(t *testing.T) {
	m := newMachine(t)
	m.put("usr/share/fonts/"+strings.Repeat("a/", maxDepth)+"a.ttf", "outlines.ttf")
	assert.True(t, m.has("中"))
	m = newMachine(t)
	m.put("usr/share/fonts/"+strings.Repeat("a/", maxDepth+1)+"a.ttf", "outlines.ttf")
	assert.False(t, m.has("中"))
}

func TestPlainFacesAreAskedFirst(t *testing.T) {
	m := newMachine(t)
	for _, name := range []string{"A-Bold.ttf", "B-BoldItalic.otf", "C-Regular.ttc", "D-Light.ttf", "E-ColorEmoji.ttf"} {
		m.put("usr/share/fonts/"+name, "outlines.ttf")
	}
	var names []string
	for _, c := range m.folders(os.Getuid()).candidates() {
		names = append(names, filepath.Base(c.path))
	}
	assert.Equal(t, []string{"C-Regular.ttc", "E-ColorEmoji.ttf", "A-Bold.ttf", "D-Light.ttf", "B-BoldItalic.otf"}, names)
}

// TestEmojiFontIsAskedFirst for emoji, which other fonts have without colours.
func TestEmojiFontIsAskedFirst(t *testing.T) {
	m := newMachine(t)
	other := m.put("usr/share/fonts/a.ttf", "emoji.ttf")
	data := testFont(t, "emoji.ttf")
	head := data[bytes.Index(data, []byte("head"))+8:]
	data[binary.BigEndian.Uint32(head)+18] = 1           // fewer units in an em
	require.NoError(t, os.WriteFile(other, data, 0o644)) //nolint:gosec // as installed fonts are
	advance := func() float32 { return m.folders(os.Getuid()).Find([]rune("🙂"), 32)['🙂'].Advance }
	wide := advance()
	m.put("usr/share/fonts/emoji.ttf", "emoji.ttf")
	assert.Less(t, advance(), wide)
}

// TestDamagedFontHidesNone of the fonts after it.
func TestDamagedFontHidesNone(t *testing.T) {
	m := newMachine(t)
	path := m.put("usr/share/fonts/a.ttf", "outlines.ttf")
	data := testFont(t, "outlines.ttf")
	require.NoError(t, os.WriteFile(path, data[:len(data)/2], 0o644)) //nolint:gosec // as installed fonts are
	assert.False(t, m.has("中"))
	m.put("usr/share/fonts/b.ttf", "outlines.ttf")
	assert.True(t, m.has("中"))
}

func TestPackage(t *testing.T) {
	for r, want := range map[rune]string{'中': Chinese, '한': Chinese, 'か': Chinese, '，': Chinese, '🙂': "fonts-noto-color-emoji",
		'㐀': "fonts-noto-cjk", 'ᄀ': "fonts-noto-cjk", '🀄': "fonts-noto-color-emoji", '🇩': "fonts-noto-color-emoji", '🟢': "fonts-noto-color-emoji",
		'🀀': "fonts-noto-core", '🂡': "fonts-noto-core", '🙐': "fonts-noto-core", '🠀': "fonts-noto-core", '🨀': "fonts-noto-core",
		'ש': "fonts-noto-core", '\uE0C0': "", '\U000F1234': "", '\U0002A6D0': "", '\u0378': ""} {
		assert.Equal(t, want, Package(r), "%U", r)
	}
}
