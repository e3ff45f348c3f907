package offline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/agent/claude"
	"ccbot/agent/claude/claudesettings"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/environment"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/hooks"
	"ccbot/host"
	"ccbot/internal/each"
	"ccbot/internal/git"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/spool"
	"ccbot/internal/suspect"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/view"
	"ccbot/loop"
	"ccbot/recovery"
	"ccbot/tmux"
)

// Survey looks at all that a recovery looks at. seen is its look at tmux.
func (v View) Survey(ctx context.Context) (w recovery.World, seen TmuxState, err error) {
	seen, sources, err := v.Inspect(ctx)
	if err != nil {
		return w, seen, err
	}
	_, since := statefolder.RunningBot(v.Dir, v.Table)
	observer := Observer(v.Config, seen, v.Table, v.log)
	observer.Unread = func() []string { return suspect.Read(filepath.Join(v.Dir, suspect.Name), v.Table.Self().Boot) }
	looking := recovery.Recovery{Unread: observer.IsUnread, Instance: sources.Instance, Session: v.TmuxSession, Dir: v.Dir, Limits: v.Limits(), Since: since,
		Store: v.Store, Tmux: seen, Processes: v.Table, Evidence: sources, Now: time.Now, Log: v.log}
	return looking.Collect(ctx), seen, nil
}

// Inspect looks at tmux once, and collects everything else that a plan reads.
func (v View) Inspect(ctx context.Context) (seen TmuxState, sources *evidence.Sources, err error) {
	// empty before the first start: then no window belongs to this ccbot
	instance, err := statefolder.ReadInstance(v.Dir)
	if err != nil {
		return TmuxState{}, nil, statefolder.Error(v.Dir, err)
	}
	seen = v.Tmux(ctx)
	return seen, Sources(v.Config, instance, v.Store, v.Table, seen.Panes, v.log), nil
}

// Tmux looks at tmux once.
func (v View) Tmux(ctx context.Context) (seen TmuxState) {
	seen.server, seen.All, seen.Err = tmux.Inspect(ctx, tmux.Config{Socket: v.TmuxSocket, Session: v.TmuxSession,
		Env: environment.Server(v.environ), Log: v.log, Start: StartOf(v.Table)})
	return seen
}

// TmuxState is one snapshot of tmux.
type TmuxState struct {
	server tmux.ServerID
	All    []tmux.Pane
	Err    error // of the snapshot
}

// Server returns the server of the snapshot.
func (s TmuxState) Server(context.Context) (tmux.ServerID, error) { return s.server, s.Err }

// Panes lists the panes of the tmux server.
func (s TmuxState) Panes(context.Context) ([]tmux.Pane, error) { return s.All, s.Err }

// Pane is one pane of that server.
func (s TmuxState) Pane(_ context.Context, id tmux.PaneID) (tmux.Pane, error) {
	for _, pane := range s.All {
		if pane.ID == id {
			return pane, s.Err
		}
	}
	return tmux.Pane{}, cmp.Or(s.Err, fmt.Errorf("%w: %s", tmux.ErrNoPane, id))
}

// Sources are the sources that show which process writes which conversation.
func Sources(c config.Config, instance string, store *session.Store, table *process.Table, panes func(context.Context) ([]tmux.Pane, error),
	log *slog.Logger) *evidence.Sources {
	return &evidence.Sources{Instance: instance, Agents: readers(c), Records: store, Processes: table,
		Panes: panes, Log: log,
		Bindings: func() ([]hookwire.Binding, []error) { return hooks.Bindings(c.Dir) }}
}

// readers returns the agents without the parts that change something.
func readers(c config.Config) agent.Agents {
	all := Agents(c)
	for name, one := range all {
		one.Keeper, one.Delivery, one.Requests = nil, nil, nil
		all[name] = one
	}
	return all
}

// Agents holds the coding agents that ccbot knows. It starts none of them.
func Agents(c config.Config) agent.Agents { return AgentsToStart(c, nil) }

// AgentsToStart is Agents with the settings of launches, whose hook is the program of its argument.
func AgentsToStart(c config.Config, hook *Hook) agent.Agents {
	launch := agent.Launch{Command: c.ClaudeCommand(), Flags: c.Flags, PermissionMode: c.PermissionMode}
	one := claude.New(c.ProjectsDir(), launch, c.ClaudeKeys().Box)
	if hook != nil {
		one.Settings = claude.Settings{Launch: claudesettings.Launch{Dir: c.Dir, HookBinary: hook.Path, Mode: c.PermissionMode, ConfigDir: c.ClaudeDir, Digests: &hook.Digests}}
	}
	all := agent.Agents{agent.Default: one}
	if runtime.GOOS == "linux" { // only there the locks of conversations have holders
		all["codex"] = codexOf(c)
	}
	standIn(c, all)
	return all
}

// AgentCommands returns the commands of all agents, by the agents' names.
func AgentCommands(c config.Config) []string {
	all := Agents(c)
	names := slices.Sorted(maps.Keys(all))
	return each.As(names, func(name string) string { return all[name].Launch.Command })
}

// InsteadOfClaude returns the product that each session uses because Claude Code is not installed.
// It is empty if Claude Code is installed, a setting names it, or there is no other agent.
func InsteadOfClaude(c config.Config) string {
	if _, err := agent.Program(c.ClaudeCommand()); err == nil || c.Claude != "claude" {
		return ""
	}
	all := Agents(c)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if _, err := agent.Program(all[name].Launch.Command); err == nil {
			return all[name].Product
		}
	}
	return ""
}

// Hook is ccbot-hook, with its digest.
type Hook struct {
	Path    string // absolute
	Digests process.Digests
}

// AgentNames are the names that a record may have of its agent.
func AgentNames(c config.Config) []string { return slices.Collect(maps.Keys(Agents(c))) }

// RefuseAgents returns an error below an agent, or below a loop's check in the folder dir, as the
// socket does.
func RefuseAgents(ctx context.Context, dir string, sources *evidence.Sources) error {
	line := sources.Line(sources.Processes.Self().PID)
	above, err := sources.AgentAbove(ctx, line)
	loops, unread := loop.Read(Loops(dir), slog.New(slog.DiscardHandler))
	if err := errors.Join(err, unread); err != nil {
		return fmt.Errorf("look who has started this program: %w", err)
	}
	isBelow := func(l loop.Loop) bool {
		return slices.ContainsFunc(line, func(p process.Process) bool { return slices.Contains(l.Processes, p.Identity) })
	}
	switch {
	case above.Found:
		return errors.New("an agent may not do this")
	case slices.ContainsFunc(loops, isBelow):
		return errors.New("a check of a loop may not do this")
	}
	return nil
}

// Observer looks at single sessions. It sees no screen.
func Observer(c config.Config, panes view.PaneReader, table *process.Table, log *slog.Logger) *view.Observer {
	return &view.Observer{Panes: panes, Processes: table, Agents: readers(c),
		Rows:   func(id uuid.UUID) []string { return hooks.StatusRows(c.Dir, id) },
		Status: func(id uuid.UUID) (hookwire.Status, error) { return hooks.Status(c.Dir, id) }, Now: time.Now, Log: log}
}

// Terminals look at what agents do, in the picture of tmux.
func (v View) Terminals(seen TmuxState) host.Terminals {
	return host.Terminals{Agents: Agents(v.Config), Observer: Observer(v.Config, seen, v.Table, v.log), Records: v.Store}
}

// Git runs git without secrets: a program that the repository starts must not get what agents
// must not get.
func Git(environ []string) func(context.Context, string, string) (*git.State, *git.Changes, error) {
	return func(ctx context.Context, dir, since string) (*git.State, *git.Changes, error) {
		return git.Compare(ctx, dir, environment.Server(environ), since)
	}
}

// PurgedLoops is the folder of the copies of removed loops.
func PurgedLoops(dir string) spool.Folder {
	return spool.Folder{Path: filepath.Join(dir, "backups", "purged"), Fsync: true}
}

// Loops is the folder of the loops.
func Loops(dir string) string { return filepath.Join(dir, "loops") }

// LoopTemplates is the folder of a person's own templates of loops.
func LoopTemplates(dir string) string { return filepath.Join(dir, "templates") }

// Schedules is the folder of the schedules.
func Schedules(dir string) string { return filepath.Join(dir, "schedules") }

// Moments are the remembered work trees of sessions.
func Moments(dir string) host.Moments { return host.Moments{Dir: filepath.Join(dir, "changes")} }

// Diffs are the changes of sessions, which git tells without secrets, as in Git. Git may write into
// the folder work.
func Diffs(c config.Config, records host.Records, environ []string, work string) host.Diffs {
	return host.Diffs{Records: records, Roots: c.RootFolders, Moments: Moments(c.Dir), Own: Own(c),
		Open: func(ctx context.Context, dir string, files git.Files) (*git.Tree, error) {
			return git.OpenTree(ctx, dir, files, environment.Server(environ), work)
		}}
}

// Own names ccbot's own files. The file of settings may name another CCBOT_DIR than its folder.
func Own(c config.Config) host.Own { return host.Own{Dir: c.Dir, Settings: c.File} }

// Backups are the copies of the records that a recovery makes.
func Backups(dir string) recovery.Backups {
	return recovery.Backups{Dir: filepath.Join(dir, "backups"), Sessions: filepath.Join(dir, "sessions"), Now: time.Now}
}

// Claude is the Claude Code that launches start. It gets no secret, not even its own, when it is
// run for its version.
func Claude(c config.Config, environ []string, log *slog.Logger) *claudesettings.Binary {
	env := append(environment.Server(environ), "DISABLE_AUTOUPDATER=1")
	if c.ClaudeSet != "" {
		env = append(env, "CLAUDE_CONFIG_DIR="+c.ClaudeSet)
	}
	return &claudesettings.Binary{Command: c.ClaudeCommand(), Env: env, Log: log, Stale: make(chan struct{}, 1)}
}

// StartOf returns the start time of a process. It distinguishes a tmux server from a later one with
// the same pid.
func StartOf(table *process.Table) func(int) (uint64, error) {
	return func(pid int) (uint64, error) {
		id, err := table.Identify(pid)
		return id.Start, err
	}
}

// TmuxMayCrash says how a tmux of a version can take all agents with it; empty: that is mended there.
func TmuxMayCrash(version string) string {
	if !tmux.MayCrash(version) {
		return ""
	}
	return "a server older than " + tmux.CrashFixed + " can crash, with all agents in it, if another program makes or ends a tmux session in the moment in which ccbot connects"
}

// TmuxError adds the remedy to an error of tmux.
func TmuxError(c config.Config, err error) error {
	switch {
	case errors.Is(err, tmux.ErrNoTmux), errors.Is(err, tmux.ErrTooOld):
		return exit.Usage(fmt.Errorf("%w; on Debian or Ubuntu: sudo apt-get install tmux", err))
	case errors.Is(err, tmux.ErrFolder), !errors.Is(err, tmux.ErrNotSent) && !errors.Is(err, tmux.ErrLost) && !errors.Is(err, context.DeadlineExceeded):
		return err
	}
	server := "the default server, CCBOT_TMUX_SOCKET is not set"
	if c.TmuxSocket != "" {
		server = "server -L " + c.TmuxSocket
	}
	return fmt.Errorf("tmux does not answer (%s). Look with `%s ls`; where that hangs too, a client or the server does: "+
		"`ps -ef | grep tmux` shows them. ccbot ends neither: end a client that hangs by hand, then start again; "+
		"ending the server ends its sessions: %w", server, c.TmuxCommand(), err)
}
