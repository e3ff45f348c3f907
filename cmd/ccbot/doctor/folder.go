package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/each"
	"ccbot/internal/hookwire"
	"ccbot/internal/spool"
	"ccbot/tmux"
)

// resting is the age from which a file does not belong to running work.
const resting = time.Hour

// folder looks at ccbot's folder. It reads names and permissions, and no content.
func folder(_ context.Context, w *World) (all []Finding) {
	dir := w.Dir
	if len(filepath.Join(dir, hookwire.SocketName+"~")) >= len(unix.RawSockaddrUnix{}.Path) {
		all = append(all, found("socket_path_long", "choose a shorter CCBOT_DIR", "CCBOT_DIR has a path of %d bytes: too long for a socket in it", len(dir)))
	}
	mayRead, _ := strconv.ParseBool(w.vars[statefolder.ReadableVariable])
	exposed, err := statefolder.Inspect(dir, mayRead)
	if err != nil {
		return append(all, unseen("folder", err))
	}
	all = append(all, each.As(exposed, w.exposure)...)
	at := dir // or the nearest folder above it, in which the first start makes it
	for _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist); _, err = os.Stat(at) {
		at = filepath.Dir(at)
	}
	if err := unix.Access(at, unix.W_OK|unix.X_OK); err != nil && len(exposed) == 0 {
		all = append(all, found("folder_not_writable", "give this user the permission, or choose another CCBOT_DIR", "%s cannot be written: %v", at, err))
	} else if at != dir {
		all = append(all, skipped("folder", dir+" is made by the first start"))
	}
	if at != dir {
		return all
	}
	if _, err := statefolder.ReadInstance(dir); err != nil && len(exposed) == 0 {
		all = append(all, found("instance_damaged", "", "%v", err))
	}
	if n, err := statefolder.ReadFormat(dir); len(exposed) == 0 && (err != nil || n > statefolder.Format) {
		f := found("folder_newer", "use the newer ccbot, or another CCBOT_DIR", "%s is of a newer ccbot than this", dir)
		if err != nil {
			f.Summary, f.Fix = err.Error(), ""
		}
		all = append(all, f)
	}
	all = append(all, w.files()...)
	if len(all) == 0 {
		all = append(all, good("folder", "%s is only yours", dir))
	}
	return all
}

func (w *World) exposure(x statefolder.Exposure) Finding {
	code := Code("folder_readable")
	if x.Refused {
		code = "folder_refused"
	}
	f := found(code, "ccbot doctor --fix", "%s", x.Why)
	if filepath.Base(x.Path) == statefolder.SettingsFile {
		f.Detail = "another user may have read the token: get a new one from @BotFather with /revoke"
	}
	if !x.Closable {
		f.Summary, f.Fix = x.Sentence, ""
		return f
	}
	f.fix = func() (string, error) {
		if err := x.Close(); err != nil {
			return "", err
		}
		return "closed " + x.Path, nil
	}
	return f
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
	if paths := w.cutShort(); len(paths) > 0 {
		all = append(all, w.removable("files_cut_short", paths, "%s of writes that were cut short", terminal.Several(len(paths), "file")))
	}
	if paths := w.launches(); len(paths) > 0 {
		all = append(all, w.removable("launches_left", paths, "%s of sessions that are forgotten", terminal.Several(len(paths), "launch file")))
	}
	return all
}

func (w *World) removable(code Code, paths []string, format string, args ...any) Finding {
	f := found(code, "ccbot doctor --fix", format, args...)
	f.Detail, f.locked = terminal.Some(paths, maxNames), true
	f.fix = func() (string, error) { return removeAll(w.Dir, paths) }
	return f
}

// removeAll removes files in a folder. It follows no link that leads out of the folder.
func removeAll(dir string, paths []string) (did string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	var gone []string
	for _, path := range paths {
		rel, removed := filepath.Rel(dir, path)
		if removed == nil {
			removed = root.Remove(rel)
		}
		if removed == nil {
			gone = append(gone, path)
		} else if !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}
	switch {
	case len(gone) == 0 && err != nil:
		return "", err
	case len(gone) == 1:
		return "removed " + gone[0], err
	}
	return "removed " + terminal.Several(len(gone), "file"), err
}

// quarantined are the files of a quarantine, without those that explain them.
func quarantined(dir string) []string {
	names, _ := spool.Folder{Path: dir}.List()
	return slices.DeleteFunc(names, func(name string) bool {
		return strings.HasSuffix(name, ".reason") || strings.HasSuffix(name, ".untold")
	})
}

// cutShort are the files that a write has left behind which a kill or a power cut has ended.
func (w *World) cutShort() (paths []string) {
	for _, dir := range append(statefolder.Subfolders(w.Dir), w.Dir) {
		names, _ := spool.Folder{Path: dir}.CutShort()
		for _, name := range names {
			ours := dir != w.Dir || statefolder.IsOwnWrite(name)
			if path := filepath.Join(dir, name); ours && w.rests(path) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// launches are the settings of launches, and their status lines, whose session is forgotten.
func (w *World) launches() (paths []string) {
	for _, name := range []string{"launch", hookwire.StatusFolder} {
		dir := filepath.Join(w.Dir, name)
		names, _ := spool.Folder{Path: dir}.List()
		for _, name := range names {
			id, isLaunch := strings.CutSuffix(strings.TrimSuffix(name, hookwire.RowsSuffix), ".json")
			isLaunch = isLaunch || strings.HasSuffix(name, hookwire.RowsSuffix)
			if path := filepath.Join(dir, name); isLaunch && w.forgotten(id) && w.rests(path) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// quarantinedRecords are the records that cannot be read.
func (w *World) quarantinedRecords() []string {
	if w.unread != nil {
		return nil
	}
	return each.As(w.Store.Unloaded(), offline.Describe)
}

// forgotten reports whether no record and no window has the id of a launch; false if that is
// unknown.
func (w *World) forgotten(id string) bool {
	if w.blind != nil || len(w.Store.Unloaded()) > 0 || w.picture.Err != nil && !errors.Is(w.picture.Err, tmux.ErrNoServer) {
		return false
	}
	record, err := uuid.Parse(id)
	if err != nil || slices.ContainsFunc(w.picture.All, func(p tmux.Pane) bool { return strings.Contains(p.Tag, id) }) {
		return false
	}
	_, known := w.Store.Get(record)
	return !known
}

// rests reports whether a path in the folder, with no link to elsewhere on the way, is a file that
// was left long ago.
func (w *World) rests(path string) bool {
	root, err := os.OpenRoot(w.Dir)
	if err != nil {
		return false
	}
	defer root.Close()
	rel, err := filepath.Rel(w.Dir, path)
	if err != nil {
		return false
	}
	info, err := root.Lstat(rel)
	return err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > resting
}

// maxNames is the number of names in a detail.
const maxNames = 3
