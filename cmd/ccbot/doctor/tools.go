package doctor

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"ccbot/agent/claude/claudesettings"
	"ccbot/cmd/ccbot/environment"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/each"
	"ccbot/recovery"
	"ccbot/tmux"
)

// errNoSettings is the reason why something is not checked whose place or token is a setting.
var errNoSettings = errors.New("the settings are wrong, and it depends on them")

const installTmux = "sudo apt-get install tmux"

// terminals looks at tmux, and at the windows in it.
func terminals(_ context.Context, w *World) (all []Finding) {
	version, old := tmux.Installed(environment.Server(w.environ))
	for _, err := range []error{old, w.picture.Err} {
		switch {
		case errors.Is(err, tmux.ErrFolder):
			return []Finding{found("tmux_folder", "", "%v", err)}
		case err == nil, errors.Is(err, tmux.ErrNoServer):
		case errors.Is(err, tmux.ErrNoTmux):
			return []Finding{found("tmux_missing", installTmux, "there is no tmux on PATH")}
		case errors.Is(err, tmux.ErrTooOld):
			return []Finding{found("tmux_too_old", installTmux+"; a running server uses the old one until it ends", "%v", err)}
		default:
			return []Finding{found("tmux_silent", "", "tmux does not answer: %v", err)}
		}
	}
	if w.blind != nil {
		return []Finding{unseen("tmux", w.blind)}
	}
	due, orphans := w.planned()
	if n := len(orphans); n > 0 {
		f := found("orphan_windows", "send /list to the bot: it can connect or hide them", "%s without a session", terminal.Several(n, "window"))
		f.Detail = terminal.Some(orphans, maxNames)
		all = append(all, f)
	}
	if due > 0 && w.pid == 0 {
		all = append(all, found("recovery_due", "ccbot recover --dry-run", "the next start makes %s right", terminal.Several(due, "session")))
	}
	if len(all) > 0 {
		return all
	}
	return []Finding{goodTmux(version, w.picture.Err == nil)}
}

// goodTmux is the finding about a tmux that works.
func goodTmux(version string, answers bool) Finding {
	f := good("tmux", "%s is installed, and no server runs", version)
	if answers {
		f = good("tmux", "%s is installed, and the server answers", version)
	}
	f.Detail = offline.TmuxMayCrash(version)
	return f
}

// planned returns the number of sessions that a start would change, and the windows that belong to
// none.
func (w *World) planned() (due int, orphans []string) {
	actions, notices := recovery.Plan(w.seen)
	for _, a := range actions {
		if a.Do.Changes() {
			due++
		}
	}
	for _, n := range notices {
		if n.Kind == recovery.OrphanWindow {
			orphans = append(orphans, n.Pane.Window.String()+" "+n.Pane.WindowName)
		}
	}
	return due, orphans
}

// claude asks Claude Code for its version, and looks for a login.
func claude(ctx context.Context, w *World) []Finding {
	if w.wrong != nil {
		return []Finding{unseen("claude", errNoSettings)}
	}
	b := offline.Claude(w.Config, w.environ, w.QuietLog(io.Discard))
	if _, err := exec.LookPath(b.Command); err != nil {
		return []Finding{w.withoutClaude(ctx, b.Command)}
	}
	if w.running != nil && w.running.ClaudeNeeded != "" { // a finding of the bot already
		return []Finding{login(w)}
	}
	return []Finding{claudeVersion(ctx, b), login(w)}
}

// isOld reports whether Claude Code is too old, or does not tell its version.
func (w *World) isOld(ctx context.Context) bool {
	support := claudesettings.SupportOf(offline.Claude(w.Config, w.environ, w.QuietLog(io.Discard)).Version(ctx))
	return support != claudesettings.Supported && support != claudesettings.Untested
}

// claudeVersion compares the version of Claude Code with those that ccbot knows.
func claudeVersion(ctx context.Context, b *claudesettings.Binary) Finding {
	version := b.Version(ctx)
	switch claudesettings.SupportOf(version) {
	case claudesettings.TooOld:
		return found("claude_old", "", "%s is older than %s, the oldest version that works with ccbot", version, claudesettings.Oldest)
	case claudesettings.Untested:
		f := good("claude", "%s", version)
		f.Detail = "newer than " + claudesettings.Tested + ", the newest version that ccbot's tests have run"
		return f
	case claudesettings.Supported:
		return good("claude", "%s", version)
	}
	return found("claude_silent", b.Command+" --version", "%s does not tell its version", b.Command)
}

// hook looks at ccbot's hooks. Those in Claude Code's own settings need not be installed.
func hook(_ context.Context, w *World) []Finding {
	if w.Hook.Err != nil {
		return []Finding{found("hook_missing", "copy ccbot-hook next to ccbot", "%v", w.Hook.Err)}
	}
	if w.wrong != nil {
		return []Finding{unseen("hooks", errNoSettings)}
	}
	data, err := w.Hook.Settings.Read()
	var in claudesettings.Installed
	if err == nil {
		in, err = claudesettings.Inspect(data, w.Hook.Command)
	}
	if err != nil {
		return []Finding{found("hooks_unreadable", "mend the file", "%s: %v", w.Hook.Settings.Path, err)}
	}
	installed := slices.ContainsFunc(in.Events, func(e claudesettings.EventState) bool { return e.State != claudesettings.InstallMissing })
	switch {
	case in.HooksOff:
		return []Finding{found("hooks_off", "remove disableAllHooks from "+w.Hook.Settings.Path, "%s switches all hooks off", w.Hook.Settings.Path)}
	case !installed:
		return []Finding{skipped("hooks", "none are installed: they only make sessions of Claude Code known that you start by hand")}
	case in.Complete():
		return []Finding{good("hooks", "installed for %s", terminal.Several(len(in.Events), "event"))}
	}
	detail := each.As(in.Events, func(e claudesettings.EventState) string { return e.Event + ": " + string(e.State) })
	f := found("hooks_incomplete", "ccbot hooks install", "not all hooks are as they should be")
	if old, other := w.elsewhere(in); other {
		f = found("hooks_elsewhere", "ccbot hooks install", "the installed hooks run %s", old)
	}
	f.Detail = strings.Join(detail, "\n")
	return []Finding{f}
}

// elsewhere returns the hook that all outdated entries run, if it is a hook of an earlier place and
// of this folder.
func (w *World) elsewhere(in claudesettings.Installed) (old string, is bool) {
	_, rest, _ := strings.Cut(w.Hook.Command, " --dir ")
	for _, e := range in.Events {
		if e.State == claudesettings.InstallCurrent {
			continue
		}
		if e.State != claudesettings.InstallOther || len(e.Commands) != 1 {
			return "", false
		}
		path, ours := strings.CutSuffix(e.Commands[0], " --dir "+rest)
		path = strings.Trim(path, "'")
		if !ours || !filepath.IsAbs(path) || old != "" && old != path {
			return "", false
		}
		old = path
	}
	return old, old != ""
}
