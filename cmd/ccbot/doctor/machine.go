package doctor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"ccbot/cmd/ccbot/metrics"
	"ccbot/cmd/ccbot/statefolder"
)

// machine looks at what every program of this user has.
func machine(_ context.Context, w *World) []Finding {
	all := []Finding{good("system", "%s/%s, ccbot %s", runtime.GOOS, runtime.GOARCH, w.Version)}
	locale := cmp.Or(w.vars["LC_ALL"], w.vars["LC_CTYPE"], w.vars["LANG"])
	if name := strings.ReplaceAll(strings.ToLower(locale), "-", ""); strings.Contains(name, "utf8") {
		all = append(all, good("locale", "%s", locale))
	} else {
		all = append(all, found("locale_not_utf8", "export LANG=C.UTF-8", "the locale is not one of UTF-8: %s", cmp.Or(locale, "none is set")))
	}
	if _, err := exec.LookPath("git"); err != nil {
		all = append(all, found("git_missing", "", "there is no git on PATH: /changes and worktrees do not work"))
	}
	return append(append(all, path(w)...), inotify(w, canWatch))
}

// path checks the folders in which programs are searched for.
func path(w *World) (all []Finding) {
	foreign, err := statefolder.ForeignFolders(w.vars["PATH"])
	if err != nil {
		return []Finding{unseen("path", err)}
	}
	for _, f := range foreign {
		all = append(all, found("path_writable", "take it out of PATH", "another user can put a program into %q, which is in PATH: %s", f.Folder, f.Why))
	}
	if len(all) == 0 {
		all = append(all, good("path", "no other user can write its folders"))
	}
	return all
}

// The kernel's own values; a desktop uses up more than half of them.
const (
	leastInstances = 128
	leastWatches   = 8192
)

// inotify checks how ccbot sees that transcripts grow. canWatch reports whether one more instance
// can be had.
func inotify(w *World, canWatch func() bool) Finding {
	read := func(name string) int {
		data, _ := os.ReadFile(filepath.Join(w.proc, "sys", "fs", "inotify", name))
		n, _ := strconv.Atoi(strings.TrimSpace(string(data)))
		return n
	}
	instances, watches := read("max_user_instances"), read("max_user_watches")
	switch {
	case instances == 0 && watches == 0:
		return skipped("inotify", "this system has no such limits")
	case instances < leastInstances:
		return found("inotify_low", "sudo sysctl fs.inotify.max_user_instances=512", "inotify: %d instances for each user, fewer than %d", instances, leastInstances)
	case watches < leastWatches:
		return found("inotify_low", "sudo sysctl fs.inotify.max_user_watches=65536", "inotify: %d watches for each user, fewer than %d", watches, leastWatches)
	}
	if !canWatch() {
		return found("inotify_used_up", "", "inotify: all %d instances of this user are in use", instances)
	}
	return good("inotify", "%d instances, %d watches", instances, watches)
}

func settings(ctx context.Context, w *World) (all []Finding) {
	switch {
	case w.wrong != nil:
		fix := ""
		if strings.Contains(w.wrong.Error(), "`") {
			fix = inSummary
		}
		return []Finding{found("settings_wrong", fix, "%v", w.wrong)}
	case w.partial != nil && w.pid != 0:
		all = append(all, found("settings_partial", "", "the bot has settings that this shell does not have: %v", w.partial))
	case w.partial != nil:
		all = append(all, found("settings_wrong", "ccbot setup, or correct it in the environment or in "+w.File, "%v", w.partial))
	}
	for _, name := range slices.Sorted(maps.Keys(w.Unknown)) {
		fix := "remove it from " + w.File
		if near := w.Unknown[name]; near != "" {
			fix = fmt.Sprintf("write %s in its place in %s", near, w.File)
		}
		all = append(all, found("setting_unknown", fix, "%s is no setting", name))
	}
	if voice := w.VoiceCommand(); voice != "" {
		if _, err := exec.LookPath(voice); err != nil {
			all = append(all, found("voice_missing", "set VOICE_COMMAND to a command that is there", "VOICE_COMMAND: there is no program %s", voice))
		}
	}
	if w.partial == nil && w.pid == 0 && w.MetricsAddr != "" { // a bot that runs has opened it
		if l, err := metrics.Open(ctx, w.MetricsAddr); err != nil {
			all = append(all, found("metrics_refused", metrics.Remedy(err), "%v", err))
		} else {
			_ = l.Close()
		}
	}
	all = append(all, certificates(w)...)
	if len(all) == 0 {
		all = append(all, good("settings", "all can be used; `ccbot config` shows them"))
	}
	return all
}
