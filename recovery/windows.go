package recovery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"ccbot/internal/keepjson"
	"ccbot/internal/logkey"
	"ccbot/internal/spool"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// windowsFile is the name of a file in $CCBOT_DIR.
const windowsFile = "windows.json"

// windowsVersion is the schema version of windows.json.
const windowsVersion = 1

// windowList is the content of windows.json: the orphan windows that were reported to the chat, or
// that a person does not want to be informed of. If the file is lost, some reports come twice.
type windowList struct {
	Version int           `json:"version"`
	Windows []knownWindow `json:"windows"`

	unknown keepjson.Unknown
}

// knownWindow is one life of a window: the next tmux server uses the same id again, and the first
// pane of the window may get another process.
type knownWindow struct {
	ServerPID   int    `json:"server_pid"`
	ServerStart uint64 `json:"server_start"`
	Window      string `json:"window"`
	PanePID     int    `json:"pane_pid"`
	Reported    bool   `json:"reported,omitempty"`
	Ignored     bool   `json:"ignored,omitempty"`
}

// same reports whether this is the window of the pane, in the same life.
func (k knownWindow) same(server tmux.ServerID, pane tmux.Pane) bool {
	return k.ServerPID == server.PID && k.ServerStart == server.Start && k.Window == pane.Window.String() && k.PanePID == pane.PID
}

// Orphans returns the windows that belong to no session and that no person ignores, with the
// processes that run in them.
func (v *Recovery) Orphans(ctx context.Context) ([]evidence.Window, error) {
	w := v.windowWorld(ctx)
	if w.Tmux == TmuxUnknown {
		return nil, errors.New("orphan windows: tmux did not answer")
	}
	orphans := w.Orphans()
	if len(orphans) == 0 {
		return nil, nil
	}
	return v.Evidence.Windows(ctx, slices.DeleteFunc(tmux.OldestFirst(w.Panes), func(p tmux.Pane) bool {
		return !slices.ContainsFunc(orphans, func(o tmux.Pane) bool { return o.Window == p.Window })
	}))
}

// Ignore leaves a window out of Orphans and out of the log, as long as the window lives.
func (v *Recovery) Ignore(ctx context.Context, w evidence.Window) error {
	return v.know(ctx, []evidence.Window{w}, func(k *knownWindow) { k.Ignored = true })
}

// NewOrphans returns the windows that were not reported to the chat yet.
func (v *Recovery) NewOrphans(ctx context.Context, windows []evidence.Window) ([]evidence.Window, error) {
	server, err := v.Tmux.Server(ctx)
	if err != nil {
		return nil, fmt.Errorf("new orphan windows: %w", err)
	}
	list, err := v.readWindows()
	if errors.Is(err, errUnread) {
		return nil, fmt.Errorf("new orphan windows: %w", err)
	} // with a damaged list no window counts as reported
	reported := func(w evidence.Window) bool {
		return slices.ContainsFunc(list.Windows, func(k knownWindow) bool { return k.Reported && k.same(server, w.Pane) })
	}
	return slices.DeleteFunc(slices.Clone(windows), reported), nil
}

// MarkReported records that the windows were reported to the chat.
func (v *Recovery) MarkReported(ctx context.Context, windows []evidence.Window) error {
	return v.know(ctx, windows, func(k *knownWindow) { k.Reported = true })
}

// ignored returns the windows that a person ignores.
func (v *Recovery) ignored(server tmux.ServerID, panes []tmux.Pane) map[tmux.WindowID]bool {
	list, err := v.readWindows()
	if err != nil {
		v.Log.Warn("windows_unreadable", logkey.File, windowsFile, logkey.Error, err)
	}
	ignored := make(map[tmux.WindowID]bool)
	for _, p := range (World{Panes: panes}).firstPanes() {
		if slices.ContainsFunc(list.Windows, func(k knownWindow) bool { return k.Ignored && k.same(server, p) }) {
			ignored[p.Window] = true
		}
	}
	return ignored
}

// know notes something about windows, and forgets the windows that are no longer there.
func (v *Recovery) know(ctx context.Context, windows []evidence.Window, note func(*knownWindow)) error {
	server, panes, err := v.panes(ctx)
	if err != nil {
		return fmt.Errorf("note windows: %w", err)
	}
	v.file.Lock()
	defer v.file.Unlock()
	list, err := v.readWindows()
	if err != nil && !errors.Is(err, errUnread) {
		list, err = windowList{}, v.folder().Quarantine(windowsFile, filepath.Join(v.Dir, "quarantine"), err.Error())
	}
	if err != nil {
		return fmt.Errorf("note windows: %w", err)
	}
	list.Windows = slices.DeleteFunc(list.Windows, func(k knownWindow) bool {
		return !slices.ContainsFunc(panes, func(p tmux.Pane) bool { return k.same(server, p) })
	})
	for _, w := range windows {
		i := slices.IndexFunc(list.Windows, func(k knownWindow) bool { return k.same(server, w.Pane) })
		if i < 0 {
			i = len(list.Windows)
			list.Windows = append(list.Windows, knownWindow{ServerPID: server.PID, ServerStart: server.Start, Window: w.Pane.Window.String(), PanePID: w.Pane.PID})
		}
		note(&list.Windows[i])
	}
	list.Version = windowsVersion
	data, err := keepjson.Marshal(list, list.unknown)
	if err != nil {
		return fmt.Errorf("note windows: %w", err)
	}
	return v.folder().Put(windowsFile, append(data, '\n'))
}

func (v *Recovery) folder() spool.Folder { return spool.Folder{Path: v.Dir, Fsync: true} }

// errUnread is returned if the list of windows cannot be read now.
var errUnread = errors.New("the list of windows cannot be read")

func (v *Recovery) readWindows() (list windowList, err error) {
	data, err := v.folder().Read(windowsFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return windowList{}, nil
	case spool.MayPass(err):
		return windowList{}, fmt.Errorf("%w: %w", errUnread, err)
	}
	if err == nil {
		list.unknown, err = keepjson.Unmarshal(data, windowsVersion, &list)
	}
	if err != nil {
		return windowList{}, err
	}
	return list, nil
}
