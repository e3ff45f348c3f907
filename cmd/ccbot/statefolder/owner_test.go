package statefolder

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestP9_WritableByOthersIsRefused is the whole rule.
func TestP9_WritableByOthersIsRefused(t *testing.T) {
	const me, other, nobody = 1000, 1001, 65534
	const ownFolder = "choose another CCBOT_DIR, or, if all of it is ccbot's, use `sudo chown -R "
	const elsewhere, asThem, meant = "choose another CCBOT_DIR", "or run ccbot as that user", "if that is meant, set CCBOT_ALLOW_READABLE_ENV=1 in the environment"
	dir, sticky, link, socket := fs.ModeDir, fs.ModeDir|fs.ModeSticky, fs.ModeSymlink, fs.ModeSocket
	tests := []struct {
		name    string
		what    place
		uid     int
		mode    fs.FileMode
		mayRead bool
		root    int // the owner of /
		me      int
		command string // with instead empty: it is used
		instead string
	}{
		{"a folder of mine", placeFolder, me, dir | 0o700, false, 0, me, "", ""},
		{"a folder that others may read", placeFolder, me, dir | 0o755, false, 0, me, "", ""},
		{"a folder that the group may write", placeFolder, me, dir | 0o770, false, 0, me, "chmod go-w", ""},
		{"a folder that others may write", placeFolder, me, dir | 0o702, false, 0, me, "chmod go-w", ""},
		{"a folder of everybody's, sticky", placeFolder, me, sticky | 0o777, false, 0, me, "chmod go-w", ""},
		{"a folder of another user's", placeFolder, other, dir | 0o700, false, 0, me, "", ownFolder + "1000 /x`"},
		{"a folder of root's", placeFolder, 0, dir | 0o700, false, 0, me, "", ownFolder + "1000 /x`"},
		{"a folder of a user's, for root", placeFolder, me, dir | 0o700, false, 0, 0, "", ownFolder + "0 /x`" + ", " + asThem},
		{"both", placeFolder, other, dir | 0o777, false, 0, me, "", ownFolder + "1000 /x`"},

		{"a folder above of mine", placeAbove, me, dir | 0o755, false, 0, me, "", ""},
		{"a folder above of root's", placeAbove, 0, dir | 0o755, false, 0, me, "", ""},
		{"a folder above of root's, in a user namespace", placeAbove, nobody, dir | 0o755, false, nobody, me, "", ""},
		{"a folder above of nobody's", placeAbove, nobody, dir | 0o755, false, 0, me, "", elsewhere},
		{"a folder above of nobody's, for root", placeAbove, nobody, dir | 0o755, false, 0, 0, "", elsewhere},
		{"/tmp", placeAbove, 0, sticky | 0o777, false, 0, me, "", ""},
		{"a /tmp of another user's", placeAbove, other, sticky | 0o777, false, 0, me, "", elsewhere},
		{"a folder above of another user's", placeAbove, other, dir | 0o755, false, 0, me, "", elsewhere},
		{"a folder above of a user's, for root", placeAbove, other, dir | 0o755, false, 0, 0, "", elsewhere + ", " + asThem},
		{"a folder above that the group may write", placeAbove, me, dir | 0o775, false, 0, me, "", ""},
		{"a folder above of root's that the group may write", placeAbove, 0, dir | fs.ModeSetgid | 0o775, false, 0, me, "", ""},
		{"a folder above of another user's that the group may write", placeAbove, other, dir | 0o775, false, 0, me, "", elsewhere},
		{"a folder above that others may write", placeAbove, me, dir | 0o777, false, 0, me, "chmod o-w", ""},
		{"a folder above of root's that others may write", placeAbove, 0, dir | 0o757, false, 0, me, "sudo chmod o-w", "or " + elsewhere},
		{"a link of mine on the way", placeAbove, me, link | 0o777, false, 0, me, "", ""},
		{"a link of root's on the way", placeAbove, 0, link | 0o777, false, 0, me, "", ""},
		{"a link of another user's on the way", placeAbove, other, link | 0o777, false, 0, me, "", elsewhere},

		{"a file of mine", placePart, me, 0o600, false, 0, me, "", ""},
		{"a file that others may read", placePart, me, 0o644, false, 0, me, "", ""},
		{"a file that the group may write", placePart, me, 0o660, false, 0, me, "chmod go-w", ""},
		{"a file of root's", placePart, 0, 0o600, false, 0, me, "sudo chown -R 1000", ""},
		{"a link of mine in it", placePart, me, link | 0o777, false, 0, me, "", ""},
		{"a link of another user's in it", placePart, other, link | 0o777, false, 0, me, "sudo chown -R 1000", ""},
		{"a socket of a start that was killed", placePart, me, socket | 0o775, false, 0, me, "", ""},
		{"a socket of another user's", placePart, other, socket | 0o600, false, 0, me, "sudo chown -R 1000", ""},
		{"a folder in it", placeBelow, me, dir | 0o755, false, 0, me, "", ""},
		{"a folder in it that others may write", placeBelow, me, dir | 0o777, false, 0, me, "chmod go-w", ""},
		{"a link in the place of a folder in it", placeBelow, me, link | 0o777, false, 0, me, "", "put the folder itself in its place"},
		{"a folder in it of another user's", placeBelow, other, dir | 0o700, false, 0, me, "sudo chown -R 1000", ""},

		{"ccbot.env", placeSettings, me, 0o600, false, 0, me, "", ""},
		{"ccbot.env that the group may read", placeSettings, me, 0o640, false, 0, me, "chmod 600", meant},
		{"ccbot.env that others may read", placeSettings, me, 0o604, false, 0, me, "chmod 600", meant},
		{"ccbot.env that others may read, and that is meant", placeSettings, me, 0o644, true, 0, me, "", ""},
		{"ccbot.env that others may write, whatever is meant", placeSettings, me, 0o646, true, 0, me, "chmod 600", ""},
		{"ccbot.env of another user's", placeSettings, other, 0o600, true, 0, me, "sudo chown -R 1000", ""},
		{"ccbot.env of another user's, for root", placeSettings, other, 0o600, true, 0, 0, "sudo chown -R 0", ""},
		{"ccbot.env of nobody's, in a user namespace", placeSettings, nobody, 0o644, true, nobody, me, "sudo chown -R 1000", ""},
		{"a folder in the place of ccbot.env: reading it says so", placeSettings, me, dir | 0o755, false, 0, me, "", ""},
		{"ccbot.env of root's", placeSettings, 0, 0o600, false, 0, me, "", ""},
		{"ccbot.env of root's that the group may read", placeSettings, 0, 0o640, false, 0, me, "", meant},
		{"ccbot.env of root's that others may read, and that is meant", placeSettings, 0, 0o644, true, 0, me, "", ""},
		{"ccbot.env of root's that the group may write, whatever is meant", placeSettings, 0, 0o660, true, 0, me, "sudo chmod go-w", ""},
		{"ccbot.env of root's that others may write, for root", placeSettings, 0, 0o646, true, 0, 0, "chmod 600", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := entry{"/x", tt.what, tt.uid, tt.mode}.objection(viewer{tt.me, tt.root, tt.mayRead})
			assert.Equal(t, []string{tt.command, tt.instead}, []string{o.command, o.instead})
			assert.Equal(t, tt.command+tt.instead == "", o.why == "", o.why)
		})
	}
}

// TestP9_RefusalIsOneSentence: it ends with the remedy.
func TestP9_RefusalIsOneSentence(t *testing.T) {
	folder := entry{"/home", placeAbove, 0, fs.ModeDir | 0o755}
	tests := []struct {
		name string
		me   int
		of   entry
		end  string
	}{
		{"a home", 0, entry{"/home/u", placeAbove, 1001, fs.ModeDir | 0o755},
			"/home/u belongs to user 1001, who could put another folder in ccbot's place: choose another CCBOT_DIR, or run ccbot as that user"},
		{"a folder of root's", 1000, entry{"/srv/all", placeAbove, 0, fs.ModeDir | 0o777},
			"others may write /srv/all, and so put another folder in ccbot's place: `sudo chmod o-w /srv/all` mends that, or choose another CCBOT_DIR"},
		{"a file", 1000, entry{"/home/u/my state/alive", placePart, 1000, 0o620},
			"group or others may write /home/u/my state/alive, and ccbot would take what they write for its own: `chmod go-w '/home/u/my state/alive'` mends that"},
		{"a secret", 1000, entry{"/run/ccbot.env", placeSettings, 0, 0o640},
			"group or others may read /run/ccbot.env, where the token is: if that is meant, set CCBOT_ALLOW_READABLE_ENV=1 in the environment"},
		{"an own file", 1000, entry{"/x/ccbot.env", placeSettings, 1000, 0o640},
			"group or others may read /x/ccbot.env, where the token is: `chmod 600 /x/ccbot.env` mends that; if that is meant, set CCBOT_ALLOW_READABLE_ENV=1 in the environment"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.EqualError(t, refusal("/x", []entry{folder, tt.of}, viewer{uid: tt.me}), tt.end)
		})
	}
}

// TestNamedEntriesAreKnown: every file that has a name in the code that makes it is checked.
func TestNamedEntriesAreKnown(t *testing.T) {
	name := regexp.MustCompile(`(?m)^(?:const |\t)\w*File\s+= "([^"]+)"`)
	found := 0
	for _, folder := range []string{".", "..", "../../../bot/outbox", "../../../recovery"} {
		sources, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		for _, source := range sources {
			text, err := os.ReadFile(source)
			require.NoError(t, err)
			for _, m := range name.FindAllStringSubmatch(string(text), -1) {
				found++
				assert.True(t, slices.Contains(ownFiles, m[1]) || m[1] == SettingsFile, "%s of %s is not known", m[1], source)
			}
		}
	}
	assert.GreaterOrEqual(t, found, 8)
}

// TestFolderScanIsBounded: there may be very many events.
func TestFolderScanIsBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range mostLooked + 10 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, strings.Repeat("x", i%200+1)+string(rune('a'+i/200))), nil, 0o600))
	}
	names, err := someOf(dir)
	require.NoError(t, err)
	assert.Len(t, names, mostLooked)
}
