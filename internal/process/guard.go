package process

import "strings"

// Guard is a named reason to spare a process, whatever the evidence says. Spares must say yes when it cannot tell.
type Guard struct {
	Name   string
	Why    string // one English clause, for logs
	Spares func(Process, Snapshot) bool
}

// Names of the standard guards, which are the reasons of an [Outcome] too. For a recorded descendant of a writer, which is
// a tool and not an agent, callers leave GuardNoAgent out and prove the descent instead.
const (
	GuardIdentity = "identity" // without pid, start time and boot nothing is named
	guardPID1     = "pid1"
	guardSelf     = "self"
	GuardAncestor = "ancestor"
	GuardUser     = "other_user"
	GuardTmux     = "tmux"
	GuardNoAgent  = "not_an_agent"
)

// StandardGuards spare ourselves, every ancestor, pid 1, tmux servers and clients, other users' processes, and whatever
// is not an agent. They are pure; self must be in the snapshot they are asked about, else everything is spared.
func StandardGuards(self Identity, agents AgentNames) []Guard {
	return append(alwaysGuards(self), Guard{GuardNoAgent, "it is not an agent",
		func(p Process, _ Snapshot) bool { return !IsAgent(p, agents) }})
}

// alwaysGuards hold whoever asks: Table.End asks them itself. They need of the snapshot only ourselves and what is above.
func alwaysGuards(self Identity) []Guard {
	return []Guard{
		{GuardIdentity, "its identity is incomplete", func(p Process, _ Snapshot) bool { return !p.Identity.Valid() }},
		{guardPID1, "it is pid 1", func(p Process, _ Snapshot) bool { return p.PID <= 1 }},
		{guardSelf, "it is ccbot itself", func(p Process, _ Snapshot) bool { return p.PID == self.PID }},
		{GuardAncestor, "it is an ancestor of ccbot", func(p Process, s Snapshot) bool { return isAncestor(s, p.PID, self) }},
		{GuardUser, "it belongs to another user", func(p Process, s Snapshot) bool { return !sameUser(s, p, self) }},
		{GuardTmux, "it is a tmux server or client", func(p Process, _ Snapshot) bool { return isTmux(p) }},
	}
}

// SparedBy names the first guard that spares the process; false when none does.
func SparedBy(p Process, s Snapshot, guards []Guard) (name string, spared bool) {
	g, spared := firstThatSpares(p, s, guards)
	return g.Name, spared
}

func firstThatSpares(p Process, s Snapshot, guards []Guard) (Guard, bool) {
	for _, g := range guards {
		if g.Spares(p, s) {
			return g, true
		}
	}
	return Guard{}, false
}

// isAncestor is also true when the snapshot does not show self: then nobody's descent is known. The parent of the last one
// that is shown counts though it is hidden itself.
func isAncestor(s Snapshot, pid int, self Identity) bool {
	me, ok := s.Find(self.PID)
	if !ok || me.Identity != self || me.PPID == pid {
		return true
	}
	for _, a := range s.Ancestors(self.PID) {
		if a.PID == pid || a.PPID == pid {
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
	return program(p.Args) == "tmux"
}
