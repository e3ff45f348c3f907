package engine

import (
	"context"
	"slices"
	"time"

	"ccbot/internal/gauge"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
)

// States counts the sessions in each state. States without sessions are counted as 0.
func (e *Engine) States() map[session.State]int {
	counts := make(map[session.State]int)
	for _, state := range session.States() {
		counts[state] = 0
	}
	for _, r := range e.Store.Shared() {
		counts[r.State]++
	}
	return counts
}

// ended returns when the last session of a directory, or in it, ended, and whether one is open.
func (e *Engine) ended(dir string) (at time.Time, open bool) {
	for _, r := range e.Store.Shared() {
		if r.Dir != dir && r.Folder() != dir {
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
func (e *Engine) expectsChanges() bool {
	return slices.ContainsFunc(e.Store.Shared(), func(r session.Record) bool {
		return r.State.Live() && (len(r.Prompts) > 0 || view.Noted(r).Works())
	})
}

// AgentsMemory returns the memory of the live sessions' agents and their child processes, from one
// list of the processes.
func (e *Engine) AgentsMemory(ctx context.Context) uint64 {
	table, err := e.Table.Snapshot(ctx)
	if err != nil {
		return 0
	}
	var pids []int
	for _, r := range e.Store.Shared() {
		if r.State.Live() && r.Binding != nil {
			pids = append(pids, view.Tree(table, r.Binding.Agent)...)
		}
	}
	return gauge.Sum(ctx, pids...)
}

// AgentProcesses returns the agents of all records, and the tmux servers that they run in.
func (e *Engine) AgentProcesses() (all []process.Identity) {
	for _, r := range e.Store.List() {
		if b := r.Binding; b != nil {
			all = append(all, b.Agent, process.Identity{PID: b.Server.PID, Start: b.Server.Start, Boot: b.Agent.Boot})
		}
	}
	return all
}
