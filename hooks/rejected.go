package hooks

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ccbot/internal/disk"
	"ccbot/internal/hookwire"
	"ccbot/internal/logkey"
	"ccbot/internal/ownfile"
	"ccbot/internal/spool"
)

// Limits of the rejected events in quarantine/. Any program of this user can make events, so that
// without a limit they could fill the disk.
const (
	maxRejected      = 200
	maxRejectedBytes = 16 << 20
)

// rejectedReason begins the reason of each rejected event. Only files with such a reason are
// removed: everything else in quarantine/ is for a person.
const rejectedReason = "hook event: "

// rejected is an event in quarantine/, with its reason.
type rejected struct {
	name  string
	since time.Time
	bytes int64
}

// boundLocked removes the oldest rejected events while there are too many. The first removal of a
// run is logged.
func (e *Events) boundLocked() error {
	all, err := rejectedIn(e.quarantine)
	if err != nil {
		return err
	}
	bytes := int64(0)
	for _, r := range all {
		bytes += r.bytes
	}
	removed, errs := 0, []error(nil)
	for _, r := range all {
		if len(all)-removed <= maxRejected && bytes <= maxRejectedBytes {
			break
		}
		path := filepath.Join(e.quarantine, r.name)
		// The reason goes last: without it a later pass could not tell that this is an event.
		if err := disk.RemoveAll(path); err != nil { // the next one goes instead
			errs = append(errs, err)
			continue
		}
		errs = append(errs, disk.Remove(path+spool.ReasonSuffix))
		removed, bytes = removed+1, bytes-r.bytes
	}
	if removed > 0 && !e.bounded {
		e.bounded = true
		e.log.Warn("rejected_hook_events_removed", logkey.Count, removed, logkey.Folder, e.quarantine)
	}
	return errors.Join(errs...)
}

// rejectedIn returns the rejected events in a quarantine folder, oldest first.
func rejectedIn(dir string) (all []rejected, err error) {
	names, err := spool.Folder{Path: dir}.List()
	if err != nil {
		return nil, err
	}
	for _, mark := range names {
		name, isReason := strings.CutSuffix(mark, spool.ReasonSuffix)
		if !isReason || !strings.HasPrefix(name, hookwire.EventsFolder+"-") {
			continue
		}
		path := filepath.Join(dir, mark)
		reason, err := disk.Read(path, func() ([]byte, error) { return ownfile.Read(path, maxReason, 0) })
		if err != nil || !strings.HasPrefix(string(reason), rejectedReason) {
			continue
		}
		info, err := disk.Lstat(path)
		if err != nil {
			continue
		}
		all = append(all, rejected{name, info.ModTime(), info.Size() + sizeOf(filepath.Join(dir, name))})
	}
	slices.SortFunc(all, func(a, b rejected) int { return cmp.Or(a.since.Compare(b.since), strings.Compare(a.name, b.name)) })
	return all, nil
}

// maxReason is far above the size of any reason, which may have a stack in it.
const maxReason = 1 << 20

// entrySize is added for each file and folder, because each takes room of the disk.
const entrySize = 4 << 10

// sizeOf returns how many bytes an item takes, a folder with everything in it. It stops above
// maxRejectedBytes.
func sizeOf(path string) (bytes int64) {
	// an unreadable entry counts nothing
	_ = disk.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		bytes += entrySize
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		if bytes > maxRejectedBytes {
			return fs.SkipAll
		}
		return nil
	})
	return bytes
}
