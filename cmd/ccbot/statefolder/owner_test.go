package statefolder

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestP9_WritableByOthersIsRefused is the whole rule.
func TestP9_WritableByOthersIsRefused(t *testing.T) {
	const me, other, nobody = 1000, 1001, 65534
	const elsewhere, asThem, look = "choose another CCBOT_DIR", "run ccbot as that user", "look at what is in it, then "
	const meant = "if that is meant, set CCBOT_ALLOW_READABLE_ENV=1 in the environment"
	dir, sticky, link := fs.ModeDir, fs.ModeDir|fs.ModeSticky, fs.ModeSymlink
	above := viewer.onTheWay
	folder := viewer.folder
	settings := func(v viewer, e entry) error { return v.settings(e, false) }
	asMeant := func(v viewer, e entry) error { return v.settings(e, true) }
	tests := []struct {
		name  string
		judge func(viewer, entry) error
		uid   int
		mode  fs.FileMode
		root  int // the owner of /
		me    int
		fix   string // what the sentence says; empty: it is used
	}{
		{"a folder of mine", folder, me, dir | 0o700, 0, me, ""},
		{"a folder that others may read", folder, me, dir | 0o755, 0, me, ""},
		{"a folder that the group may write", folder, me, dir | 0o770, 0, me, look + "`chmod 700 /x`"},
		{"a folder that others may write", folder, me, dir | 0o702, 0, me, look + "`chmod 700 /x`"},
		{"a folder of everybody's, sticky", folder, me, sticky | 0o777, 0, me, look + "`chmod 700 /x`"},
		{"a folder of another user's", folder, other, dir | 0o700, 0, me, "this ccbot runs as user 1000: " + asThem + ", or " + elsewhere},
		{"a folder of root's", folder, 0, dir | 0o700, 0, me, asThem + ", or " + elsewhere},
		{"a folder of a user's, for root", folder, me, dir | 0o700, 0, 0, "this ccbot runs as user 0: " + asThem + ", or " + elsewhere},
		{"both", folder, other, dir | 0o777, 0, me, asThem + ", or " + elsewhere},

		{"a folder above of mine", above, me, dir | 0o755, 0, me, ""},
		{"a folder above of root's", above, 0, dir | 0o755, 0, me, ""},
		{"a folder above of root's, in a user namespace", above, nobody, dir | 0o755, nobody, me, ""},
		{"a folder above of nobody's", above, nobody, dir | 0o755, 0, me, elsewhere},
		{"/tmp", above, 0, sticky | 0o777, 0, me, ""},
		{"a /tmp of another user's", above, other, sticky | 0o777, 0, me, elsewhere},
		{"a folder above of another user's", above, other, dir | 0o755, 0, me, elsewhere + ", or " + asThem},
		{"a folder above of a user's, for root", above, other, dir | 0o755, 0, 0, elsewhere + ", or " + asThem},
		{"a folder above that the group may write", above, me, dir | 0o775, 0, me, ""},
		{"a folder above of root's that the group may write", above, 0, dir | fs.ModeSetgid | 0o775, 0, me, ""},
		{"a folder above of another user's that the group may write", above, other, dir | 0o775, 0, me, elsewhere},
		{"a folder above that others may write", above, me, dir | 0o777, 0, me, "`chmod o-w /x`"},
		{"a folder above of root's that others may write", above, 0, dir | 0o757, 0, me, "`sudo chmod o-w /x`"},
		{"a link of mine on the way", above, me, link | 0o777, 0, me, ""},
		{"a link of root's on the way", above, 0, link | 0o777, 0, me, ""},
		{"a link of another user's on the way", above, other, link | 0o777, 0, me, elsewhere},

		{"ccbot.env", settings, me, 0o600, 0, me, ""},
		{"ccbot.env that the group may read", settings, me, 0o640, 0, me, "`chmod 600 /x`"},
		{"ccbot.env that others may read", settings, me, 0o604, 0, me, "/revoke at @BotFather gives a new token"},
		{"ccbot.env that others may read, and that is meant", asMeant, me, 0o644, 0, me, ""},
		{"ccbot.env that others may write, whatever is meant", asMeant, me, 0o646, 0, me, look + "`chmod go-w /x`"},
		{"ccbot.env of another user's", asMeant, other, 0o600, 0, me, look + "`sudo chown 1000 /x`"},
		{"ccbot.env of another user's, for root", asMeant, other, 0o600, 0, 0, look + "`sudo chown 0 /x`"},
		{"ccbot.env of nobody's, in a user namespace", asMeant, nobody, 0o644, nobody, me, look + "`sudo chown 1000 /x`"},
		{"a folder in the place of ccbot.env: reading it says so", settings, me, dir | 0o755, 0, me, ""},
		{"ccbot.env of root's", settings, 0, 0o600, 0, me, ""},
		{"ccbot.env of root's that the group may read", settings, 0, 0o640, 0, me, ": " + meant},
		{"ccbot.env of root's that others may read, and that is meant", asMeant, 0, 0o644, 0, me, ""},
		{"ccbot.env of root's that the group may write, whatever is meant", asMeant, 0, 0o660, 0, me, look + "`sudo chmod go-w /x`"},
		{"ccbot.env of root's that others may write, for root", asMeant, 0, 0o646, 0, 0, look + "`chmod go-w /x`"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.judge(viewer{tt.me, tt.root}, entry{"/x", tt.uid, tt.mode})
			if tt.fix == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tt.fix)
		})
	}
}
