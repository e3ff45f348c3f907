package writerlock

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// suffix ends the name of a lock.
const suffix = ".lock"

// Held returns the conversations whose locks are held, by the pids of the holders.
func (h Home) Held() (map[int][]uuid.UUID, error) {
	dir, err := filepath.EvalSymlinks(filepath.Join(string(h), Folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // Codex has no conversation yet
	}
	if err != nil {
		return nil, fmt.Errorf("writer locks: %w", err)
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return nil, fmt.Errorf("writer locks: %w", err)
	}
	held := make(map[int][]uuid.UUID)
	for _, pid := range lockers(locks) {
		ids, err := heldBy(pid, dir)
		if err != nil {
			return nil, fmt.Errorf("writer locks: %w", err)
		}
		if len(ids) > 0 {
			held[pid] = ids
		}
	}
	return held, nil
}

// lockers returns the processes that have flocks for writing, as /proc/locks lists them:
//
//	7: FLOCK  ADVISORY  WRITE 31146 00:1b:8060 0 EOF
func lockers(locks []byte) (pids []int) {
	for l := range bytes.Lines(locks) {
		f := bytes.Fields(l)
		if len(f) < 5 || string(f[1]) != "FLOCK" || string(f[3]) != "WRITE" { // a waiting one begins with "->"
			continue
		}
		pid, err := strconv.Atoi(string(f[4]))
		if err == nil && pid > 0 && !slices.Contains(pids, pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// heldBy returns the conversations whose locks a process has.
func heldBy(pid int, dir string) (ids []uuid.UUID, err error) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	files, err := os.ReadDir(filepath.Join(proc, "fd"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil // it has ended, or is another user's
	}
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		name, err := os.Readlink(filepath.Join(proc, "fd", f.Name()))
		if err != nil || filepath.Dir(name) != dir {
			continue // it was closed since, or is another file
		}
		id, err := uuid.Parse(strings.TrimSuffix(filepath.Base(name), suffix))
		if err != nil || id.String()+suffix != filepath.Base(name) {
			continue
		}
		note, err := os.ReadFile(filepath.Join(proc, "fdinfo", f.Name()))
		if err == nil && len(lockers(noted(note))) > 0 {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// noted returns the locks of an open file, as in /proc/locks.
func noted(note []byte) (locks []byte) {
	for l := range bytes.Lines(note) {
		if lock, is := bytes.CutPrefix(l, []byte("lock:")); is {
			locks = append(locks, lock...)
		}
	}
	return locks
}
