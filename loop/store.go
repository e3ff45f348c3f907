package loop

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"

	"ccbot/internal/spool"
)

const suffix = ".json"

// store keeps one file for each loop.
type store struct{ folder spool.Folder }

// open reads all loops. Files that cannot be understood go to quarantine.
func (s *store) open(dir, quarantine string, log *slog.Logger) (all []Loop, err error) {
	s.folder = spool.Folder{Path: dir, Fsync: true}
	_, err = spool.Loader{Quarantine: quarantine, Report: true, Log: log}.Load(s.folder, suffix, func(name string, data []byte) error {
		var l Loop
		if err := json.Unmarshal(data, &l); err != nil {
			return err
		}
		if l.ID.String()+suffix != name {
			return fmt.Errorf("the file is named %s, and has the loop %s", name, l.ID)
		}
		all = append(all, l)
		return nil
	})
	return all, err
}

// Read reads the loops of a folder that a running ccbot may write, the newest last.
func Read(dir string, log *slog.Logger) ([]Loop, error) {
	all, err := (&store{}).open(dir, "", log)
	slices.SortFunc(all, byAge)
	return all, err
}

func byAge(a, b Loop) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), bytes.Compare(a.ID[:], b.ID[:]))
}

// put writes a loop; it is on disk when put returns.
func (s *store) put(l Loop) error { return put(s.folder, l, suffix) }

// putOrRemove removes the file of a removed loop of which nothing stays, and writes any other one.
func (s *store) putOrRemove(l Loop) error {
	if l.Removed() && !l.stays() {
		return s.folder.Remove(l.ID.String() + suffix)
	}
	return s.put(l)
}

func put(to spool.Folder, l Loop, suffix string) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return to.Put(l.ID.String()+suffix, append(data, '\n'))
}
