package importer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ccbot/internal/lazyregexp"
	"ccbot/internal/ownfile"
)

// PythonSession is a session of the Python ccbot, with the fields that are used here.
type PythonSession struct {
	Name     string `json:"name"`
	Window   string `json:"window_id"`
	Dir      string `json:"workdir"`
	ClaudeID string `json:"claude_session_id"`
	Backend  string `json:"backend"`
	person   int64  // 0: not known
}

// Read reads the sessions of the Python ccbot, in the order of their names. A window of
// session_map.json that belongs to no session is also a session.
func Read(dir string) ([]PythonSession, error) {
	var state struct {
		Sessions map[string]PythonSession `json:"sessions"`
		Active   map[string]string        `json:"active_sessions"`
		History  map[string][]string      `json:"active_history"`
	}
	if err := readFile(dir, "state.json", &state); err != nil {
		return nil, err
	}
	var windows map[string]struct {
		ClaudeID string `json:"session_id"`
		Dir      string `json:"cwd"`
		Name     string `json:"window_name"`
		Backend  string `json:"backend"`
	}
	if err := readFile(dir, "session_map.json", &windows); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	people := make(map[string]int64)
	for _, person := range slices.Sorted(maps.Keys(state.History)) {
		ids := state.History[person]
		for _, id := range append(slices.Clone(ids), state.Active[person]) {
			people[id], _ = strconv.ParseInt(person, 10, 64)
		}
	}
	for _, person := range slices.Sorted(maps.Keys(state.Active)) {
		id := state.Active[person]
		people[id], _ = strconv.ParseInt(person, 10, 64)
	}
	var all []PythonSession
	for id, f := range state.Sessions {
		f.person = people[id]
		all = append(all, f)
	}
	for _, key := range slices.Sorted(maps.Keys(windows)) {
		w, window := windows[key], formerWindow.FindString(key)
		at := slices.IndexFunc(all, func(f PythonSession) bool { return f.ClaudeID == w.ClaudeID || f.ClaudeID == "" && f.Window == window })
		if at < 0 {
			all = append(all, PythonSession{Name: w.Name, Dir: w.Dir, ClaudeID: w.ClaudeID, Backend: w.Backend})
		} else if all[at].ClaudeID == "" {
			all[at].ClaudeID, all[at].Dir = w.ClaudeID, cmp.Or(all[at].Dir, w.Dir)
		}
	}
	slices.SortFunc(all, func(a, b PythonSession) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ClaudeID, b.ClaudeID))
	})
	return all, nil
}

// formerWindow is the window's id at the end of a key of session_map.json.
var formerWindow = lazyregexp.New(`@\d+$`)

// maxFile bounds a file of the Python ccbot, which has some hundred bytes for each session.
const maxFile = 16 << 20

func readFile(dir, name string, into any) error {
	data, err := ownfile.Read(filepath.Join(dir, name), maxFile, ownfile.Links)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s is not as the Python ccbot writes it: %w", filepath.Join(dir, name), err)
	}
	return nil
}
