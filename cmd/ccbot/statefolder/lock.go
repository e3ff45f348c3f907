package statefolder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"ccbot/cmd/ccbot/exit"
	"ccbot/internal/pause"
	"ccbot/internal/process"
)

// lockFile is in CCBOT_DIR.
const lockFile = "ccbot.lock"

// lockTimeout is added to KILL_GRACE: the sum is how long to wait for another ccbot that holds the
// lock.
const lockTimeout = 10 * time.Second

// Take makes the folder if it is missing, takes its locks for the life of this process, and brings
// a folder of an older ccbot up to date. It refuses a folder of a newer one, one that other users
// could have written, and one that nothing can be written to, because then no message may be
// accepted. exit.ErrRunning says that a bot runs.
func Take(ctx context.Context, dir, role string, grace time.Duration, log *slog.Logger) (*process.Table, *Held, error) {
	if _, err := Upgradable(dir); err != nil {
		return nil, nil, err
	}
	if err := own(dir, log); err != nil {
		return nil, nil, fmt.Errorf("CCBOT_DIR: %w", Error(dir, err))
	}
	table, err := process.NewTable()
	if err != nil {
		return nil, nil, err
	}
	l, err := lock(ctx, dir, role, table, grace+lockTimeout)
	if err != nil {
		return nil, nil, Error(dir, err)
	}
	held, err := hold(dir, l)
	if err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	err = probeFolder(dir, LeastFree)
	if err == nil {
		err = bringUpToDate(dir, log)
	}
	if err != nil {
		return nil, nil, errors.Join(Error(dir, err), held.Close())
	}
	return table, held, nil
}

// holder is the content of the lock file: the process that holds the lock.
type holder struct {
	role  string
	agent process.Identity // of the ccbot that holds it
}

const holderForm = "role=%s\npid=%d\nstart=%d\nboot=%s\n"

// locks are the locks of the folder and of ccbot.lock in it. Deleting the file does not delete the
// folder's lock.
type locks struct{ folder, file *flock.Flock }

func (l locks) Close() error { return errors.Join(l.file.Close(), l.folder.Close()) }

// try takes both. If a file system cannot lock a folder, as NFS, the lock of the file counts alone.
func (l locks) try() (bool, error) {
	if ok, err := l.folder.TryLock(); !ok && err == nil {
		return false, nil
	}
	ok, err := l.file.TryLock()
	if err != nil {
		err = fmt.Errorf("lock %s: %w", l.file.Path(), err)
	}
	return ok, err
}

// lock takes the locks for life. If a live `run` holds them, the error is exit.ErrRunning at once.
// Any other holder is waited for, since a command that changes something ends soon.
func lock(ctx context.Context, dir, role string, table *process.Table, timeout time.Duration) (held locks, err error) {
	path := filepath.Join(dir, lockFile)
	l := locks{flock.New(dir, flock.SetFlag(os.O_RDONLY)), flock.New(path, flock.SetPermissions(0o600))}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	deadline := time.Now().Add(timeout)
	for {
		if ok, err := l.try(); err != nil {
			return locks{}, err
		} else if ok {
			return l, writeHolder(path, holder{role: role, agent: table.Self()})
		}
		first := readHolder(path)
		if err := pause.For(ctx, time.Second); err != nil {
			return locks{}, err
		}
		h := readHolder(path)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return locks{}, fmt.Errorf("%w (its %s was deleted)", exit.ErrRunning, path)
		}
		if h == first && h.role == "run" && table.Liveness(h.agent) == process.Alive {
			return locks{}, fmt.Errorf("%w (pid %d, %s)", exit.ErrRunning, h.agent.PID, path)
		}
		if time.Now().After(deadline) {
			return locks{}, fmt.Errorf("%s is held by pid %d, which is not a running bot and keeps the lock: end that process, then try again", path, first.agent.PID)
		}
	}
}

// writeHolder notes which process holds the lock. It writes into the same file and replaces
// nothing: the lock is on the file, not on its name.
func writeHolder(path string, h holder) error {
	text := fmt.Sprintf(holderForm, h.role, h.agent.PID, h.agent.Start, h.agent.Boot)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Holder is the process that took the lock last.
func Holder(dir string) int { return readHolder(filepath.Join(dir, lockFile)).agent.PID }

// RunningBot returns the process of the live bot that holds the lock, and the time since when it
// does, or 0. It takes no lock: the file is written once, when the lock is taken.
func RunningBot(dir string, table *process.Table) (pid int, since time.Time) {
	path := filepath.Join(dir, lockFile)
	h := readHolder(path)
	info, err := os.Stat(path)
	if err != nil || h.role != "run" || table.Liveness(h.agent) != process.Alive {
		return 0, time.Time{}
	}
	return h.agent.PID, info.ModTime()
}

// readHolder reads as much as it can; a torn or empty file names no process.
func readHolder(path string) (h holder) {
	data, _ := os.ReadFile(path)
	_, _ = fmt.Sscanf(string(data), holderForm, &h.role, &h.agent.PID, &h.agent.Start, &h.agent.Boot)
	return h
}
