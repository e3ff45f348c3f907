package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// additions are the calls that an earlier version lacks, each with the effect of that: the chat
// draws no button, because the machine has not reported the ability, or a person who asks for it
// gets the sentence of refusal.OldMachine.
var additions = map[string]string{
	"Agents.Installed":     "no button: see abilities",
	"Files.Offered":        "no call: such a machine offers no files",
	"Keeper.SetBudget":     "the chat interrupts a turn above its budget, and no prompt waits",
	"Received.Discard":     "no call: such a machine asks about no files",
	"Schedules.SetPlanner": "the schedule goes on: only a later version of the machine can pause it",
	"Schedules.SetZone":    "the schedule keeps the zone that it was made in",
}

// TestEnvelopesOfEarlierVersions requires that this version still has each call, each kind of news
// and each field of the earlier ones, in the same form: a program of either version then reads what
// the other one writes. A changed meaning needs another name.
func TestEnvelopesOfEarlierVersions(t *testing.T) {
	present := envelopesIn(t, "v"+strconv.Itoa(Version))
	folders, err := filepath.Glob("testdata/v*.*")
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	lacks := make(map[string]bool)
	for _, folder := range folders {
		earlier := envelopesIn(t, filepath.Base(folder))
		for kind, e := range earlier {
			assert.Empty(t, missing(kind, e, present[kind]), folder)
		}
		for kind := range present {
			if _, had := earlier[kind]; !had && handlers[kind] != nil {
				lacks[kind] = true
				assert.NotEmpty(t, additions[kind], "%s is not in %s: what does the chat do without it?", kind, folder)
			}
		}
	}
	for kind := range additions {
		assert.True(t, lacks[kind], "each version has %s", kind)
	}
}

// envelopesIn returns the envelopes in the files of a folder: a call with its answer by kind, and
// news by type.
func envelopesIn(t *testing.T, folder string) map[string]any {
	t.Helper()
	all := make(map[string]any)
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		f, err := os.Open(name)
		require.NoError(t, err)
		for d := json.NewDecoder(f); ; {
			var e map[string]any
			if err := d.Decode(&e); errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, name)
			kind := fmt.Sprint(e["kind"])
			if body, is := e["body"].(map[string]any); is && kind == newsKind {
				kind += " " + fmt.Sprint(body["of"])
			}
			pair, _ := all[kind].([]any)
			all[kind] = append(pair, e)
		}
		require.NoError(t, f.Close())
	}
	return all
}

// missing returns the places of an earlier value that the present one lacks, or has in another
// form.
func missing(place string, earlier, present any) (all []string) {
	if fmt.Sprintf("%T", earlier) != fmt.Sprintf("%T", present) {
		return []string{place}
	}
	switch before := earlier.(type) {
	case map[string]any:
		now, _ := present.(map[string]any)
		for key, v := range before {
			all = append(all, missing(place+"."+key, v, now[key])...)
		}
	case []any: // a call may have more results
		now, _ := present.([]any)
		for i, v := range before {
			if i >= len(now) {
				return append(all, fmt.Sprintf("%s[%d]", place, i))
			}
			all = append(all, missing(fmt.Sprintf("%s[%d]", place, i), v, now[i])...)
		}
	}
	return all
}
