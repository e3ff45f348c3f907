package flockers

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Of returns the names of the locked files of a folder by the pids of the holders. A missing folder
// has none.
func Of(dir string) (map[int][]string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read who holds locks: %w", err)
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return nil, fmt.Errorf("read who holds locks: %w", err)
	}
	held := make(map[int][]string)
	for _, pid := range lockers(locks) {
		names, err := heldBy(pid, dir)
		if err != nil {
			return nil, fmt.Errorf("read who holds locks: %w", err)
		}
		if len(names) > 0 {
			held[pid] = names
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

// heldBy returns the names of the files of a folder whose locks a process has.
func heldBy(pid int, dir string) (names []string, err error) {
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
		note, err := os.ReadFile(filepath.Join(proc, "fdinfo", f.Name()))
		if err == nil && len(lockers(noted(note))) > 0 {
			names = append(names, filepath.Base(name))
		}
	}
	return names, nil
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
