package running

import (
	"context"
	"maps"
	"os"
	"slices"
	"time"

	"ccbot/agent/claude/claudesettings"
	"ccbot/bot/outbox"
	"ccbot/cmd/ccbot/offline"
	"ccbot/internal/gauge"
	"ccbot/internal/health"
	"ccbot/internal/session"
	"ccbot/tmux"
)

// health returns ccbot's present figures. It queries only the disk: the other values are measured
// anyway.
func (s *system) health(ctx context.Context) health.Figures {
	now := time.Now()
	f := health.Figures{Version: s.version, Program: program(), Up: now.Sub(s.began), Sessions: make(map[string]int),
		Cards: s.cards.Undrawn(), Tmux: tmux.ServerVersion(s.Tmux), TmuxSilent: tmux.Silence(s.Tmux), Claude: s.Binary.Known(),
		AgentVariables: slices.Sorted(maps.Keys(s.Agents))}
	f.Instead = offline.InsteadOfClaude(s.Config)
	if claudesettings.SupportOf(f.Claude) == claudesettings.TooOld {
		f.ClaudeNeeded = claudesettings.Oldest
	}
	f.Words = s.Observer.Words()
	f.Keys, f.Unread, f.Unreadable = s.KeysFault(), s.Suspects.Unread(), s.bot.Answers.Unreadable()
	for state, n := range s.States() {
		f.Sessions[string(state)] = n
	}
	f.Machines, f.FleetFailed = s.fleet.faults()
	f.NotClean = f.Sessions[string(session.CleanupFailed)]
	entries, _ := s.inbox.List()
	f.Inbox = len(entries)
	g := outbox.GoingOf(s.outbox)
	f.Outbox, f.API = g.Waiting, health.API{Errors: g.Errors, Waits: g.Waits, Failing: g.Failing, Wait: g.Wait, Last: g.Last, LastAgo: now.Sub(g.LastAt)}
	ago, goesOn, failing := s.service.Pulse.State(now)
	f.Poll = health.Poll{Ago: ago, Stuck: !goesOn, Failing: failing, Rival: s.service.Pulse.Rival(), Unknown: s.service.Pulse.UnknownToken(), Wait: s.service.Pulse.Wait(now)}
	f.Watch, f.Unpinned = string(s.Watch.Problem()), s.bot.Asking.Unpinned()
	f.ShutGroups = s.bot.Shut.Groups()
	f.Refused, f.RefusedGroups = s.refused.figures(s.bot.InGroup)
	f.Hook.Events, f.Hook.Slowest = s.Events.Slowest()
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
