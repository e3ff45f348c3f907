package process

import (
	"fmt"
	"slices"

	"github.com/google/uuid"
)

// withoutEchoes changes a Yes that is based on argv alone into No where the command line is only a
// copy of another process's. Both cases are real; without this function they would look like a
// second writer that comes and goes:
//   - a child that an agent has forked and that has not yet executed its tool still shows the
//     agent's command line, which may name a session that the agent itself left long ago;
//   - a launcher script hands its arguments to the agent that it starts and waits for.
func withoutEchoes(s Snapshot, agents AgentNames, verdicts []Verdict) []Verdict {
	// The pid of a writer, by its parent and session.
	children := make(map[writerKey]int, len(verdicts))
	for _, v := range verdicts {
		if v.Writer == Yes && v.Process.PPID != v.Process.PID {
			children[writerKey{v.Process.PPID, v.SessionID}] = v.Process.PID
		}
	}
	for i, v := range verdicts {
		if v.Writer != Yes || v.Source != SourceArgv {
			continue
		}
		if why := echoes(s, agents, children, v); why != "" {
			verdicts[i].Writer, verdicts[i].Why = No, why
		}
	}
	return verdicts
}

type writerKey struct {
	parent int
	id     uuid.UUID
}

// echoes returns the reason for which a command line is only a copy of another process's, or "".
func echoes(s Snapshot, agents AgentNames, children map[writerKey]int, v Verdict) string {
	p := v.Process
	if parent, ok := s.Find(p.PPID); ok && IsAgent(parent, agents) && slices.Equal(parent.Args, p.Args) {
		return fmt.Sprintf("a fork of the agent %d that has not become its own program yet", parent.PID)
	}
	if interpreters[program(p.Args)] == "" {
		return ""
	}
	if child, ok := children[writerKey{p.PID, v.SessionID}]; ok {
		return fmt.Sprintf("a launcher of the agent %d", child)
	}
	return ""
}
