package host

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"ccbot/bot/port/diffs"
	"ccbot/internal/git"
	"ccbot/internal/ownfile"
)

// Moments are the remembered work trees of sessions: a folder for each session, with one for each moment, whose name
// sorts by its time.
type Moments struct{ Dir string }

const (
	// keptMoments is how many moments of a session are remembered.
	keptMoments = 20
	// maxMoment bounds the file of a moment: its list of files is bounded by that of git.
	maxMoment  = 64 << 20
	momentFile = "moment.json"
	objectsIn  = "objects"
)

// Keep remembers the moment that mark gives, which puts objects into a folder, and forgets the oldest ones.
func (m Moments) Keep(session uuid.UUID, mark func(objects string) (git.Moment, error)) (since diffs.Since, err error) {
	id := uuid.Must(uuid.NewV7()).String()
	folder := filepath.Join(m.of(session), id)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	moment, err := mark(filepath.Join(folder, objectsIn))
	if err == nil {
		var data []byte
		if data, err = json.Marshal(moment); err == nil {
			err = os.WriteFile(filepath.Join(folder, momentFile), data, 0o600)
		}
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(folder))
	}
	return diffs.Since(id), m.prune(session)
}

// prune forgets all but the newest moments of a session.
func (m Moments) prune(session uuid.UUID) error {
	all, err := os.ReadDir(m.of(session))
	if err != nil {
		return err
	}
	for _, old := range all[:max(0, len(all)-keptMoments)] { // sorted by name
		err = errors.Join(err, os.RemoveAll(filepath.Join(m.of(session), old.Name())))
	}
	return err
}

// Load gives a moment that is remembered.
func (m Moments) Load(session uuid.UUID, since diffs.Since) (moment git.Moment, err error) {
	id, err := uuid.Parse(string(since)) // it becomes a path
	if err != nil {
		return git.Moment{}, err
	}
	folder := filepath.Join(m.of(session), id.String())
	data, err := ownfile.Read(filepath.Join(folder, momentFile), maxMoment, 0)
	if err != nil {
		return git.Moment{}, err
	}
	err = json.Unmarshal(data, &moment)
	moment.Objects = filepath.Join(folder, objectsIn)
	return moment, err
}

// Forget removes the moments of a session.
func (m Moments) Forget(session uuid.UUID) error { return os.RemoveAll(m.of(session)) }

// Tidy removes the moments of sessions that do not exist.
func (m Moments) Tidy(exists func(session uuid.UUID) bool) error {
	all, err := os.ReadDir(m.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range all {
		if id, bad := uuid.Parse(e.Name()); bad != nil || !exists(id) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(m.Dir, e.Name())))
		}
	}
	return err
}

func (m Moments) of(session uuid.UUID) string { return filepath.Join(m.Dir, session.String()) }
