package uninstall

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ccbot/agent/claude/claudesettings"
	"ccbot/archive"
	"ccbot/bot/conversation"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/host/received"
	"ccbot/internal/ownfile"
	"ccbot/internal/spool"
	"ccbot/loop"
	"ccbot/recovery"
	"ccbot/tmux"
)

// look collects the world, and changes nothing.
func (u Uninstall) look(ctx context.Context) (w World, err error) {
	d, err := u.Open()
	if err != nil {
		return w, err
	}
	seen, _, err := d.Survey(ctx)
	if err != nil {
		return w, err
	}
	w = World{Dir: d.Dir, LinkTo: statefolder.LinkTo(d.Dir), TmuxSession: d.TmuxSession}
	w.Sessions, w.Doubts = unendedIn(seen)
	w.Bot, _ = statefolder.RunningBot(d.Dir, d.Table)
	shown, err := conversation.ReadCursors(filepath.Join(d.Dir, "chats"))
	if err != nil {
		return w, err
	}
	for _, r := range seen.Records {
		r = r.Clone()
		for _, at := range shown[r.ID] {
			r.Shown(at)
		}
		if !r.HandedOver() && archive.Unsaid(offline.Agents(d.Config), r) {
			w.Unsaid++
		}
	}
	for _, part := range []func() error{
		func() (err error) { w.Messages, err = countItems(d.Dir, "inbox"); return err },
		func() (err error) { w.Posts, err = countItems(d.Dir, "outbox"); return err },
		func() error { return w.findService(ctx, u) },
		func() error { w.findHooks(u.Settings, d.Dir); return nil },
		func() error { w.findTmux(seen, arguments(d)); return nil },
		func() error { return w.findInboxes(d.Dir, dirsOf(seen)) },
		func() error { return w.findWorktrees(d.Dir) },
		func() error { w.findCompletions(u.Completions); return nil },
		func() error { return w.findState(d) },
	} {
		if err := part(); err != nil {
			return w, err
		}
	}
	return w, nil
}

// other notes something that stays.
func (w *World) other(format string, args ...any) {
	w.Others = append(w.Others, fmt.Sprintf(format, args...))
}

// countItems counts the items of a queue that are not finished.
func countItems(dir, queue string) (n int, err error) {
	names, err := spool.Folder{Path: filepath.Join(dir, queue)}.List()
	for _, name := range names {
		if filepath.Ext(name) == ".json" {
			n++
		}
	}
	return n, statefolder.Error(dir, err)
}

// findService finds the service of this folder: a user has one service, which may be for another
// folder.
func (w *World) findService(ctx context.Context, u Uninstall) error {
	s, err := u.Service.State(ctx)
	if err != nil || !s.Installed {
		return err
	}
	if s.StateDir != u.Service.Program.StateDir {
		w.other("the service %s, which is for another state folder", terminal.Printable(s.File))
		return nil
	}
	w.Unit = s.File
	return nil
}

// findHooks finds the hooks of this folder.
func (w *World) findHooks(file claudesettings.SettingsFile, dir string) {
	w.HooksFile = file.Path
	data, err := file.Read()
	if err == nil && !bytes.Contains(data, []byte("ccbot-hook")) {
		return // it need not be one that can be edited
	}
	var found claudesettings.Installed
	if err == nil {
		found, err = claudesettings.Inspect(data, "")
	}
	if err == nil {
		err = file.Writable()
	}
	if err != nil {
		w.HooksErr = terminal.Plain(err)
	}
	elsewhere := ""
	for _, e := range found.Events {
		for _, command := range e.Commands {
			if at := claudesettings.StateDir(command); at != "" && at != dir {
				elsewhere = at
			} else if !slices.Contains(w.Hooks, e.Event) {
				w.Hooks = append(w.Hooks, e.Event)
			}
		}
	}
	switch {
	case elsewhere == "":
	case len(w.Hooks) > 0:
		w.HooksErr = fmt.Sprintf("the file also has hooks for the state folder %s; `ccbot hooks uninstall` removes all", terminal.Printable(elsewhere))
	default:
		w.HooksErr = ""
		w.other("hooks in %s, which are for the state folder %s", terminal.Printable(file.Path), terminal.Printable(elsewhere))
	}
}

// arguments returns the arguments of a process, none if they cannot be read.
func arguments(d offline.View) func(pid int) []string {
	return func(pid int) []string {
		p, _ := d.Table.Inspect(pid)
		return p.Args
	}
}

// findTmux finds the panes that ccbot has made for no session. A tmux session that another ccbot
// also uses keeps them.
func (w *World) findTmux(seen recovery.World, args func(pid int) []string) {
	if seen.Instance == "" {
		return
	}
	shared := false
	for _, p := range seen.Panes {
		switch instance := tmux.ControlledBy(p.Session); {
		case instance == seen.Instance:
			w.Control = p.Session
		case instance != "", p.Session == seen.Session && p.Tag != "" && !strings.HasPrefix(p.Tag, seen.Instance+"/"):
			shared = true
		case p.Session == seen.Session && tmux.IsSleeper(p, args(p.PID)):
			w.Sleepers = append(w.Sleepers, p)
		}
	}
	if shared && len(w.Sleepers) > 0 {
		w.Sleepers = nil
		w.other("the tmux session %s, which another ccbot also uses", terminal.Printable(seen.Session))
	}
	for _, p := range seen.Orphans() {
		w.other("window %s (%s) of the tmux session %s, which belongs to no session", p.Window, terminal.Printable(p.WindowName),
			terminal.Printable(seen.Session))
	}
}

// dirsOf are the directories of all sessions.
func dirsOf(seen recovery.World) (dirs []string) {
	for _, r := range seen.Records {
		dirs = append(dirs, r.Dir)
	}
	return dirs
}

func (w *World) findInboxes(dir string, dirs []string) (err error) {
	w.Boxes, err = received.Boxes(filepath.Join(dir, "received"), dirs)
	for _, b := range w.Boxes {
		for _, name := range b.Others {
			w.other("%s, which is not as ccbot wrote it, or not on record", terminal.Printable(filepath.Join(b.Dir, received.Folder, name)))
		}
	}
	return err
}

// findWorktrees finds the worktrees of loops, which have a person's work.
func (w *World) findWorktrees(dir string) error {
	all, err := loop.Read(offline.Loops(dir), slog.New(slog.DiscardHandler))
	for _, l := range all {
		if l.Worktree == nil || l.Worktree.Dir == "" || l.Worktree.Removed {
			continue
		}
		if _, missing := os.Lstat(l.Worktree.Dir); missing == nil {
			w.other("the git worktree %s, which a loop has made", terminal.Printable(l.Worktree.Dir))
		}
	}
	return statefolder.Error(dir, err)
}

// Completion is a file that completes ccbot's verbs in a shell, as this program prints it.
type Completion struct{ Path, Text string }

// isOwn reports whether the file has exactly that text, and is this user's. there: it exists.
func (c Completion) isOwn() (own, there bool) {
	data, err := ownfile.Read(c.Path, int64(len(c.Text))+1, 0)
	return err == nil && string(data) == c.Text, !errors.Is(err, fs.ErrNotExist)
}

func (w *World) findCompletions(all []Completion) {
	for _, c := range all {
		switch own, there := c.isOwn(); {
		case own:
			w.Completions = append(w.Completions, terminal.Printable(c.Path))
		case there:
			w.other("%s, which is not what `ccbot completion` prints", terminal.Printable(c.Path))
		}
	}
}

func (w *World) findState(d offline.View) (err error) {
	if w.Known, w.Unknown, err = statefolder.Contents(d.Dir); err != nil {
		return err
	}
	for _, name := range w.Unknown {
		w.other("%s, which is not ccbot's", terminal.Printable(filepath.Join(d.Dir, name)))
	}
	if folder, err := filepath.EvalSymlinks(d.Dir); err == nil && filepath.Dir(d.File) != folder && filepath.Dir(d.File) != d.Dir {
		if _, err := os.Lstat(d.File); err == nil {
			w.other("the settings file %s, which is in another folder", terminal.Printable(d.File))
		}
	}
	return nil
}
