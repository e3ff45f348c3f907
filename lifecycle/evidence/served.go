package evidence

import (
	"context"

	"ccbot/agent/witness"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// Half names the part that lives of an agent with two processes, if only one of them does.
type Half int

const (
	Whole      Half = iota // both live, or neither does, or the agent has only one process
	NoServer               // the server has ended, and the process at the terminal lives
	NoTerminal             // the process at the terminal has ended, and the server lives
)

// AgentOf returns the liveness of a bound agent. terminal is the liveness of its process at the
// terminal. An agent with two processes lives only if both do, and without one of them it has
// ended, unless the state of the other is unknown. It is pure, apart from liveness.
func AgentOf(b session.Binding, terminal process.Liveness, liveness func(process.Identity) process.Liveness) (process.Liveness, Half) {
	if !b.AgentServer.Valid() {
		return terminal, Whole
	}
	switch server := liveness(b.AgentServer); {
	case terminal == process.Gone && server == process.Alive:
		return process.Gone, NoTerminal
	case terminal == process.Alive && server == process.Gone:
		return process.Gone, NoServer
	case terminal == server:
		return terminal, Whole
	}
	return process.Unknown, Whole
}

// LacksServer reports whether a session's agent runs in two processes, and its server is not bound
// yet.
func (s *Sources) LacksServer(r session.Record) bool {
	_, served := s.Agents.Of(r.AgentName).Witness.(witness.Served)
	return served && !r.Binding.AgentServer.Valid()
}

// ServerBelow returns the server of a session's agent that runs in two processes: the only child
// of the agent's process at the terminal that is a server. A server that a tool of the agent has
// started is another one. The zero Identity means that none is seen.
func (s *Sources) ServerBelow(ctx context.Context, r session.Record) (process.Identity, error) {
	terminal := r.Agent()
	served, ok := s.Agents.Of(r.AgentName).Witness.(witness.Served)
	if !ok {
		return process.Identity{}, nil
	}
	table, err := s.Processes.Snapshot(ctx)
	if err != nil {
		return process.Identity{}, err
	}
	if p, ok := table.Find(terminal.PID); !ok || p.Identity != terminal {
		return process.Identity{}, nil
	}
	var found []process.Identity
	for _, p := range table.Children(terminal.PID) {
		if !p.Gone() && served.IsServer(p.Args) {
			found = append(found, p.Identity)
		}
	}
	if len(found) != 1 {
		return process.Identity{}, nil
	}
	return found[0], nil
}
