package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/each"
	"ccbot/internal/hookwire"
	"ccbot/internal/spool"
)

// folder looks at ccbot's folder. It reads names and permissions, and no content.
func folder(_ context.Context, w *World) (all []Finding) {
	dir := w.Dir
	if len(filepath.Join(dir, hookwire.SocketName+"~")) >= len(unix.RawSockaddrUnix{}.Path) {
		all = append(all, found("socket_path_long", "choose a shorter CCBOT_DIR", "CCBOT_DIR has a path of %d bytes: too long for a socket in it", len(dir)))
	}
	if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o077 != 0 {
		all = append(all, found("folder_readable", "chmod 700 "+terminal.ShellWord(dir), "group or others may read %s, until the next start closes it", terminal.Printable(dir)))
	}
	at := dir // or the nearest folder above it, in which the first start makes it
	for _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist); _, err = os.Stat(at) {
		at = filepath.Dir(at)
	}
	if err := unix.Access(at, unix.W_OK|unix.X_OK); err != nil {
		all = append(all, found("folder_not_writable", "give this user the permission, or choose another CCBOT_DIR", "%s cannot be written: %v", at, err))
	} else if at != dir {
		all = append(all, skipped("folder", dir+" is made by the first start"))
	}
	if at != dir {
		return all
	}
	if _, err := statefolder.ReadInstance(dir); err != nil {
		all = append(all, found("instance_damaged", "", "%v", err))
	}
	if n, err := statefolder.Upgradable(dir); err != nil {
		all = append(all, found("folder_newer", "use the ccbot that wrote it, or another CCBOT_DIR", "%v", err))
	} else if n != 0 && n < statefolder.Format {
		all = append(all, found("folder_older", "", "an older ccbot wrote %s (version %d of the folder, and this ccbot reads %d)", dir, n, statefolder.Format))
	}
	for _, err := range statefolder.Unusable(dir) {
		all = append(all, found("part_unusable", "", "ccbot run cannot use a part of its folder: %v", err))
	}
	all = append(all, w.files()...)
	if len(all) == 0 {
		all = append(all, good("folder", "%s is only yours", dir))
	}
	return all
}

// files looks at what has been left in the folder.
func (w *World) files() (all []Finding) {
	dir := w.Dir
	if names := quarantined(filepath.Join(dir, "quarantine")); len(names) > 0 {
		f := found("quarantined", "look at them, then delete them: "+filepath.Join(dir, "quarantine"), "%s set aside as unreadable", terminal.Several(len(names), "file"))
		f.Detail = terminal.Some(names, maxNames)
		all = append(all, f)
	}
	if names := w.quarantinedRecords(); len(names) > 0 {
		f := found("records_unreadable", "ccbot recover --dry-run", "%s cannot be read", terminal.Several(len(names), "record"))
		f.Detail = terminal.Some(names, maxNames)
		all = append(all, f)
	}
	return all
}

// quarantined are the files of a quarantine, without those that explain them.
func quarantined(dir string) []string {
	names, _ := spool.Folder{Path: dir}.List()
	return slices.DeleteFunc(names, func(name string) bool {
		return strings.HasSuffix(name, ".reason") || strings.HasSuffix(name, ".untold")
	})
}

// quarantinedRecords are the records that cannot be read.
func (w *World) quarantinedRecords() []string {
	if w.unread != nil {
		return nil
	}
	return each.As(w.Store.Unloaded(), offline.Describe)
}

// maxNames is the number of names in a detail.
const maxNames = 3
