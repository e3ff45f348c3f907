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
	f := found(code, "chmod go-rwx "+terminal.ShellWord(x.Path), "%s", x.Why)
	if filepath.Base(x.Path) == statefolder.SettingsFile {
		f.Detail = "another user may have read the token: get a new one from @BotFather with /revoke"
	}
	if !x.Closable {
		f.Summary, f.Fix = x.Sentence, ""
		return f
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
