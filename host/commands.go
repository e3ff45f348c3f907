package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/git"
	"ccbot/internal/sysfault"
)

// HasCommand implements [folders.Lookups] with the session's agent, in its folder.
func (m *Machine) HasCommand(_ context.Context, id uuid.UUID, name string) (bool, error) {
	for _, r := range m.Records.Shared() {
		if r.ID == id {
			return m.Agents.Of(r.AgentName).Folders.HasCommand(r.Folder(), name), nil
		}
	}
	return false, nil
}

// IsMissing implements [folders.Lookups]. It waits for no mount that does not answer.
func (m *Machine) IsMissing(ctx context.Context, dir string) (bool, error) {
	err := m.looks.stat(ctx, dir)
	if sysfault.IsNoFolder(err) {
		return true, nil
	}
	return false, err
}

// Branch implements [folders.Lookups]. It waits for no mount that does not answer.
func (m *Machine) Branch(ctx context.Context, dir string) (string, error) {
	if err := m.looks.stat(ctx, dir); err != nil {
		return "", err
	}
	return git.BranchIn(dir), nil
}

// statTimeout bounds a check of a folder. A prompt waits for the check.
const statTimeout = 2 * time.Second

var errNoAnswer = errors.New("the file system does not answer")

// folderChecks are the running checks of folders, at most one for each folder, because a call to a
// mount that does not answer cannot be ended.
type folderChecks struct {
	mu      sync.Mutex
	pending map[string]bool
	call    func(dir string) (fs.FileInfo, error) // nil: os.Stat
}

// stat looks at a folder. errNoAnswer: the file system does not answer in time, or has not answered
// an earlier look.
func (l *folderChecks) stat(ctx context.Context, dir string) error {
	if !l.begin(dir) {
		return errNoAnswer
	}
	call, done := l.call, make(chan error, 1)
	if call == nil {
		call = os.Stat
	}
	go func() { // it ends with its call
		_, err := call(dir + "/") // only a folder has such a path
		l.end(dir)
		done <- err
	}()
	ctx, cancel := context.WithTimeout(ctx, statTimeout)
	defer cancel()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return errNoAnswer
	}
}

func (l *folderChecks) begin(dir string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending[dir] {
		return false
	}
	if l.pending == nil {
		l.pending = make(map[string]bool)
	}
	l.pending[dir] = true
	return true
}

func (l *folderChecks) end(dir string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pending, dir)
}
