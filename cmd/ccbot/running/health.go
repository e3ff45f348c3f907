package running

import (
	"context"
	"maps"
	"os"
	"slices"
	"time"

	"ccbot/agent/claude/claudesettings"
	"ccbot/bot/outbox"
	"ccbot/internal/gauge"
	"ccbot/internal/health"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/tmux"
)

// health returns ccbot's present figures. It queries only the disk: the other values are measured
// anyway.
func (s *system) health(ctx context.Context) health.Figures {
	now := time.Now()
	f := health.Figures{Version: s.version, Program: program(), Up: now.Sub(s.began), Sessions: make(map[string]int),
		Cards: s.cards.Undrawn(), Tmux: tmux.ServerVersion(s.tmux), TmuxSilent: tmux.Silence(s.tmux), Claude: s.claude.Known(),
		AgentVariables: slices.Sorted(maps.Keys(s.Agents))}
	if claudesettings.SupportOf(f.Claude) == claudesettings.TooOld {
		f.ClaudeNeeded = claudesettings.Oldest
	}
	f.Keys, f.Unread, f.Unreadable = s.KeysFault(), s.suspects.Unread(), s.bot.Answers.Unreadable()
	for state, n := range s.states() {
		f.Sessions[string(state)] = n
	}
	f.NotClean = f.Sessions[string(session.CleanupFailed)]
	entries, _ := s.inbox.List()
	f.Inbox = len(entries)
	g := outbox.GoingOf(s.outbox)
	f.Outbox, f.API = g.Waiting, health.API{Errors: g.Errors, Waits: g.Waits, Failing: g.Failing, Wait: g.Wait, Last: g.Last, LastAgo: now.Sub(g.LastAt)}
	ago, goesOn, failing := s.service.Pulse.State(now)
	f.Poll = health.Poll{Ago: ago, Stuck: !goesOn, Failing: failing, Rival: s.service.Pulse.Rival(), Unknown: s.service.Pulse.UnknownToken(), Wait: s.service.Pulse.Wait(now)}
	f.Watch, f.Unpinned = string(s.watch.Problem()), s.bot.Asking.Unpinned()
	f.Refused, f.RefusedGroups = s.refused.figures(s.bot.InGroup)
	f.Hook.Events, f.Hook.Slowest = s.events.Slowest()
	if room, err := gauge.Disk(ctx, s.Dir); err == nil {
		f.Disk = health.Disk{Known: true, Free: room.Free, Total: room.Total, Low: room.Low(), Own: gauge.Files(s.Dir)}
	}
	return f
}

// program returns the path of this program as the kernel names it.
func program() string {
	if path, err := os.Readlink("/proc/self/exe"); err == nil {
		return path
	}
	path, _ := os.Executable() // there is no /proc on darwin
	return path
}

// states counts the sessions in each state. States without sessions are counted as 0.
func (s *system) states() map[session.State]int {
	counts := make(map[session.State]int)
	for _, state := range session.States() {
		counts[state] = 0
	}
	for _, r := range s.store.Shared() {
		counts[r.State]++
	}
	return counts
}

// ended returns when the last session of a directory ended, and whether one is open.
func (s *system) ended(dir string) (at time.Time, open bool) {
	for _, r := range s.store.Shared() {
		if r.Dir != dir {
			continue
		}
		open = open || !r.State.HasEnded()
		if r.EndedAt.After(at) {
			at = r.EndedAt
		}
	}
	return at, open
}

// expectsChanges reports whether some session works or has a prompt that waits. It looks into
// memory only.
func (s *system) expectsChanges() bool {
	return slices.ContainsFunc(s.store.Shared(), func(r session.Record) bool {
		return r.State.Live() && (len(r.Prompts) > 0 || view.Noted(r).Works())
	})
}

// agentsMemory returns the memory of the live sessions' agents and their child processes, from one
// list of the processes.
func (s *system) agentsMemory(ctx context.Context) uint64 {
	table, err := s.table.Snapshot(ctx)
	if err != nil {
		return 0
	}
	var pids []int
	for _, r := range s.store.Shared() {
		if r.State.Live() && r.Binding != nil {
			pids = append(pids, view.Tree(table, r.Binding.Agent)...)
		}
	}
	return gauge.Sum(ctx, pids...)
}
