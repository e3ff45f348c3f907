package process

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/google/uuid"
)

// withoutEchoes takes back a yes that rests on argv alone where the same command line only shows a second time beside
// the process that it belongs to. Both cases are real and would look like a second writer that comes and goes:
//   - a child that an agent has forked and that has not become its tool yet still shows the agent's command line, which
//     may name a session that the agent itself left long ago;
//   - a launcher script hands its arguments to the agent that it starts and waits for.
func withoutEchoes(s Snapshot, agents AgentNames, verdicts []Verdict) []Verdict {
	writers := make(map[writerKey]bool, len(verdicts))
	for _, v := range verdicts {
		writers[writerKey{v.Process.PID, v.SessionID}] = v.Writer == Yes
	}
	for i, v := range verdicts {
		if v.Writer != Yes || v.Source != SourceArgv {
			continue
		}
		if why := echoes(s, agents, writers, v); why != "" {
			verdicts[i].Writer, verdicts[i].Why = No, why
		}
	}
	return verdicts
}

type writerKey struct {
	pid int
	id  uuid.UUID
}

// echoes says what the command line is an echo of, or nothing.
func echoes(s Snapshot, agents AgentNames, writers map[writerKey]bool, v Verdict) string {
	p := v.Process
	if parent, ok := s.Find(p.PPID); ok && IsAgent(parent, agents) && slices.Equal(parent.Args, p.Args) {
		return fmt.Sprintf("a fork of the agent %d that has not become its own program yet", parent.PID)
	}
	if interpreters[filepath.Base(p.Args[0])] == "" {
		return ""
	}
	for _, child := range s.Children(p.PID) {
		if writers[writerKey{child.PID, v.SessionID}] {
			return fmt.Sprintf("a launcher of the agent %d", child.PID)
		}
	}
	return ""
}
