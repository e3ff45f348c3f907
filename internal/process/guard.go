package process

import (
	"path/filepath"
	"strings"
)

// Guard is a named reason to spare a process, whatever the evidence says. Spares must say yes when it cannot tell.
type Guard struct {
	Name   string
	Spares func(Process, Snapshot) bool
}

// Names of the standard guards. For a recorded descendant of a writer, which is a tool and not an agent, callers leave
// GuardNoAgent out and prove the descent instead.
const (
	GuardIdentity = "identity" // without pid, start time and boot nothing is named
	GuardPID1     = "pid1"
	GuardSelf     = "self"
	GuardAncestor = "ancestor"
	GuardUser     = "other_user"
	GuardTmux     = "tmux"
	GuardNoAgent  = "not_an_agent"
)

// StandardGuards spare ourselves, every ancestor, pid 1, tmux servers and clients, other users' processes, and whatever
// is not an agent. They are pure; self must be in the snapshot they are asked about, else everything is spared.
func StandardGuards(self Identity, agents AgentNames) []Guard {
	return []Guard{
		{GuardIdentity, func(p Process, _ Snapshot) bool { return !p.Identity.Valid() }},
		{GuardPID1, func(p Process, _ Snapshot) bool { return p.PID <= 1 }},
		{GuardSelf, func(p Process, _ Snapshot) bool { return p.PID == self.PID }},
		{GuardAncestor, func(p Process, s Snapshot) bool { return isAncestor(s, p.PID, self) }},
		{GuardUser, func(p Process, s Snapshot) bool { return !sameUser(s, p, self) }},
		{GuardTmux, func(p Process, _ Snapshot) bool { return isTmux(p) }},
		{GuardNoAgent, func(p Process, _ Snapshot) bool { return !IsAgent(p, agents) }},
	}
}

// SparedBy names the first guard that spares the process; false when none does.
func SparedBy(p Process, s Snapshot, guards []Guard) (name string, spared bool) {
	for _, g := range guards {
		if g.Spares(p, s) {
			return g.Name, true
		}
	}
	return "", false
}

// isAncestor is also true when the snapshot does not show self: then nobody's descent is known.
func isAncestor(s Snapshot, pid int, self Identity) bool {
	if me, ok := s.Find(self.PID); !ok || me.Identity != self {
		return true
	}
	for _, a := range s.Ancestors(self.PID) {
		if a.PID == pid {
			return true
		}
	}
	return false
}

func sameUser(s Snapshot, p Process, self Identity) bool {
	me, ok := s.Find(self.PID)
	return ok && me.Identity == self && me.UID == p.UID
}

// isTmux knows a server and a client by the names tmux gives itself ("tmux: server") and by argv[0].
func isTmux(p Process) bool {
	if p.Comm == "tmux" || strings.HasPrefix(p.Comm, "tmux:") {
		return true
	}
	return len(p.Args) > 0 && filepath.Base(p.Args[0]) == "tmux"
}
