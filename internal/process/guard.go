package process

import "strings"

// Guard is a named reason to spare a process, regardless of the evidence. Spares must return true
// when it cannot decide.
type Guard struct {
	Name   string
	Why    string // one English clause, for logs
	Spares func(Process, Snapshot) bool
}

// Names of the standard guards; they are also reasons of an [Outcome]. To end a recorded descendant
// of a writer, which is a tool and not an agent, callers omit GuardNoAgent and prove the descent
// instead.
const (
	GuardIdentity = "identity" // without pid, start time and boot no process is named
	guardPID1     = "pid1"
	guardSelf     = "self"
	GuardAncestor = "ancestor"
	GuardUser     = "other_user"
	GuardTmux     = "tmux"
	GuardNoAgent  = "not_an_agent"
)

// StandardGuards protect ourselves, every ancestor, pid 1, tmux servers and clients, other users'
// processes, and every process that is not an agent. They are pure. self must be in the snapshot
// that they get, else they spare every process.
func StandardGuards(self Identity, agents AgentNames) []Guard {
	return append(alwaysGuards(self), Guard{GuardNoAgent, "it is not an agent",
		func(p Process, _ Snapshot) bool { return !IsAgent(p, agents) }})
}

// alwaysGuards protect a process from every caller: Table.End asks them itself. Of the snapshot
// they need only ourselves and our ancestors.
func alwaysGuards(self Identity) []Guard {
	return []Guard{
		{GuardIdentity, "its identity is incomplete", func(p Process, _ Snapshot) bool { return !p.Identity.Valid() }},
		{guardPID1, "it is pid 1", func(p Process, _ Snapshot) bool { return p.PID <= 1 }},
		{guardSelf, "it is ccbot itself", func(p Process, _ Snapshot) bool { return p.PID == self.PID }},
		{GuardAncestor, "it is an ancestor of ccbot", func(p Process, s Snapshot) bool { return isAncestor(s, p.PID, self) }},
		{GuardUser, "it belongs to another user", func(p Process, s Snapshot) bool {
			me, ok := s.Find(self.PID)
			return !ok || me.Identity != self || me.UID != p.UID
		}},
		// tmux sets these names
		{GuardTmux, "it is a tmux server or client", func(p Process, _ Snapshot) bool {
			return p.Comm == "tmux" || strings.HasPrefix(p.Comm, "tmux:") || program(p.Args) == "tmux"
		}},
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

// isAncestor is also true when the snapshot does not contain self: then our descent is unknown. The
// parent of the topmost ancestor in the snapshot counts too, although that parent is hidden itself.
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
