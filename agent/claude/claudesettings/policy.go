package claudesettings

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"ccbot/internal/ownfile"
)

// maxPolicy limits a file of a policy, in bytes.
const maxPolicy = 4 << 20

// HooksShutBy returns the file of the administrator's settings that keeps Claude Code from running
// ccbot's hooks, whoever installs them; empty: none. managed is the settings file; the files of the
// folder beside it come after it, in the order of their names, and the last word counts. A file that
// cannot be read says nothing, as for Claude Code.
func HooksShutBy(managed string) (file string) {
	more, _ := filepath.Glob(filepath.Join(strings.TrimSuffix(managed, ".json")+".d", "*.json"))
	slices.Sort(more)
	by := make(map[string]string)
	for _, one := range append([]string{managed}, more...) {
		data, err := ownfile.Read(one, maxPolicy, ownfile.Links|ownfile.Others)
		if err != nil || !gjson.ValidBytes(data) {
			continue
		}
		for _, key := range []string{"allowManagedHooksOnly", "disableAllHooks"} {
			switch gjson.GetBytes(data, key).Type { //nolint:exhaustive // other values say nothing
			case gjson.True:
				by[key] = one
			case gjson.False:
				delete(by, key)
			}
		}
	}
	for _, one := range by {
		file = max(file, one)
	}
	return file
}
