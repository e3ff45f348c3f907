package running

import (
	"cmp"
	"context"
	"maps"
	"os"
	"slices"
	"time"

	"ccbot/agent"
	"ccbot/agent/claude/claudesettings"
	"ccbot/bot/outbox"
	"ccbot/cmd/ccbot/engine"
	"ccbot/cmd/ccbot/offline"
	"ccbot/fleet/member"
	"ccbot/internal/gauge"
	"ccbot/internal/health"
	"ccbot/internal/session"
	"ccbot/tmux"
)

// ofMachine returns the present figures of a machine, with or without a chat. It queries only the
// disk: the other values are measured anyway.
func ofMachine(ctx context.Context, e *engine.Engine, version string, began time.Time) health.Figures {
	f := health.Figures{Version: version, Program: program(), Up: time.Since(began), Sessions: make(map[string]int),
		Tmux: tmux.ServerVersion(e.Tmux), TmuxSilent: tmux.Silence(e.Tmux), Claude: e.Binary.Known(),
		AgentVariables: slices.Sorted(maps.Keys(e.Agents))}
	f.Instead = offline.InsteadOfClaude(e.Config)
	if claudesettings.SupportOf(f.Claude) == claudesettings.TooOld {
		f.ClaudeNeeded = claudesettings.Oldest
	}
	if _, err := agent.Program(e.ClaudeCommand()); err != nil && (f.Instead == "" || f.Claude != "") {
		f.ClaudeMissing = e.ClaudeCommand() // another agent takes its place only if it was never there
	}
	f.HooksShutBy, f.Words = e.HooksShutBy(), e.Observer.Words()
	f.Keys, f.Unread = e.KeysFault(), e.Suspects.Unread()
	for state, n := range e.States() {
		f.Sessions[string(state)] = n
	}
	for _, r := range e.Store.Shared() {
		if r.State == session.Running && e.Observer.IsSilent(r.ID) {
			f.Silent++
		}
	}
	f.NotClean = f.Sessions[string(session.CleanupFailed)]
	f.Watch = string(e.Watch.Problem())
	f.Hook.Events, f.Hook.Slowest = e.Events.Slowest()
	if room, err := gauge.Disk(ctx, e.Dir); err == nil {
		f.Disk = health.Disk{Known: true, Free: room.Free, Total: room.Total, Low: room.Low(), Own: gauge.Files(e.Dir)}
	}
	return f
}

// health returns the present figures of a ccbot with its chat.
func (s *system) health(ctx context.Context) health.Figures {
	now := time.Now()
	f := ofMachine(ctx, s.Engine, s.version, s.began)
	f.Cards, f.Unreadable = s.cards.Undrawn(), s.bot.Answers.Unreadable()
	f.Machines, f.FleetFailed = s.fleet.faults()
	f.HubSilent = s.fleet.silence(s.began, now)
	entries, _ := s.inbox.List()
	f.Inbox = len(entries)
	g := outbox.GoingOf(s.outbox)
	f.Outbox, f.API = g.Waiting, health.API{Errors: g.Errors, Waits: g.Waits, Failing: g.Failing, Wait: g.Wait, Last: g.Last, LastAgo: now.Sub(g.LastAt)}
	ago, goesOn, failing := s.service.Pulse.State(now)
	f.Poll = health.Poll{Ago: ago, Stuck: !goesOn, Failing: failing, Rival: s.service.Pulse.Rival(), Unknown: s.service.Pulse.UnknownToken(), Wait: s.service.Pulse.Wait(now)}
	f.Unpinned = s.bot.Asking.Unpinned()
	f.ShutGroups, f.ClosedGroups = s.bot.Shut.Groups(), s.outbox.Closed()
	f.UnreactedGroups, f.AnonymousGroups = s.outbox.Unreacted(), s.refused.anonymousIn(s.bot.InGroup)
	f.Refused, f.RefusedGroups = s.refused.figures(s.bot.InGroup)
	return f
}

// ofHost returns the present figures of a machine whose chat is on another one.
func ofHost(ctx context.Context, e *engine.Engine, m *member.Member, version string, began time.Time) health.Figures {
	f := ofMachine(ctx, e, version, began)
	chat := health.Machine{Name: cmp.Or(m.Admission.ChatName, m.Admission.Hub.Address)}
	chat.Copies, chat.Elsewhere = copiesIn(m.Lives())
	f.Machines = []health.Machine{chat}
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
