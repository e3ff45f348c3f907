package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"ccbot/internal/gauge"
)

// aliveFile has no content: its time says when ccbot was last there.
const aliveFile = "alive"

// alivePace is how often that is noted, and so how much longer than it was an
// absence may look.
const alivePace = time.Minute

// absence is how long no ccbot was there, and since when; both are zero also where
// that is not known, as at the first start or when the clock was set back. It is
// read once, before the file is touched: all who go by it go by the same.
func absence(dir string, now time.Time) (away time.Duration, seen time.Time) {
	info, err := os.Stat(filepath.Join(dir, aliveFile))
	if err != nil {
		return 0, time.Time{}
	}
	if away = now.Sub(info.ModTime()); away <= 0 {
		return 0, time.Time{}
	}
	return away, now.Add(-away)
}

// keepAlive notes that ccbot is there, until it is not, and looks at the room on its disk. It belongs
// behind the look at how long it was away.
func (s *system) keepAlive(ctx context.Context) error {
	tick := time.NewTicker(alivePace)
	defer tick.Stop()
	failing := false
	for over := false; !over; {
		err := touch(filepath.Join(s.Dir, aliveFile), time.Now())
		if err != nil && !failing {
			s.log.Warn("presence_not_noted", "error", err.Error(), "consequence", "after a restart old prompts are asked about")
		}
		failing = err != nil
		room, err := gauge.Disk(ctx, s.Dir)
		if err == nil {
			err = s.lookAtRoom(room, func(free string) error { return s.bot.DiskLow(ctx, free) })
		}
		if err != nil && ctx.Err() == nil {
			s.log.Debug("disk_room_unknown", "error", err.Error())
		}
		select {
		case <-ctx.Done():
			over = true
		case <-tick.C:
		}
	}
	_ = touch(filepath.Join(s.Dir, aliveFile), time.Now()) // a failure was told
	return ctx.Err()
}

// roomFile has no content: it is there while the disk is almost full and that was told.
const roomFile = "disk_low"

// lookAtRoom warns when the disk of ccbot's folder is almost full, once until it clearly is not any
// more, over restarts too: a bot that can keep nothing takes nothing on, and then it is too late to
// say so.
func (s *system) lookAtRoom(now gauge.Room, tell func(free string) error) error {
	path := filepath.Join(s.Dir, roomFile)
	_, err := os.Lstat(path)
	switch told := err == nil; {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case told && now.High():
		return os.Remove(path)
	case told || !now.Low():
		return nil
	}
	s.log.Warn("disk_almost_full", "dir", s.Dir, "free_bytes", now.Free, "total_bytes", now.Total)
	if err := touch(path, time.Now()); err != nil {
		return err // else the chat would be told each minute
	}
	if err := tell(fmt.Sprintf("%d MiB", now.Free>>20)); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// touch sets a file's time and makes the file where it is missing. Setting it
// works on a full disk.
func touch(path string, at time.Time) error {
	err := os.Chtimes(path, at, at)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Chtimes(path, at, at))
}
