package statefolder

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"syscall"
	"time"

	"ccbot/internal/disk"
	"ccbot/internal/gauge"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
)

// lowFile has no content: it exists while the disk is almost full and this was reported.
const lowFile = "disk_low"

// checkInterval is the interval at which the room on the disk is checked; fullInterval is the
// interval while the disk is full.
const (
	checkInterval = time.Minute
	fullInterval  = 10 * time.Second
)

// leastProbe is the size that a disk must accept to count as not full. A disk that was full must
// accept LeastFree, so that a disk at its limit is reported once.
const leastProbe = LeastFree / 4

// DiskSpace reports to the chat when the disk of ccbot's folder fills up: once when it is almost
// full, once when it no longer accepts anything, and then once when it has room again.
type DiskSpace struct {
	dir   string
	log   *slog.Logger
	chat  diskNews
	gauge func(ctx context.Context, dir string) (gauge.Space, error)
	probe func(size int) error // writes that much into the folder, and takes it away again
	wake  chan struct{}        // something could not be written

	full bool // the disk accepts nothing
	// The disk may be full: one write has failed, for a reason that is not clearly the disk's.
	doubt    bool
	reported bool // the chat knows that it is full
}

// diskNews are reports to people. DiskFull needs no disk.
type diskNews interface {
	DiskLow(ctx context.Context, free int64) error
	DiskFull(ctx context.Context) error
	DiskFree(ctx context.Context) error
}

// NewDiskSpace watches the disk of a folder.
func NewDiskSpace(dir string, chat diskNews, log *slog.Logger) *DiskSpace {
	return &DiskSpace{dir: dir, log: log, chat: chat, gauge: gauge.Disk, wake: make(chan struct{}, 1),
		probe: func(size int) error { return probeFolder(dir, size) }}
}

// Refused notes that something could not be written, perhaps because of the disk. It does not wait.
func (d *DiskSpace) Refused() { pause.Poke(d.wake) }

// Run watches the disk until ctx ends.
func (d *DiskSpace) Run(ctx context.Context) error {
	for refused := false; ctx.Err() == nil; {
		d.look(ctx, refused)
		pace := checkInterval
		if d.full || d.doubt {
			pace = fullInterval
		}
		refused = pause.Until(ctx, pace, d.wake)
	}
	return ctx.Err()
}

// look finds out how full the disk is, and reports changes. It writes only to a disk that may be
// full.
func (d *DiskSpace) look(ctx context.Context, refused bool) {
	now, err := d.gauge(ctx, d.dir)
	if err != nil {
		d.log.Debug("disk_room_unknown", logkey.Error, err)
	}
	if refused || d.full || d.doubt || err == nil && now.Low() {
		d.try()
	}
	switch {
	case d.full && !d.reported:
		err = d.chat.DiskFull(ctx)
		d.reported = err == nil
	case !d.full && d.reported:
		err = d.chat.DiskFree(ctx)
		d.reported = err != nil
	case !d.full && err == nil:
		err = d.low(ctx, now)
	}
	if err != nil && ctx.Err() == nil {
		d.log.Warn("disk_not_told", logkey.Error, err)
	}
}

// try finds out whether the disk accepts anything. When the reason of a failure is not clearly the
// disk, the disk counts as full only after a second failure.
func (d *DiskSpace) try() {
	size := leastProbe
	if d.full {
		size = LeastFree
	}
	err := d.probe(size)
	noRoom := errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS)
	full := noRoom || err != nil && (d.full || d.doubt)
	switch {
	case full && !d.full:
		d.log.Error("disk_full", logkey.Dir, d.dir, logkey.Error, err)
	case err != nil && !full:
		d.log.Warn("disk_refused_once", logkey.Dir, d.dir, logkey.Error, err)
	case err == nil && d.full:
		d.log.Info("disk_has_room", logkey.Dir, d.dir)
	}
	d.full, d.doubt = full, err != nil && !full
}

// low warns once when the disk is almost full. It warns again only after there was clearly room in
// between; this also holds over restarts. The warning matters because on a full disk nothing is
// accepted.
func (d *DiskSpace) low(ctx context.Context, now gauge.Space) error {
	path := filepath.Join(d.dir, lowFile)
	_, err := disk.Lstat(path)
	switch reported := err == nil; {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case reported && now.High():
		return disk.Remove(path)
	case reported || !now.Low():
		return nil
	}
	d.log.Warn("disk_almost_full", logkey.Dir, d.dir, logkey.FreeBytes, now.Free, logkey.TotalBytes, now.Total)
	if err := touch(path, time.Now()); err != nil {
		return err // otherwise the chat would get the warning each minute
	}
	if err := d.chat.DiskLow(ctx, int64(now.Free)); err != nil {
		return errors.Join(err, disk.Remove(path))
	}
	return nil
}
