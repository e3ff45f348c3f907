package host

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"ccbot/internal/disk"
	"ccbot/internal/each"
	"ccbot/internal/gauge"
	"ccbot/internal/git"
	"ccbot/internal/ownfile"
	"ccbot/port/folders"
)

// Moments are the remembered work trees of sessions: a folder for each session, with a file for
// each moment, whose name sorts by its time, a folder with the objects of all of them, so that what
// does not change is there once, and the size of all that. Anything else in Dir, such as the
// folders of open trees, is useless to the next start.
type Moments struct{ Dir string }

const (
	// keptMoments is the number of remembered moments of a session.
	keptMoments = 20
	// maxMoments limits the moments of all sessions before one is added, in bytes.
	maxMoments = 128 << 20
	// maxMoment bounds the file of a moment: its list of files is bounded by that of git.
	maxMoment = 64 << 20
	momentEnd = ".json"
	objectsIn = "objects"
	sizeIn    = "size" // in bytes, as text
)

// Keep remembers the moment that mark gives, which puts objects into a folder, and forgets the
// oldest ones. If all together are too large, the session with the most forgets its earlier ones.
func (m Moments) Keep(session uuid.UUID, mark func(objects string) (git.Moment, error)) (since folders.Since, err error) {
	if err := m.makeRoom(maxMoments); err != nil {
		return "", err
	}
	defer func() { // makeRoom then need not read the moments of all sessions
		sum := strconv.FormatUint(gauge.Files(m.of(session)), 10)
		err = errors.Join(err, disk.WriteFile(filepath.Join(m.of(session), sizeIn), []byte(sum), 0o600))
	}()
	moment, err := mark(filepath.Join(m.of(session), objectsIn))
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(moment)
	if err != nil {
		return "", err
	}
	id := uuid.Must(uuid.NewV7()).String()
	if err := disk.WriteFile(filepath.Join(m.of(session), id+momentEnd), data, 0o600); err != nil {
		return "", err // a part of the file may be there, and is never loaded
	}
	return folders.Since(id), m.prune(session)
}

// makeRoom forgets the moments of the sessions that have the most, until the others have no more
// than room.
func (m Moments) makeRoom(room int64) (err error) {
	all, err := m.list()
	if err != nil {
		return err
	}
	sizes, sum := make(map[uuid.UUID]int64), int64(0)
	for _, name := range all {
		if id, bad := uuid.Parse(name); bad == nil {
			sizes[id] = m.size(id)
			sum += sizes[id]
		}
	}
	for sum > room {
		most := slices.MaxFunc(slices.Collect(maps.Keys(sizes)), func(a, b uuid.UUID) int { return cmp.Compare(sizes[a], sizes[b]) })
		err = errors.Join(err, m.Forget(most))
		sum -= sizes[most]
		delete(sizes, most)
	}
	return err
}

// size returns the size of a session's moments, as noted after the last one.
func (m Moments) size(session uuid.UUID) int64 {
	data, err := read(filepath.Join(m.of(session), sizeIn))
	sum, bad := strconv.ParseInt(string(data), 10, 64)
	if err != nil || bad != nil || sum < 0 {
		return int64(gauge.Files(m.of(session)))
	}
	return sum
}

// prune forgets all but the newest moments of a session.
func (m Moments) prune(session uuid.UUID) error {
	all, err := disk.ReadDir(m.of(session))
	if err != nil {
		return err
	}
	for kept := 0; len(all) > 0; all = all[:len(all)-1] { // sorted by name
		switch name := all[len(all)-1].Name(); {
		case name == objectsIn, name == sizeIn:
		case kept < keptMoments && strings.HasSuffix(name, momentEnd):
			kept++
		default:
			err = errors.Join(err, disk.RemoveAll(filepath.Join(m.of(session), name)))
		}
	}
	return err
}

// Load returns a moment that is remembered.
func (m Moments) Load(session uuid.UUID, since folders.Since) (moment git.Moment, err error) {
	id, err := uuid.Parse(string(since)) // it becomes a path
	if err != nil {
		return git.Moment{}, err
	}
	data, err := read(filepath.Join(m.of(session), id.String()+momentEnd))
	if err != nil {
		return git.Moment{}, err
	}
	err = json.Unmarshal(data, &moment)
	moment.Objects = filepath.Join(m.of(session), objectsIn)
	return moment, err
}

// Forget removes the moments of a session in one step, so that no reader sees a part of their
// objects. Calling it again finishes what an error has interrupted.
func (m Moments) Forget(session uuid.UUID) error {
	gone := filepath.Join(m.Dir, "gone-"+session.String())
	if err := disk.RemoveAll(gone); err != nil {
		return err
	}
	if err := disk.Rename(m.of(session), gone); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return disk.RemoveAll(gone)
}

// Tidy removes all but the moments of those sessions that need them. No tree is open yet.
func (m Moments) Tidy(needs func(session uuid.UUID) bool) error {
	all, err := m.list()
	for _, name := range all {
		if id, bad := uuid.Parse(name); bad != nil || !needs(id) {
			err = errors.Join(err, disk.RemoveAll(filepath.Join(m.Dir, name)))
		}
	}
	return err
}

// list returns the names in the folder.
func (m Moments) list() (names []string, err error) {
	all, err := disk.ReadDir(m.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return each.As(all, fs.DirEntry.Name), err
}

func read(path string) ([]byte, error) {
	return disk.Read(path, func() ([]byte, error) { return ownfile.Read(path, maxMoment, 0) })
}

func (m Moments) of(session uuid.UUID) string { return filepath.Join(m.Dir, session.String()) }
